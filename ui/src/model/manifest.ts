/** The states of an object as the server sends them: JSON in strings. */

import type { ManagedFields, ManagedResource, Metadata, Ref } from '../api/types'

export type Manifest = { apiVersion?: string; kind?: string; metadata?: Metadata } & Record<string, unknown>

export function parse(text: string | undefined): Manifest | undefined {
  if (!text || text === 'null') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Manifest) : undefined
  } catch {
    return undefined
  }
}

export function managedFields(manifest: Manifest | undefined): ManagedFields[] | undefined {
  return manifest?.metadata?.managedFields
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Without what only programs read. */
export function readable(manifest: Manifest | undefined): Manifest | undefined {
  if (!manifest) return undefined
  const { managedFields: _, annotations, ...metadata } = manifest.metadata ?? { name: '' }
  const { [LAST_APPLIED]: __, ...others } = annotations ?? {}
  return { ...manifest, metadata: { ...metadata, ...(Object.keys(others).length > 0 && { annotations: others }) } }
}

/** Without what the server writes, so that a diff shows what people decide. */
export function comparable(manifest: Manifest | undefined): Manifest | undefined {
  const read = readable(manifest)
  if (!read) return undefined
  const { status: _, ...rest } = read
  const { uid, resourceVersion, creationTimestamp, generation, selfLink, ...metadata } = (rest.metadata ?? {}) as Record<string, unknown>
  void [uid, resourceVersion, creationTimestamp, generation, selfLink]
  return { ...rest, metadata: metadata as unknown as Metadata }
}

export function sameRef(a: Ref, b: Ref): boolean {
  return (a.group ?? '') === (b.group ?? '') && a.kind === b.kind && (a.namespace ?? '') === (b.namespace ?? '') && a.name === b.name
}

/** What a sync would do with an object. */
export type Change = 'create' | 'change' | 'prune' | 'same'

export function changeOf(resource: ManagedResource): Change {
  const live = parse(resource.normalizedLiveState ?? resource.liveState)
  const wanted = parse(resource.targetState)
  if (!wanted) return live ? 'prune' : 'same'
  if (!live) return 'create'
  const predicted = parse(resource.predictedLiveState)
  return predicted && JSON.stringify(comparable(live)) !== JSON.stringify(comparable(predicted)) ? 'change' : 'same'
}

/** A node's address inside an application: `apps/Deployment/shop/front`. */
export function refText(ref: Ref): string {
  return [ref.group ?? '', ref.kind, ref.namespace ?? '', ref.name].join('/')
}

export function readRef(text: string | null): Ref | undefined {
  const parts = (text ?? '').split('/')
  const [group = '', kind = '', namespace = '', ...name] = parts
  return parts.length >= 4 && kind !== '' ? { group, kind, namespace, name: name.join('/') } : undefined
}
