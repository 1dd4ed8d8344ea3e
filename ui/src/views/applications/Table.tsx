/** Applications as a table, of which only the rows that are seen are drawn. */

import { Checkbox } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useMemo, useRef } from 'react'
import { Link } from 'react-router'

import type { Root } from '../../api/ours'
import type { Application } from '../../api/types'
import type { Order } from '../../model/filter'
import { keyOf } from '../../model/live'
import { clusterOf, repositoryName, revisionOf, shortRevision, sourcesOf, sourceText } from '../../model/source'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import css from './applications.module.css'
import { appPath, useMoving } from './useMoving'

interface Props {
  apps: Application[]
  order: Order
  isReversed: boolean
  set: (change: Record<string, string | undefined>) => void
  roots: Map<string, Root[]>
  chosen: Set<string>
  choose: (chosen: Set<string>) => void
}

const COLUMNS: { id: keyof typeof t.columns; order?: Order }[] = [
  { id: 'name', order: 'name' }, { id: 'health', order: 'status' }, { id: 'sync' }, { id: 'project', order: 'project' },
  { id: 'source' }, { id: 'revision' }, { id: 'destination' }, { id: 'synced', order: 'synced' },
]

export function Table({ apps, order, isReversed, set, roots, chosen, choose }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({ count: apps.length, getScrollElement: () => box.current, estimateSize: () => 38, overscan: 12 })
  const latest = useRef(chosen)
  latest.current = chosen
  const toggle = useCallback((key: string) => {
    const next = new Set(latest.current)
    if (!next.delete(key)) next.add(key)
    choose(next)
  }, [choose])
  const at = useMoving(apps, appPath, (index) => rows.scrollToIndex(index), 1, (app) => toggle(keyOf(app)))
  const count = useMemo(() => (chosen.size === 0 ? 0 : apps.filter((app) => chosen.has(keyOf(app))).length), [apps, chosen])
  const sort = (next: Order) => set({ sort: next, reverse: next === order && !isReversed ? 'true' : undefined })
  return (
    <div ref={box} className={css.scroll} role="table" aria-label={t.apps.title} aria-rowcount={apps.length} tabIndex={0}>
      <div className={css.tableHead} role="row">
        <div role="columnheader"><Checkbox aria-label={t.many.chooseAll} checked={count > 0 && count === apps.length} indeterminate={count > 0 && count < apps.length} onChange={() => choose(count === apps.length ? new Set() : new Set(apps.map(keyOf)))} /></div>
        {COLUMNS.map(({ id, order: by }) => (
          <div key={id} role="columnheader" aria-sort={by === order ? (isReversed ? 'descending' : 'ascending') : undefined}>
            {by ? (
              <button type="button" className={css.sort} onClick={() => sort(by)}>
                {t.columns[id]} {by === order && (isReversed ? <IconArrowUp size={12} aria-hidden /> : <IconArrowDown size={12} aria-hidden />)}
              </button>
            ) : t.columns[id]}
          </div>
        ))}
      </div>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="rowgroup">
        {rows.getVirtualItems().map((row) => {
          const app = apps[row.index]
          return app && <Row key={keyOf(app)} app={app} root={roots.get(keyOf(app))?.[0]} top={row.start} isAt={row.index === at} index={row.index} isChosen={chosen.has(keyOf(app))} toggle={toggle} />
        })}
      </div>
    </div>
  )
}

interface RowProps {
  app: Application
  root: Root | undefined
  top: number
  isAt: boolean
  index: number
  isChosen: boolean
  toggle: (key: string) => void
}

const Row = memo(function Row({ app, root, top, isAt, index, isChosen, toggle }: RowProps) {
  const [source] = sourcesOf(app.spec)
  return (
    <div className={css.tableRow} role="row" aria-rowindex={index + 1} data-at={isAt || undefined} data-chosen={isChosen || undefined} style={{ transform: `translateY(${top}px)` }}>
      <div role="cell" className={css.check}><Checkbox aria-label={t.many.choose(app.metadata.name)} checked={isChosen} onChange={() => toggle(keyOf(app))} /></div>
      <div role="cell" className="cut">
        <Link to={appPath(app)} className={css.rowLink} title={root?.finding.cause ?? app.metadata.name}>{app.metadata.name}</Link>
      </div>
      <div role="cell"><HealthMark status={app.status?.health?.status} /></div>
      <div role="cell"><SyncMark status={app.status?.sync?.status} /></div>
      <div role="cell" className="cut soft">{app.spec.project}</div>
      <div role="cell" className="cut soft" title={source?.repoURL}>{repositoryName(source?.repoURL ?? '')} · {sourceText(source)}</div>
      <div role="cell" className="mono soft cut">{shortRevision(revisionOf(app))}</div>
      <div role="cell" className="cut soft">{clusterOf(app.spec.destination)} / {app.spec.destination.namespace}</div>
      <div role="cell" className="quiet"><Ago time={app.status?.operationState?.finishedAt} /></div>
    </div>
  )
})
