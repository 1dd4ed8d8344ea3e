/** The resources as a table that can be folded like the graph. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'

import type { Plant } from '../../model/forest'
import { Kind } from '../../parts/Kind'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import type { ViewProps } from './Body'
import css from './list.module.css'

interface Row {
  plant: Plant
  depth: number
}

function rowsOf(plants: Plant[], found: Set<string> | undefined, depth = 0): Row[] {
  return plants.flatMap((plant) => {
    const below = rowsOf(plant.children, found, depth + 1)
    const isShown = !found || found.has(plant.id) || below.length > 0
    return isShown ? [{ plant, depth }, ...below] : []
  })
}

export function ResourceList({ roots, found, open, words }: ViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useMemo(() => rowsOf(roots, found), [roots, found])
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => 34, overscan: 15 })
  const selected = words.get('node')
  return (
    <div ref={box} className={css.scroll} role="table" aria-label={t.app.views.list} aria-rowcount={rows.length} tabIndex={0}>
      <div className={css.head} role="row">
        {[t.columns.resource, t.columns.health, t.columns.sync, t.columns.namespace, t.columns.wave, t.columns.age].map((name) => <div key={name} role="columnheader">{name}</div>)}
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index]
          if (!row) return null
          const { node, status } = row.plant
          return (
            <div key={row.plant.id} role="row" className={css.row} data-selected={selected === row.plant.id || undefined} style={{ transform: `translateY(${item.start}px)` }}>
              <div role="cell" className="row" style={{ paddingLeft: row.depth * 20 }}>
                <Kind kind={node.kind} />
                <button type="button" className={`cut ${css.name}`} onClick={() => open(row.plant.id)}><span className="quiet">{node.kind}</span> {node.name}</button>
              </div>
              <div role="cell">{node.health?.status ? <HealthMark status={node.health.status} /> : <span className="quiet">–</span>}</div>
              <div role="cell">{status?.status ? <SyncMark status={status.status} /> : <span className="quiet">–</span>}</div>
              <div role="cell" className="cut soft">{node.namespace}</div>
              <div role="cell" className="soft">{status?.syncWave ?? ''}</div>
              <div role="cell" className="quiet"><Ago time={node.createdAt} /></div>
            </div>
          )
        })}
      </div>
    </div>
  )
}
