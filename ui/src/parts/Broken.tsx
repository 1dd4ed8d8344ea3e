/** Shown in place of a view that failed; most often because the server was updated and the page is an older one. */

import { Button } from '@mantine/core'
import { useRouteError } from 'react-router'

import { t } from '../texts'
import { Empty, messageOf } from './Feedback'

export function Broken() {
  const error = useRouteError()
  return (
    <main style={{ height: '100%', display: 'grid', placeItems: 'center' }}>
      <Empty title={t.common.broken}>
        <p>{messageOf(error)}</p>
        <Button mt="md" onClick={() => window.location.reload()}>{t.common.reload}</Button>
      </Empty>
    </main>
  )
}
