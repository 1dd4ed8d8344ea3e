/** Why something is not Synced and Healthy: each line is explained by those below it. */

import { IconArrowUpRight, IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'

import type { Reason } from '../api/ours'
import type { Ref } from '../api/types'
import { t } from '../texts'
import { Ago } from './Time'
import css from './tree.module.css'

interface Props {
  reasons: Reason[]
  open?: ((ref: Ref) => void) | undefined
  /** Times of a rehearsal are on another clock, and would mislead. */
  isTimeless?: boolean
}

export function ReasonTree({ reasons, open, isTimeless = false }: Props) {
  return (
    <ul className={css.tree} role="tree" aria-label={t.reasons.title}>
      {reasons.map((reason, index) => <Branch key={index} reason={reason} open={open} level={1} isTimeless={isTimeless} />)}
    </ul>
  )
}

function Branch({ reason, open, level, isTimeless }: { reason: Reason; open?: ((ref: Ref) => void) | undefined; level: number; isTimeless: boolean }) {
  const below = reason.because ?? []
  const [isOpen, setOpen] = useState(level < 6)
  const object = reason.object
  return (
    <li role="treeitem" aria-level={level} {...(below.length > 0 && { 'aria-expanded': isOpen })}>
      <div className={css.line}>
        {below.length > 0 ? (
          <button type="button" className={css.fold} onClick={() => setOpen(!isOpen)} aria-label={isOpen ? t.common.fold : t.common.unfold}>
            {isOpen ? <IconChevronDown size={13} /> : <IconChevronRight size={13} />}
          </button>
        ) : (
          <span className={css.leaf} aria-hidden />
        )}
        <span className={css.text}>
          {reason.text}
          {object && open && <button type="button" className={`link ${css.jump}`} title={t.reasons.open(object.kind, object.name)} aria-label={t.reasons.open(object.kind, object.name)} onClick={() => open(object)}><IconArrowUpRight size={14} aria-hidden /></button>}
        </span>
        <span className={css.code} title={t.reasonCodes[reason.code] ?? reason.code}>{reason.code}</span>
        {reason.since && !isTimeless && <span className="quiet"><Ago time={reason.since} /></span>}
      </div>
      {isOpen && below.length > 0 && (
        <ul role="group" className={css.below}>
          {below.map((next, index) => <Branch key={index} reason={next} open={open} level={level + 1} isTimeless={isTimeless} />)}
        </ul>
      )}
    </li>
  )
}
