/** Which ApplicationSet an Application belongs to. */

import type { Application, Ref } from '../api/types'

export interface SetKey {
  namespace: string
  name: string
}

/** A set and its Applications are in one namespace. */
export function ownerSet(app: Pick<Application, 'metadata'>): SetKey | undefined {
  const owner = app.metadata.ownerReferences?.find((one) => one.kind === 'ApplicationSet' && one.controller !== false)
  return owner && { namespace: app.metadata.namespace ?? 'argocd', name: owner.name }
}

export function setPath(set: SetKey): string {
  return `/applicationsets/${encodeURIComponent(set.namespace)}/${encodeURIComponent(set.name)}`
}

/** The page of an object that has one. */
export function pageOf(ref: Ref): string | undefined {
  if (ref.group !== 'argoproj.io' || !ref.namespace) return undefined
  const key = { namespace: ref.namespace, name: ref.name }
  if (ref.kind === 'ApplicationSet') return setPath(key)
  return ref.kind === 'Application' ? `/applications/${encodeURIComponent(key.namespace)}/${encodeURIComponent(key.name)}` : undefined
}
