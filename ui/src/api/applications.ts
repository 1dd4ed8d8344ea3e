/** Requests about applications. */

import { isPod } from '../model/log'
import { address, call } from './client'
import type { Reason } from './ours'
import type { Application, HistoryEntry, Items, KubeEvent, Link, ManagedResource, Ref, ResourceAction, RevisionMetadata, SyncWindows, Tree } from './types'

/** An application by where it is. */
export interface AppKey {
  namespace: string
  name: string
}

/** What the list needs of each application: the rest would be ten times as much. */
const SOURCE = ['repoURL', 'path', 'chart', 'targetRevision']
const LISTED = [
  ...['name', 'namespace', 'labels', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'ownerReferences.kind', 'ownerReferences.name'].map((field) => `metadata.${field}`),
  ...['project', 'destination', 'syncPolicy.automated'].map((field) => `spec.${field}`),
  // Values of charts can be long, and nobody reads them in a list.
  ...SOURCE.flatMap((field) => [`spec.source.${field}`, `spec.sources.${field}`]),
  ...['sync.status', 'sync.revision', 'sync.revisions', 'health', 'reconciledAt'].map((field) => `status.${field}`),
  ...['phase', 'startedAt', 'finishedAt'].map((field) => `status.operationState.${field}`),
  'operation.sync',
]
const LIST_FIELDS = ['metadata.resourceVersion', ...LISTED.map((field) => `items.${field}`)].join(',')
// Argo CD names the fields of a stream from the message around each event on, Lynceus from the event itself; both pass over what they do not know.
const STREAM_FIELDS = ['result.', ''].flatMap((around) => [`${around}type`, ...LISTED.map((field) => `${around}application.${field}`)]).join(',')

const APPLICATIONS = '/api/v1/applications'

function path(app: AppKey, rest = ''): string {
  return `${APPLICATIONS}/${encodeURIComponent(app.name)}${rest}`
}

function within(app: AppKey) {
  return { appNamespace: app.namespace }
}

function about(ref: Ref) {
  return { namespace: ref.namespace, resourceName: ref.name, version: ref.version, group: ref.group, kind: ref.kind }
}

export async function listApplications(signal?: AbortSignal): Promise<{ items: Application[]; version: string }> {
  const list = await call<Items<Application>>('GET', APPLICATIONS, { query: { fields: LIST_FIELDS }, signal })
  return { items: list.items ?? [], version: list.metadata?.resourceVersion ?? '' }
}

export function applicationsStream(version: string): string {
  return address('/api/v1/stream/applications', { fields: STREAM_FIELDS, resourceVersion: version })
}

export function applicationStream(app: AppKey): string {
  return address('/api/v1/stream/applications', { name: app.name, ...within(app) })
}

export function treeStream(app: AppKey): string {
  return address(`/api/v1/stream/applications/${encodeURIComponent(app.name)}/resource-tree`, within(app))
}

/** What a pod says, or all the pods of an object. */
export function logsStream(app: AppKey, node: Ref, container: string, options: { follow: boolean; tailLines: number; previous: boolean }): string {
  const meant = isPod(node) ? { podName: node.name } : { group: node.group, kind: node.kind, resourceName: node.name }
  return address(path(app, '/logs'), { ...within(app), namespace: node.namespace, ...meant, container, ...options })
}

export function getApplication(app: AppKey, refresh?: 'normal' | 'hard'): Promise<Application> {
  return call('GET', path(app), { query: { ...within(app), refresh } })
}

export async function getReasons(app: AppKey): Promise<Reason[]> {
  const said = await call<Reason[] | { reasons?: Reason[]; items?: Reason[] }>('GET', path(app, '/reasons'), { query: within(app) })
  return Array.isArray(said) ? said : (said.reasons ?? said.items ?? [])
}

export function getTree(app: AppKey): Promise<Tree> {
  return call('GET', path(app, '/resource-tree'), { query: within(app) })
}

