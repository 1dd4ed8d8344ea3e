/** What the views ask for, kept and shared by react-query. */

import { QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { Batch, keyOf } from '../model/live'
import * as apps from './applications'
import type { AppKey } from './applications'
import { ApiError } from './client'
import * as others from './others'
import { follow, type StreamState } from './stream'
import type { Application, Ref, Tree, WatchEvent } from './types'

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // What the server refuses it refuses again; only what did not reach it is tried a second time.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
})

/** How long a tab may be hidden before its streams are closed: a browser has few connections for all tabs of a server. */
const HIDDEN_FOR = 20_000

/** Whether somebody looks at the page, or did a moment ago. */
export function useWatched(): boolean {
  const [isWatched, setWatched] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const changed = () => {
      clearTimeout(timer)
      if (document.hidden) timer = setTimeout(() => setWatched(false), HIDDEN_FOR)
      else setWatched(true)
    }
    document.addEventListener('visibilitychange', changed)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', changed)
    }
  }, [])
  return isWatched
}

const LIST = ['applications']

export function useApplications() {
  const query = useQuery({ queryKey: LIST, queryFn: ({ signal }) => apps.listApplications(signal), staleTime: Infinity })
  return { ...query, items: query.data?.items }
}

/** Keeps the list of applications as the server has it. Used once, by the frame around all views. */
export function useApplicationsLive(isOn: boolean): StreamState {
  const client = useQueryClient()
  const isWatched = useWatched()
  const [state, setState] = useState<StreamState>('opening')
  const isListed = useQuery({ queryKey: LIST, queryFn: ({ signal }) => apps.listApplications(signal), staleTime: Infinity, enabled: isOn }).isSuccess
  useEffect(() => {
    if (!isOn || !isListed || !isWatched) return undefined
    type Kept = { items: Application[]; version: string }
    const batch = new Batch<Application>((events) => client.setQueryData<Kept>(LIST, (kept) => kept && { ...kept, items: events(kept.items) }))
    const version = client.getQueryData<Kept>(LIST)?.version ?? ''
    const refresh = () => void client.invalidateQueries({ queryKey: LIST })
    const stop = follow<WatchEvent>(apps.applicationsStream(version), { message: (event) => event.application && batch.add({ type: event.type, item: event.application }), state: setState, again: refresh })
    return () => {
      stop()
      batch.stop()
      refresh()
    }
  }, [client, isOn, isListed, isWatched])
  return state
}

export function useApplication(app: AppKey) {
  const client = useQueryClient()
  const isWatched = useWatched()
  const key = ['application', app.namespace, app.name]
  const query = useQuery({ queryKey: key, queryFn: () => apps.getApplication(app), staleTime: Infinity })
  useEffect(() => {
    if (!isWatched) return undefined
    const queryKey = ['application', app.namespace, app.name]
    const message = (event: WatchEvent) => {
      if (!event.application || keyOf(event.application) !== `${app.namespace}/${app.name}`) return
      if (event.type === 'DELETED') void client.invalidateQueries({ queryKey })
      else client.setQueryData(queryKey, event.application)
    }
    return follow<WatchEvent>(apps.applicationStream(app), { message, again: () => void client.invalidateQueries({ queryKey }) })
  }, [client, app.namespace, app.name, isWatched])
  return query
}

export function useTree(app: AppKey) {
  const client = useQueryClient()
  const isWatched = useWatched()
  const query = useQuery({ queryKey: ['tree', app.namespace, app.name], queryFn: () => apps.getTree(app), staleTime: Infinity })
  useEffect(() => {
    if (!isWatched) return undefined
    const queryKey = ['tree', app.namespace, app.name]
    return follow<Tree>(apps.treeStream(app), {
      message: (tree) => client.setQueryData(queryKey, tree),
      again: () => void client.invalidateQueries({ queryKey }),
    })
  }, [client, app.namespace, app.name, isWatched])
  return query
}

