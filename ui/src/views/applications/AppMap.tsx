/** All applications at once: one square each, grouped, with health as colour and shape and a corner for what is out of sync. */

import { SegmentedControl } from '@mantine/core'
import { memo, useMemo } from 'react'
import { Link } from 'react-router'

import type { Application } from '../../api/types'
import { valuesOf, type Facet } from '../../model/filter'
import { keyOf } from '../../model/live'
import { HEALTH, healthTone, healthWord, rank, type HealthWord } from '../../model/status'
import { t } from '../../texts'
import css from './map.module.css'
import { appPath } from './useMoving'

const BY: Facet[] = ['project', 'cluster', 'namespace', 'health', 'sync']

/** A sign in each square, so that colour is not needed to tell one from another. */
const SIGN: Record<HealthWord, string> = { Healthy: '', Degraded: '×', Progressing: '•', Missing: '○', Suspended: '‖', Unknown: '?' }

interface Props {
  apps: Application[]
  by: string
  set: (change: Record<string, string | undefined>) => void
}

export function AppMap({ apps, by, set }: Props) {
  const facet = BY.find((one) => one === by) ?? 'project'
  const groups = useMemo(() => grouped(apps, facet), [apps, facet])
  return (
    <div className={css.page}>
      <div className={`row wrap ${css.bar}`}>
        <span className="quiet">{t.map.by}</span>
        <SegmentedControl aria-label={t.map.by} value={facet} data={BY.map((value) => ({ value, label: t.facets[value] }))} onChange={(value) => set({ by: value === 'project' ? undefined : value })} />
        <div className="grow" />
        <Legend />
      </div>
      <div className={css.groups}>
        {groups.map(([name, members]) => (
          <section key={name} className={css.group} style={{ flexBasis: `${Math.max(150, Math.sqrt(members.length) * 34)}px` }}>
            <h2 className="row"><span className="cut">{name === '' ? t.facets.nothing : name}</span><span className="quiet">{members.length}</span></h2>
            <div className={css.squares}>{members.map((app) => <Square key={keyOf(app)} app={app} />)}</div>
          </section>
        ))}
      </div>
    </div>
  )
}

function grouped(apps: Application[], facet: Facet): [string, Application[]][] {
  const groups = new Map<string, Application[]>()
  for (const app of apps) {
    const name = valuesOf(app, facet)[0] ?? ''
    const some = groups.get(name)
    if (some) some.push(app)
    else groups.set(name, [app])
  }
  const worst = (app: Application) => rank(app.status?.health?.status, app.status?.sync?.status)
  for (const some of groups.values()) some.sort((a, b) => worst(a) - worst(b) || (a.metadata.name < b.metadata.name ? -1 : 1))
  return [...groups].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
}

const Square = memo(function Square({ app }: { app: Application }) {
  const health = healthWord(app.status?.health?.status)
  const sync = app.status?.sync?.status ?? 'Unknown'
  const label = `${app.metadata.name}: ${t.health[health]}, ${sync}`
  return <Link to={appPath(app)} className={css.square} data-tone={healthTone(health)} data-out={sync !== 'Synced' || undefined} aria-label={label} title={label}>{SIGN[health]}</Link>
})

function Legend() {
  return (
    <div className={`row wrap ${css.legend}`} aria-hidden>
      {[...HEALTH].reverse().map((word) => (
        <span key={word} className="row"><span className={css.square} data-tone={healthTone(word)}>{SIGN[word]}</span>{t.health[word]}</span>
      ))}
      <span className="row"><span className={css.square} data-tone="good" data-out />{t.sync.OutOfSync}</span>
    </div>
  )
}
