/** What a code means, in the doctor's own words. */

import { Modal } from '@mantine/core'

import { useCode } from '../../api/hooks'
import { Loading, Trouble } from '../../parts/Feedback'
import { Markdown } from '../../parts/Markdown'
import { t } from '../../texts'

export function CodeDialog({ code, close }: { code: string | undefined; close: () => void }) {
  const text = useCode(code)
  return (
    <Modal opened={!!code} onClose={close} size="lg" title={<strong><span className="mono">{code}</span> {text.data?.title}</strong>} closeButtonProps={{ 'aria-label': t.common.close }}>
      {text.error ? <Trouble error={text.error} /> : text.data ? <Markdown text={text.data.text} /> : <Loading />}
    </Modal>
  )
}