const refKey = (ref: Ref) => [ref.group ?? '', ref.kind, ref.namespace ?? '', ref.name]

export function useReasons(app: AppKey, version: string | undefined, isWanted: boolean) {
  return useQuery({ queryKey: ['reasons', app.namespace, app.name, version], queryFn: () => apps.getReasons(app), enabled: isWanted, placeholderData: (kept) => kept })
}

export function useManaged(app: AppKey, version: string | undefined, isWanted = true) {
  return useQuery({ queryKey: ['managed', app.namespace, app.name, version], queryFn: () => apps.getManaged(app), enabled: isWanted, placeholderData: (kept) => kept })
}

export function useManifests(app: AppKey, revision: string | undefined) {
  return useQuery({ queryKey: ['manifests', app.namespace, app.name, revision], queryFn: () => apps.getManifests(app, revision), staleTime: 60_000 })
}

export function useResource(app: AppKey, ref: Ref, version: string | undefined, isWanted: boolean) {
  return useQuery({ queryKey: ['resource', app.namespace, app.name, ...refKey(ref), version], queryFn: () => apps.getResource(app, ref), enabled: isWanted })
}

export function useEvents(app: AppKey, ref?: Ref) {
  const key = ref ? refKey(ref) : []
  return useQuery({ queryKey: ['events', app.namespace, app.name, ...key], queryFn: () => apps.getEvents(app, ref), refetchInterval: 15_000 })
}

export function useActions(app: AppKey, ref: Ref, isWanted: boolean) {
  return useQuery({ queryKey: ['actions', app.namespace, app.name, ...refKey(ref)], queryFn: () => apps.getActions(app, ref), enabled: isWanted })
}

export function useRevision(app: AppKey, revision: string | undefined, isWanted = true) {
  const queryFn = () => apps.getRevision(app, revision ?? '')
  return useQuery({ queryKey: ['revision', app.namespace, app.name, revision], queryFn, enabled: isWanted && !!revision, staleTime: Infinity, retry: false })
}

export function useLinks(app: AppKey) {
  return useQuery({ queryKey: ['links', app.namespace, app.name], queryFn: () => apps.getLinks(app), staleTime: 300_000, retry: false })
}

export function useWindows(app: AppKey) {
  return useQuery({ queryKey: ['windows', app.namespace, app.name], queryFn: () => apps.getWindows(app), staleTime: 60_000, retry: false })
}

export function useDoctor(isWanted = true) {
  return useQuery({ queryKey: ['doctor'], queryFn: others.getDoctor, staleTime: 60_000, enabled: isWanted, retry: false })
}

/** A fix as a patch, and what came of trying it. It is asked for by hand: a rehearsal takes a while. */
export function fixQuery(id: string, choice: number) {
  return { queryKey: ['fix', id, choice], queryFn: () => others.mend(id, choice), staleTime: Infinity, retry: false }
}

export const useFix = (id: string, choice: number) => useQuery({ ...fixQuery(id, choice), enabled: false })

export function useCode(code: string | undefined) {
  return useQuery({ queryKey: ['code', code], queryFn: () => others.getCode(code ?? ''), enabled: !!code, staleTime: Infinity })
}

export const useSettings = () => useQuery({ queryKey: ['settings'], queryFn: others.getSettings, staleTime: Infinity })
export const useUser = () => useQuery({ queryKey: ['user'], queryFn: others.getUser, staleTime: 60_000 })
export const useVersion = () => useQuery({ queryKey: ['version'], queryFn: others.getVersion, staleTime: Infinity })
export const useRepositories = () => useQuery({ queryKey: ['repositories'], queryFn: others.getRepositories })
export const useClusters = () => useQuery({ queryKey: ['clusters'], queryFn: others.getClusters })
export const useProjects = () => useQuery({ queryKey: ['projects'], queryFn: others.getProjects })
export const useAccounts = () => useQuery({ queryKey: ['accounts'], queryFn: others.getAccounts })
