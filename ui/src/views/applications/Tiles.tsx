/** Applications as tiles. Only the rows that are seen are drawn. */

import { IconGitBranch, IconServer2 } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'react-router'

import type { Root } from '../../api/ours'
import type { Application } from '../../api/types'
import { keyOf } from '../../model/live'
import { clusterOf, isAutomated, repositoryName, revisionOf, shortRevision, sourcesOf, sourceText } from '../../model/source'
import { healthTone, healthWord } from '../../model/status'
import { HealthMark, PhaseMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import css from './applications.module.css'
import { appPath, useMoving } from './useMoving'

const HEIGHT = 134
const NARROWEST = 310

export function Tiles({ apps, roots }: { apps: Application[]; roots: Map<string, Root[]> }) {
  const box = useRef<HTMLDivElement>(null)
  const [columns, setColumns] = useState(() => Math.max(1, Math.floor((window.innerWidth - 260) / NARROWEST)))
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setColumns(Math.max(1, Math.floor(((entry?.contentRect.width ?? NARROWEST) + 12) / (NARROWEST + 12)))))
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const rows = useVirtualizer({ count: Math.ceil(apps.length / columns), getScrollElement: () => box.current, estimateSize: () => HEIGHT + 12, overscan: 4, paddingStart: 16, paddingEnd: 16 })
  const at = useMoving(apps, appPath, (index) => rows.scrollToIndex(Math.floor(index / columns)), columns)
  useEffect(() => rows.measure(), [rows, columns])
  return (
    <div ref={box} className={css.scroll} tabIndex={0} role="region" aria-label={t.apps.title}>
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map((row) => (
          <div key={row.key} className={css.tileRow} style={{ transform: `translateY(${row.start}px)`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, height: HEIGHT }}>
            {apps.slice(row.index * columns, (row.index + 1) * columns).map((app, index) => (
              <Tile key={keyOf(app)} app={app} root={roots.get(keyOf(app))?.[0]} isAt={row.index * columns + index === at} />
            ))}
          </div>
        ))}
      </div>
    </div>
  )
}

const Tile = memo(function Tile({ app, root, isAt }: { app: Application; root: Root | undefined; isAt: boolean }) {
  const [source] = sourcesOf(app.spec)
  const state = app.status?.operationState
  const isRunning = state?.phase === 'Running' || app.operation !== undefined
  return (
    <Link to={appPath(app)} className={css.tile} data-tone={healthTone(healthWord(app.status?.health?.status))} data-at={isAt || undefined}>
      <div className="row">
        <strong className="cut grow" title={app.metadata.name}>{app.metadata.name}</strong>
        <span className="quiet cut" title={t.facets.project}>{app.spec.project}</span>
      </div>
      <div className={`row ${css.marks}`}>
        <HealthMark status={app.status?.health?.status} />
        <SyncMark status={app.status?.sync?.status} />
        {isRunning && <PhaseMark status="Running" />}
        {app.metadata.deletionTimestamp && <span className="pill tone-bad">{t.apps.deleting}</span>}
      </div>
      <div className={`quiet ${css.lines}`}>
        <div className="row"><IconGitBranch size={13} aria-hidden /><span className="cut">{repositoryName(source?.repoURL ?? '')} · {sourceText(source)}</span><span className="mono">{shortRevision(revisionOf(app))}</span></div>
        <div className="row"><IconServer2 size={13} aria-hidden /><span className="cut grow">{clusterOf(app.spec.destination)} / {app.spec.destination.namespace}</span><Ago time={state?.finishedAt ?? app.metadata.creationTimestamp} /></div>
      </div>
      {root ? <div className={`cut ${css.because}`} title={root.finding.cause}>{root.finding.cause}</div> : <Labels app={app} />}
    </Link>
  )
})

function Labels({ app }: { app: Application }) {
  const shown = Object.entries(app.metadata.labels ?? {}).slice(0, 3)
  return (
    <div className={`row ${css.labels}`}>
      <span className="pill">{isAutomated(app) ? t.app.automatic : t.app.manual}</span>
      {shown.map(([name, value]) => <span key={name} className="pill cut">{name}={value}</span>)}
    </div>
  )
}
