/** One ApplicationSet: how it is, its applications and steps, what it would do now, and what it is made of. */

import { Tabs } from '@mantine/core'
import { lazy, Suspense, useMemo } from 'react'
import { Navigate, useParams } from 'react-router'

import { ApiError } from '../../api/client'
import { useApplications } from '../../api/hooks'
import { useSet, useSetEvents, useSets } from '../../api/setHooks'
import type { ApplicationSet } from '../../api/types'
import { keyOf } from '../../model/live'
import { setPath, type SetKey } from '../../model/owner'
import { setManifestOf } from '../../model/setDraft'
import { bySet, keyOfSet, membersOf, toneOf, type Member } from '../../model/sets'
import { rollingSteps } from '../../model/steps'
import { EventList } from '../../parts/EventList'
import { Loading, Trouble } from '../../parts/Feedback'
import { Head } from '../../parts/Toolbar'
import { useKeys } from '../../parts/useKeys'
import { useWords, type Words } from '../../parts/useWords'
import { s } from '../../texts.sets'
import { Conditions } from './Conditions'
import { Members } from './Members'
import css from './set.module.css'
import { SetHeader } from './SetHeader'
import { SetNotices } from './SetNotices'
import { SetSpec } from './SetSpec'
import { Steps } from './Steps'

const Preview = lazy(async () => ({ default: (await import('./Preview')).Preview }))
const SetPanels = lazy(async () => ({ default: (await import('./SetPanels')).SetPanels }))

export function SetView() {
  const { namespace = '', name = '' } = useParams()
  const key = useMemo(() => ({ namespace, name }), [namespace, name])
  const query = useSet(key)
  const isGone = query.error instanceof ApiError && query.error.isMissing
  if (query.error && (!query.data || isGone)) {
    return (
      <>
        <Head title={name} />
        <Trouble error={query.error} {...(query.data && { what: s.gone })} again={() => void query.refetch()} />
      </>
    )
  }
  if (!query.data) return <Loading />
  return <Shown key={`${namespace}/${name}`} set={query.data} setKey={key} />
}

/** The short address, without a namespace. */
export function SetByName() {
  const { name = '' } = useParams()
  const { data, error, refetch } = useSets()
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />
  if (!data) return <Loading />
  const found = data.find((set) => set.metadata.name === name)
  return <Navigate to={setPath(found ? keyOfSet(found) : { namespace: 'argocd', name })} replace />
}

type View = keyof typeof s.views

function Shown({ set, setKey }: { set: ApplicationSet; setKey: SetKey }) {
  const words = useWords()
  const apps = useApplications()
  const own = useMemo(() => bySet(apps.items ?? []).get(keyOf(set)) ?? [], [apps.items, set])
  const members = useMemo(() => membersOf(set, own), [set, own])
  const hasSteps = rollingSteps(set).length > 0
  const views: View[] = ['applications', ...(hasSteps ? ['steps' as const] : []), 'preview', 'spec', 'conditions', 'events']
  const view = views.find((one) => one === words.get('view')) ?? 'applications'
  const show = (next: View) => words.set({ view: next === 'applications' ? undefined : next })
  const close = () => words.set({ panel: undefined })
  useKeys({
    Escape: close,
    v: () => show(views[(views.indexOf(view) + 1) % views.length] ?? 'applications'),
  })
  const bad = (set.status?.conditions ?? []).filter((one) => ['bad', 'warn'].includes(toneOf(one))).length
  return (
    <div className={css.page}>
      <SetHeader set={set} own={own} open={(panel) => words.set({ panel }, true)} preview={() => show('preview')} />
      <SetNotices set={set} open={(panel) => words.set({ panel }, true)} />
      <Tabs value={view} onChange={(value) => show((value ?? 'applications') as View)} className={css.tabs} keepMounted={false}>
        <Tabs.List>
          {views.map((one) => <Tabs.Tab key={one} value={one}>{s.views[one]}{one === 'conditions' && bad > 0 && <span className={`pill tone-bad ${css.badge}`}>{bad}</span>}</Tabs.Tab>)}
        </Tabs.List>
        <Suspense fallback={<Loading />}>{views.map((one) => <Tabs.Panel key={one} value={one}><Body view={one} set={set} setKey={setKey} members={members} words={words} /></Tabs.Panel>)}</Suspense>
      </Tabs>
      {words.get('panel') && <Suspense fallback={null}><SetPanels panel={words.get('panel') ?? ''} set={set} setKey={setKey} members={members} close={close} /></Suspense>}
    </div>
  )
}

interface BodyProps {
  view: View
  set: ApplicationSet
  setKey: SetKey
  members: Member[]
  words: Words
}

function Body({ view, set, setKey, members, words }: BodyProps) {
  switch (view) {
    case 'applications':
      return <Members set={set} members={members} words={words} />
    case 'steps':
      return <div className={css.body}><Steps set={set} members={members} /></div>
    case 'preview':
      return <div className={css.body}><Preview namespace={setKey.namespace} manifest={setManifestOf(set)} /></div>
    case 'spec':
      return <div className={css.body}><SetSpec set={set} /></div>
    case 'conditions':
      return <div className={css.body}><Conditions set={set} /></div>
    case 'events':
      return <Events setKey={setKey} />
  }
}

function Events({ setKey }: { setKey: SetKey }) {
  return <EventList query={useSetEvents(setKey)} />
}
