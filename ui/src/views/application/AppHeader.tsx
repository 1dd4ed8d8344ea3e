/** The head of an application: its name, its state, its last sync, and what can be done. */

import { ActionIcon, Button, Menu, Tooltip } from '@mantine/core'
import { IconAdjustments, IconChevronRight, IconCode, IconDots, IconHistory, IconPlayerTrackNext, IconRefresh, IconRotateClockwise, IconStack2, IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'

import { getApplication, type AppKey } from '../../api/applications'
import { useLinks, useRevision } from '../../api/hooks'
import type { Application } from '../../api/types'
import { commitLink, linkAnnotation } from '../../model/links'
import { ownerSet, setPath } from '../../model/owner'
import { isAutomated, revisionOf, shortRevision, sourcesOf } from '../../model/source'
import { between } from '../../model/time'
import { Anchor } from '../../parts/Anchor'
import { tellTrouble } from '../../parts/Feedback'
import { HealthMark, PhaseMark, SyncMark } from '../../parts/Status'
import { Ago, useNow } from '../../parts/Time'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import css from './application.module.css'

interface Props {
  app: Application
  appKey: AppKey
}

export function AppHeader({ app, appKey }: Props) {
  const set = ownerSet(app)
  return (
    <header className={css.head}>
      <div className="row wrap">
        <nav className="row" aria-label={t.app.where}>
          <Link to="/applications" className="quiet">{t.apps.title}</Link>
          <IconChevronRight size={13} aria-hidden className="quiet" />
          <h1>{app.metadata.name}</h1>
        </nav>
        {set && <Link className="pill tone-accent" to={setPath(set)} title={t.app.ofSetTitle(set.name)} aria-label={t.app.ofSetTitle(set.name)}><IconStack2 size={12} aria-hidden /> {t.app.ofSet(set.name)}</Link>}
        {app.metadata.deletionTimestamp && <span className="pill tone-bad">{t.apps.deleting}</span>}
        <div className="grow" />
        <Doing app={app} appKey={appKey} />
      </div>
      <div className={css.facts}>
        <HealthFact app={app} />
        <SyncFact app={app} appKey={appKey} />
        <LastSync app={app} />
        <Links app={app} appKey={appKey} />
      </div>
    </header>
  )
}

function Doing({ app, appKey }: Props) {
  const words = useWords()
  const client = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  const open = (panel: string) => words.set({ panel, node: undefined, tab: undefined, edit: undefined }, true)
  const refresh = (how: 'normal' | 'hard') => {
    setBusy(true)
    getApplication(appKey, how)
      .then((fresh) => {
        client.setQueryData(['application', appKey.namespace, appKey.name], fresh)
        void client.invalidateQueries({ queryKey: ['managed', appKey.namespace, appKey.name] })
      })
      .catch(tellTrouble)
      .finally(() => setBusy(false))
  }
  return (
    <div className="row">
      <Button onClick={() => open('sync')} leftSection={<IconRotateClockwise size={14} />} disabled={!!app.metadata.deletionTimestamp}>{t.app.sync}</Button>
      <Button variant="default" loading={isBusy} onClick={() => refresh('normal')} leftSection={<IconRefresh size={14} />}>{t.app.refresh}</Button>
      <Button className={css.wide} variant="default" onClick={() => open('history')} leftSection={<IconHistory size={14} />}>{t.app.history}</Button>
      <Button className={css.wide} variant="default" onClick={() => open('parameters')} leftSection={<IconAdjustments size={14} />}>{t.app.parameters}</Button>
      <Menu>
        <Menu.Target><ActionIcon variant="default" size={30} aria-label={t.app.more}><IconDots size={16} /></ActionIcon></Menu.Target>
        <Menu.Dropdown>
          <Menu.Item className={css.narrow} leftSection={<IconHistory size={14} />} onClick={() => open('history')}>{t.app.history}</Menu.Item>
          <Menu.Item className={css.narrow} leftSection={<IconAdjustments size={14} />} onClick={() => open('parameters')}>{t.app.parameters}</Menu.Item>
          <Menu.Item leftSection={<IconCode size={14} />} onClick={() => open('spec')}>{t.edit.asYaml}</Menu.Item>
          <Menu.Item leftSection={<IconRefresh size={14} />} onClick={() => refresh('hard')}>{t.app.hardRefresh}</Menu.Item>
          <Menu.Item leftSection={<IconPlayerTrackNext size={14} />} component={Link} to={`/rehearsal?repo=${encodeURIComponent(sourcesOf(app.spec)[0]?.repoURL ?? '')}&open=${encodeURIComponent(appKey.name)}&run=true`}>{t.app.rehearse}</Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => open('delete')}>{t.app.delete}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}

function HealthFact({ app }: { app: Application }) {
  return (
    <div className={css.fact}>
      <div className={css.factName}>{t.columns.health}</div>
      <div className={css.factMain}><HealthMark status={app.status?.health?.status} size={17} /></div>
      <div className="quiet cut">{app.status?.health?.message || (app.status?.health?.lastTransitionTime && <>{t.app.since} <Ago time={app.status.health.lastTransitionTime} /></>)}</div>
    </div>
  )
}

function SyncFact({ app, appKey }: Props) {
  const revision = revisionOf(app)
  const commit = useRevision(appKey, revision, !!revision && !sourcesOf(app.spec)[0]?.chart)
  const [source] = sourcesOf(app.spec)
  const subject = commit.data?.message?.split('\n')[0]
  return (
    <div className={css.fact}>
      <div className={css.factName}>{t.columns.sync}</div>
      <div className={css.factMain}>
        <SyncMark status={app.status?.sync?.status} size={17} />
        <span className="quiet">{t.app.to}</span>
        <span className="mono"><Anchor url={commitLink(source?.repoURL ?? '', revision ?? '')}>{shortRevision(revision) || source?.targetRevision || 'HEAD'}</Anchor></span>
        <span className="pill">{isAutomated(app) ? t.app.automatic : t.app.manual}</span>
      </div>
      <div className="quiet cut" title={[commit.data?.author, commit.data?.message].filter(Boolean).join('\n')}>
        {subject ? <>{subject} · {commit.data?.author?.replace(/<.*/, '').trim()} <Ago time={commit.data?.date} /></> : (source?.repoURL ?? '')}
      </div>
    </div>
  )
}

function LastSync({ app }: { app: Application }) {
  const now = useNow()
  const words = useWords()
  const state = app.status?.operationState
  if (!state) return <div className={css.fact}><div className={css.factName}>{t.app.lastSync}</div><div className={css.factMain}><span className="quiet">{t.app.neverSynced}</span></div></div>
  const isRunning = state.phase === 'Running' || state.phase === 'Terminating'
  return (
    <div className={css.fact}>
      <div className={css.factName}>{isRunning ? t.app.running : t.app.lastSync}</div>
      <div className={css.factMain}>
        <PhaseMark status={state.phase} size={17} />
        <span className="quiet">{isRunning ? t.app.runningFor(between(state.startedAt, undefined, now)) : <><Ago time={state.finishedAt} /> {t.common.ago}</>}</span>
        <button type="button" className="link" onClick={() => words.set({ panel: 'operation', node: undefined }, true)}>{t.app.operation}</button>
      </div>
      <Tooltip label={state.message ?? ''} multiline maw={480} disabled={!state.message}>
        <div className="quiet cut">{state.message}</div>
      </Tooltip>
    </div>
  )
}

function Links({ app, appKey }: Props) {
  const links = useLinks(appKey)
  const annotated = Object.entries(app.metadata.annotations ?? {}).map(([name, value]) => linkAnnotation(name, value)).filter((one) => one !== undefined)
  const outside = (app.status?.summary?.externalURLs ?? []).map((url) => ({ title: url.replace(/^https?:\/\//, ''), url }))
  const byUrl = new Map([...annotated, ...outside, ...(links.data ?? [])].map((one) => [one.url, one]))
  const all = [...byUrl.values()].slice(0, 6)
  if (all.length === 0) return null
  return (
    <div className={css.fact}>
      <div className={css.factName}>{t.app.links}</div>
      <div className={`row wrap ${css.links}`}>{all.map((one) => <Anchor key={one.title + one.url} url={one.url}>{one.title}</Anchor>)}</div>
    </div>
  )
}
