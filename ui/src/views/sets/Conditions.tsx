/** What the set says of itself, in words, with since when. */

import { IconAlertTriangleFilled, IconCircleCheckFilled, IconCircleXFilled, IconHelpCircle, IconLoader2 } from '@tabler/icons-react'

import type { ApplicationSet, SetCondition } from '../../api/types'
import { toneOf } from '../../model/sets'
import { fullTime } from '../../model/time'
import { Empty } from '../../parts/Feedback'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import css from './set.module.css'

const SHAPE = { good: IconCircleCheckFilled, bad: IconCircleXFilled, warn: IconAlertTriangleFilled, busy: IconLoader2, calm: IconHelpCircle, none: IconHelpCircle }

export function Conditions({ set }: { set: ApplicationSet }) {
  const conditions = set.status?.conditions ?? []
  if (conditions.length === 0) return <Empty title={t.node.noManifest} />
  return <ul className={`card ${css.conditions}`}>{conditions.map((one) => <Condition key={one.type} condition={one} />)}</ul>
}

function Condition({ condition }: { condition: SetCondition }) {
  const tone = toneOf(condition)
  const Shape = SHAPE[tone]
  return (
    <li>
      <span className={`row tone-${tone}`} aria-hidden><Shape size={16} className={tone === 'busy' ? 'spin' : ''} /></span>
      <div className="grow">
        <div className="row wrap">
          <strong>{s.condition(condition.type, condition.status)}</strong>
          <span className="soft">{s.reasons[condition.reason ?? ''] ?? condition.reason}</span>
          <div className="grow" />
          {condition.lastTransitionTime && <span className="quiet">{s.since} <Ago time={condition.lastTransitionTime} /> · {fullTime(condition.lastTransitionTime)}</span>}
        </div>
        <p>{condition.message}</p>
        <div className="quiet mono">{condition.type}={condition.status} {condition.reason}</div>
      </div>
    </li>
  )
}
