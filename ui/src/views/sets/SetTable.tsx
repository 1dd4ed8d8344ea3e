/** ApplicationSets as a table, of which only the rows that are seen are drawn. */

import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useRef } from 'react'
import { Link } from 'react-router'

import type { Application, ApplicationSet } from '../../api/types'
import { generatorWords } from '../../model/generators'
import { keyOf } from '../../model/live'
import { setPath } from '../../model/owner'
import { heldOf, keyOfSet, projectOf, setHealth, sizeOf, troublesOf, type SetOrder } from '../../model/sets'
import { HealthMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { s } from '../../texts.sets'
import { useMoving } from '../applications/useMoving'
import { AppCounts } from './AppCounts'
import css from './sets.module.css'

interface Props {
  sets: ApplicationSet[]
  own: Map<string, Application[]>
  order: SetOrder
  isReversed: boolean
  set: (change: Record<string, string | undefined>) => void
}

const COLUMNS: { id: keyof typeof s.columns; order?: SetOrder }[] = [
  { id: 'name', order: 'name' }, { id: 'health', order: 'status' }, { id: 'generators' }, { id: 'applications', order: 'applications' }, { id: 'project', order: 'project' }, { id: 'age', order: 'created' },
]

const NONE: Application[] = []

export function SetTable({ sets, own, order, isReversed, set }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({ count: sets.length, getScrollElement: () => box.current, estimateSize: () => 58, overscan: 10 })
  const at = useMoving(sets, (one) => setPath(keyOfSet(one)), (index) => rows.scrollToIndex(index))
  const sort = (next: SetOrder) => set({ sort: next, reverse: next === order && !isReversed ? 'true' : undefined })
  return (
    <div ref={box} className={css.scroll} role="table" aria-label={s.title} aria-rowcount={sets.length} tabIndex={0}>
      <div className={css.head} role="row">
        {COLUMNS.map(({ id, order: by }) => (
          <div key={id} role="columnheader" aria-sort={by === order ? (isReversed ? 'descending' : 'ascending') : undefined}>
            {by ? (
              <button type="button" className={css.sort} onClick={() => sort(by)}>
                {s.columns[id]} {by === order && (isReversed ? <IconArrowUp size={12} aria-hidden /> : <IconArrowDown size={12} aria-hidden />)}
              </button>
            ) : s.columns[id]}
          </div>
        ))}
      </div>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="rowgroup">
        {rows.getVirtualItems().map((row) => {
          const one = sets[row.index]
          return one && <Row key={keyOf(one)} set={one} own={own.get(keyOf(one)) ?? NONE} top={row.start} isAt={row.index === at} index={row.index} />
        })}
      </div>
    </div>
  )
}

const Row = memo(function Row({ set, own, top, isAt, index }: { set: ApplicationSet; own: Application[]; top: number; isAt: boolean; index: number }) {
  const [trouble] = troublesOf(set)
  const held = heldOf(set)
  const generators = (set.spec.generators ?? []).map(generatorWords)
  return (
    <div className={css.row} role="row" aria-rowindex={index + 1} data-at={isAt || undefined} style={{ transform: `translateY(${top}px)` }}>
      <div role="cell">
        <div className="row">
          <Link to={setPath(keyOfSet(set))} className={`cut ${css.name}`} title={set.metadata.name}>{set.metadata.name}</Link>
          {set.metadata.deletionTimestamp && <span className="pill tone-bad">{s.deleting}</span>}
          {set.spec.strategy?.type === 'RollingSync' && <span className="pill">{s.rolling}</span>}
        </div>
        <div className={`cut ${css.second}`} {...(trouble ? { 'data-tone': 'bad', title: trouble.text } : held && { 'data-tone': 'warn', title: held.text })}>
          {trouble ? trouble.text : held ? s.held.title(held.count, held.of) : set.metadata.namespace}
        </div>
      </div>
      <div role="cell"><HealthMark status={setHealth(set)} /></div>
      <div role="cell" className={css.generators}>
        {generators.slice(0, 2).map((one, at) => <div key={at} className="cut" title={one.about}><span className="pill">{[one.sort, ...one.inner.map((inner) => inner.sort)].join(' · ')}</span> <span className="quiet">{one.about}</span></div>)}
        {generators.length > 2 && <div className="quiet">{s.plan.more(generators.length - 2)}</div>}
      </div>
      <div role="cell"><AppCounts apps={own} size={sizeOf(set, own)} /></div>
      <div role="cell" className="cut soft" title={projectOf(set)}>{projectOf(set)}</div>
      <div role="cell" className="quiet"><Ago time={set.metadata.creationTimestamp} /></div>
    </div>
  )
})
