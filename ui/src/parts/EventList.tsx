/** What happened, the latest first. */

import type { UseQueryResult } from '@tanstack/react-query'

import type { KubeEvent } from '../api/types'
import { t } from '../texts'
import css from './events.module.css'
import { Empty, Loading, Trouble } from './Feedback'
import { Ago } from './Time'

const timeOf = (event: KubeEvent) => event.lastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? ''

export function EventList({ query }: { query: UseQueryResult<KubeEvent[]> }) {
  if (query.error) return <Trouble error={query.error} />
  if (!query.data) return <Loading />
  if (query.data.length === 0) return <Empty title={t.node.noEvents} />
  const sorted = [...query.data].sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
  return (
    <ul className={css.events}>
      {sorted.map((event, index) => (
        <li key={event.metadata?.uid ?? index}>
          <div className="row">
            <span className={`pill tone-${event.type === 'Warning' ? 'warn' : 'none'}`}>{event.reason}</span>
            <span className="quiet cut grow">{event.source?.component ?? event.reportingComponent}</span>
            {(event.count ?? 1) > 1 && <span className="quiet">×{event.count}</span>}
            <span className="quiet"><Ago time={timeOf(event)} /></span>
          </div>
          <p>{event.message}</p>
        </li>
      ))}
    </ul>
  )
}
