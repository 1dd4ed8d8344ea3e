/** What the views of ApplicationSets ask for. Apart from the other hooks, because the first view needs none of them. */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import { Batch, keyOf } from '../model/live'
import type { SetKey } from '../model/owner'
import { useWatched } from './hooks'
import * as sets from './sets'
import { follow } from './stream'
import type { ApplicationSet, SetWatchEvent } from './types'

const LIST = ['sets']

/** All sets, kept as the server has them. */
export function useSets() {
  const client = useQueryClient()
  const isWatched = useWatched()
  const query = useQuery({ queryKey: LIST, queryFn: ({ signal }) => sets.listSets(signal), staleTime: 0 })
  const isListed = query.isSuccess
  useEffect(() => {
    if (!isListed || !isWatched) return undefined
    const batch = new Batch<ApplicationSet>((change) => client.setQueryData<ApplicationSet[]>(LIST, (kept) => kept && change(kept)))
    const refresh = () => void client.invalidateQueries({ queryKey: LIST })
    const message = (event: SetWatchEvent) => event.applicationSet && batch.add({ type: event.type, item: event.applicationSet })
    const stop = follow<SetWatchEvent>(sets.setsStream(), { message, again: refresh })
    return () => {
      stop()
      batch.stop()
    }
  }, [client, isListed, isWatched])
  return query
}

export const setKeyOf = (set: SetKey) => ['set', set.namespace, set.name]

export function useSet({ namespace, name }: SetKey) {
  const client = useQueryClient()
  const isWatched = useWatched()
  const query = useQuery({ queryKey: setKeyOf({ namespace, name }), queryFn: () => sets.getSet({ namespace, name }), staleTime: Infinity })
  const isThere = query.isSuccess
  useEffect(() => {
    if (!isThere || !isWatched) return undefined
    const queryKey = setKeyOf({ namespace, name })
    const again = () => void client.invalidateQueries({ queryKey })
    const message = (event: SetWatchEvent) => {
      if (!event.applicationSet || keyOf(event.applicationSet) !== `${namespace}/${name}`) return
      if (event.type === 'DELETED') again()
      else client.setQueryData(queryKey, event.applicationSet)
    }
    return follow<SetWatchEvent>(sets.setStream({ namespace, name }), { message, again })
  }, [client, namespace, name, isThere, isWatched])
  return query
}

export function useSetEvents(set: SetKey) {
  return useQuery({ queryKey: ['set-events', set.namespace, set.name], queryFn: () => sets.getSetEvents(set), refetchInterval: 15_000 })
}

/** What a set would generate, and what there is to compare it with. It is asked for by hand: generators ask hosts. */
export function usePreview(namespace: string, manifest: Record<string, unknown> | undefined) {
  const queryFn = async () => {
    const [generated, existing] = await Promise.all([sets.generate(manifest), sets.getCompared(namespace)])
    return { generated, existing }
  }
  return useQuery({ queryKey: ['preview', namespace, manifest], queryFn, enabled: manifest !== undefined, staleTime: 10_000, gcTime: 60_000, retry: false })
}
