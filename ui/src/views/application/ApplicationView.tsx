/** One application: how it is and why, what it consists of, and what can be done with it. */

import { lazy, Suspense, useMemo } from 'react'
import { Navigate, useParams } from 'react-router'

import type { AppKey } from '../../api/applications'
import { useApplication, useApplications, useReasons, useTree } from '../../api/hooks'
import type { Application } from '../../api/types'
import { forest } from '../../model/forest'
import { readRef, refText, sameRef } from '../../model/manifest'
import { stillSo } from '../../model/reasons'
import { Loading, Trouble } from '../../parts/Feedback'
import { useKeys } from '../../parts/useKeys'
import { useWords } from '../../parts/useWords'
import { appPath } from '../applications/useMoving'
import css from './application.module.css'
import { AppHeader } from './AppHeader'
import { Body } from './Body'
import { Why } from './Why'

const NodePanel = lazy(async () => ({ default: (await import('./NodePanel')).NodePanel }))
const Panels = lazy(async () => ({ default: (await import('./Panels')).Panels }))

export function ApplicationView() {
  const { namespace = '', name = '' } = useParams()
  const key = useMemo(() => ({ namespace, name }), [namespace, name])
  const query = useApplication(key)
  if (query.error && !query.data) return <Trouble error={query.error} again={() => void query.refetch()} />
  if (!query.data) return <Loading />
  return <Shown key={`${namespace}/${name}`} app={query.data} appKey={key} />
}

/** The short address, without a namespace. */
export function ApplicationByName() {
  const { name = '' } = useParams()
  const { items } = useApplications()
  const found = items?.find((app) => app.metadata.name === name)
  if (!items) return <Loading />
  return <Navigate to={found ? appPath(found) : `/applications/argocd/${encodeURIComponent(name)}`} replace />
}

function Shown({ app, appKey }: { app: Application; appKey: AppKey }) {
  const words = useWords()
  const tree = useTree(appKey)
  const isFine = app.status?.health?.status === 'Healthy' && app.status.sync?.status === 'Synced' && !app.operation
  const isWhyAsked = !isFine || app.status?.operationState?.phase !== 'Succeeded'
  const asked = useReasons(appKey, app.metadata.resourceVersion, isWhyAsked)
  const reasons = useMemo(() => (isWhyAsked ? stillSo(asked.data ?? [], app) : []), [isWhyAsked, asked.data, app])
  const roots = useMemo(() => forest(tree.data, app), [tree.data, app])
  const wanted = readRef(words.get('node') ?? null)
  const close = () => words.set({ node: undefined, tab: undefined, panel: undefined, edit: undefined })
  useKeys({
    Escape: close,
    s: () => words.set({ panel: 'sync', node: undefined }, true),
    h: () => words.set({ panel: 'history', node: undefined }, true),
  })
  const node = wanted && [...(tree.data?.nodes ?? []), ...(tree.data?.orphanedNodes ?? [])].find((one) => sameRef(one, wanted))
  return (
    <div className={css.page}>
      <AppHeader app={app} appKey={appKey} />
      <Why reasons={reasons} app={app} open={(ref) => words.set({ node: refText(ref), tab: undefined }, true)} />
      <div className={css.body}>
        <Body app={app} tree={tree.data} roots={roots} error={tree.error} words={words} />
        {wanted && (
          <Suspense fallback={<aside className={css.side}><Loading /></aside>}>
            <NodePanel key={refText(wanted)} app={app} appKey={appKey} node={node ?? wanted} isThere={node !== undefined} words={words} close={close} />
          </Suspense>
        )}
      </div>
      {words.get('panel') && (
        <Suspense fallback={null}>
          <Panels app={app} appKey={appKey} panel={words.get('panel') ?? ''} reasons={reasons} words={words} close={close} />
        </Suspense>
      )}
    </div>
  )
}
