/** What happened to an object, the latest first. */

import type { AppKey } from '../../api/applications'
import { useEvents } from '../../api/hooks'
import type { KubeEvent, TreeNode } from '../../api/types'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import css from './application.module.css'

export const eventTime = (event: KubeEvent) => event.lastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? ''

export function NodeEvents({ appKey, node }: { appKey: AppKey; node?: TreeNode }) {
  const events = useEvents(appKey, node)
  if (events.error) return <Trouble error={events.error} />
  if (!events.data) return <Loading />
  if (events.data.length === 0) return <Empty title={t.node.noEvents} />
  const sorted = [...events.data].sort((a, b) => (eventTime(a) < eventTime(b) ? 1 : -1))
  return (
    <ul className={css.events}>
      {sorted.map((event, index) => (
        <li key={event.metadata?.uid ?? index}>
          <div className="row">
            <span className={`pill tone-${event.type === 'Warning' ? 'warn' : 'none'}`}>{event.reason}</span>
            <span className="quiet cut grow">{event.source?.component ?? event.reportingComponent}</span>
            {(event.count ?? 1) > 1 && <span className="quiet">×{event.count}</span>}
            <span className="quiet"><Ago time={eventTime(event)} /></span>
          </div>
          <p>{event.message}</p>
        </li>
      ))}
    </ul>
  )
}
