import { Link } from 'react-router'

import { t } from '../texts'
import { Empty } from './Feedback'

export function NotThere() {
  return (
    <Empty title={t.common.noPage}>
      <Link className="link" to="/applications">{t.nav.applications}</Link>
    </Empty>
  )
}