export async function getManaged(app: AppKey, ref?: Ref): Promise<ManagedResource[]> {
  const only = ref ? { namespace: ref.namespace, name: ref.name, group: ref.group, kind: ref.kind } : {}
  return (await call<Items<ManagedResource>>('GET', path(app, '/managed-resources'), { query: { ...within(app), ...only } })).items ?? []
}

export async function getManifests(app: AppKey, revision?: string): Promise<string[]> {
  return (await call<{ manifests?: string[] }>('GET', path(app, '/manifests'), { query: { ...within(app), revision } })).manifests ?? []
}

export async function getEvents(app: AppKey, ref?: Ref): Promise<KubeEvent[]> {
  const query = ref ? { resourceName: ref.name, resourceNamespace: ref.namespace, resourceUID: ref.uid } : {}
  return (await call<Items<KubeEvent>>('GET', path(app, '/events'), { query: { ...within(app), ...query } })).items ?? []
}

export async function getResource(app: AppKey, ref: Ref): Promise<string> {
  return (await call<{ manifest?: string }>('GET', path(app, '/resource'), { query: { ...within(app), ...about(ref) } })).manifest ?? ''
}

export function deleteResource(app: AppKey, ref: Ref, how: { force: boolean; orphan: boolean }): Promise<unknown> {
  return call('DELETE', path(app, '/resource'), { query: { ...within(app), ...about(ref), ...how } })
}

export async function getActions(app: AppKey, ref: Ref): Promise<ResourceAction[]> {
  return (await call<{ actions?: ResourceAction[] }>('GET', path(app, '/resource/actions'), { query: { ...within(app), ...about(ref) } })).actions ?? []
}

export function runAction(app: AppKey, ref: Ref, action: string, parameters: Record<string, string>): Promise<unknown> {
  const resourceActionParameters = Object.entries(parameters).map(([name, value]) => ({ name, value }))
  const body = { name: app.name, ...within(app), ...about(ref), action, resourceActionParameters }
  return call('POST', path(app, '/resource/actions/v2'), { body })
}

export interface SyncRequest {
  revision?: string
  prune?: boolean
  dryRun?: boolean
  strategy?: { apply?: { force?: boolean }; hook?: { force?: boolean } }
  resources?: Ref[] | null
  syncOptions?: { items: string[] } | null
}

export function sync(app: AppKey, request: SyncRequest): Promise<Application> {
  return call('POST', path(app, '/sync'), { body: { ...within(app), ...request } })
}

export function rollback(app: AppKey, entry: HistoryEntry, prune: boolean): Promise<Application> {
  return call('POST', path(app, '/rollback'), { body: { ...within(app), id: entry.id, prune } })
}

/** Changes an Application as a merge patch does: what is null goes. */
export function patchApplication(app: AppKey, change: unknown): Promise<Application> {
  const body = { name: app.name, ...within(app), patch: JSON.stringify(change), patchType: 'merge' }
  return call('PATCH', path(app), { body })
}

/** Makes an Application; one of that name that is there already is refused, not overwritten. */
export function createApplication(manifest: unknown): Promise<Application> {
  return call('POST', APPLICATIONS, { body: manifest })
}

export function terminate(app: AppKey): Promise<unknown> {
  return call('DELETE', path(app, '/operation'), { query: within(app) })
}

export function deleteApplication(app: AppKey, how: { cascade: boolean; propagationPolicy?: string }): Promise<unknown> {
  return call('DELETE', path(app), { query: { ...within(app), ...how } })
}

export function getRevision(app: AppKey, revision: string, sourceIndex?: number): Promise<RevisionMetadata> {
  return call('GET', path(app, `/revisions/${encodeURIComponent(revision)}/metadata`), { query: { ...within(app), sourceIndex } })
}

export function getWindows(app: AppKey): Promise<SyncWindows> {
  return call('GET', path(app, '/syncwindows'), { query: within(app) })
}

export async function getLinks(app: AppKey): Promise<Link[]> {
  return (await call<Items<Link>>('GET', path(app, '/links'), { query: within(app) })).items ?? []
}
