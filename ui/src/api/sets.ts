/** Requests about ApplicationSets. */

import { address, call } from './client'
import type { SetKey } from '../model/owner'
import type { Application, ApplicationSet, Items, KubeEvent } from './types'

const SETS = '/api/v1/applicationsets'

/** What the list needs of each set. The Applications of a set are in the list of applications. */
const LISTED = [
  ...['name', 'namespace', 'labels', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp'].map((field) => `metadata.${field}`),
  ...['generators', 'template.spec.project', 'strategy.type'].map((field) => `spec.${field}`),
  ...['conditions', 'health', 'resourcesCount'].map((field) => `status.${field}`),
]
const LIST_FIELDS = LISTED.map((field) => `items.${field}`).join(',')
// Argo CD names the fields of a stream from the message around each event on, Lynceus from the event itself.
const STREAM_FIELDS = ['result.', ''].flatMap((around) => [`${around}type`, ...LISTED.map((field) => `${around}applicationSet.${field}`)]).join(',')

const path = (set: SetKey, rest = '') => `${SETS}/${encodeURIComponent(set.name)}${rest}`
const within = (set: SetKey) => ({ appsetNamespace: set.namespace })

export async function listSets(signal?: AbortSignal): Promise<ApplicationSet[]> {
  return (await call<Items<ApplicationSet>>('GET', SETS, { query: { fields: LIST_FIELDS }, signal })).items ?? []
}

export const setsStream = () => address('/api/v1/stream/applicationsets', { fields: STREAM_FIELDS })
/** The message of the stream writes the namespace otherwise than the others do. */
export const setStream = (set: SetKey) => address('/api/v1/stream/applicationsets', { name: set.name, appSetNamespace: set.namespace })

export const getSet = (set: SetKey) => call<ApplicationSet>('GET', path(set), { query: within(set) })

export async function getSetEvents(set: SetKey): Promise<KubeEvent[]> {
  return (await call<Items<KubeEvent>>('GET', path(set, '/events'), { query: within(set) })).items ?? []
}

/** The Applications that a set would have. Nothing is written. */
export async function generate(set: unknown): Promise<Application[]> {
  return (await call<{ applications?: Application[] | null }>('POST', `${SETS}/generate`, { body: { applicationSet: set } })).applications ?? []
}

/** Makes a set; one of that name that is there already is refused, not overwritten. */
export const createSet = (set: unknown) => call<ApplicationSet>('POST', SETS, { body: set })
/** Puts a set in the place of the one that is there. Labels and annotations are added to those that it has. */
export const replaceSet = (set: unknown) => call<ApplicationSet>('POST', SETS, { query: { upsert: true }, body: set })
export const deleteSet = (set: SetKey) => call('DELETE', path(set), { query: within(set) })

const COMPARED = [...['name', 'namespace', 'labels', 'annotations', 'finalizers', 'deletionTimestamp', 'ownerReferences'].map((field) => `items.metadata.${field}`), 'items.spec'].join(',')

/** The Applications of a namespace with all that a set decides about them. */
export async function getCompared(appNamespace: string): Promise<Application[]> {
  return (await call<Items<Application>>('GET', '/api/v1/applications', { query: { appNamespace, fields: COMPARED } })).items ?? []
}
