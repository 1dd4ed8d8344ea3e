/** Which applications are shown and in which order; all of it is kept in the address. */

import type { Application } from '../api/types'
import { keyOf } from './live'
import { ownerSet } from './owner'
import * as sieve from './sieve'
import type { Filter, Sieve } from './sieve'
import { clusterOf, sourcesOf } from './source'
import { healthWord, rank, syncWord } from './status'

export const FACETS = ['health', 'sync', 'project', 'cluster', 'namespace', 'label', 'set'] as const
export type Facet = (typeof FACETS)[number]
export type AppFilter = Filter<Facet>

/** What an application has of a facet. */
export function valuesOf(app: Application, facet: Facet): string[] {
  switch (facet) {
    case 'health':
      return [healthWord(app.status?.health?.status)]
    case 'sync':
      return [syncWord(app.status?.sync?.status)]
    case 'project':
      return [app.spec.project]
    case 'cluster':
      return [clusterOf(app.spec.destination)]
    case 'namespace':
      return [app.spec.destination.namespace ?? '']
    case 'label':
      return Object.entries(app.metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`)
    case 'set':
      return [ownerSet(app)?.name ?? '']
  }
}

const APPLICATIONS: Sieve<Application, Facet> = {
  facets: FACETS,
  values: valuesOf,
  text: (app) => [keyOf(app), app.spec.project, app.spec.destination.namespace ?? '', ...sourcesOf(app.spec).map((one) => `${one.repoURL} ${one.path ?? ''} ${one.chart ?? ''}`)].join(' '),
}

export const readFilter = (words: URLSearchParams): AppFilter => sieve.readFilter(FACETS, words)
export const filtered = (apps: Application[], filter: AppFilter): Application[] => sieve.filtered(APPLICATIONS, apps, filter)
export const counts = (apps: Application[], filter: AppFilter, facet: Facet): Map<string, number> => sieve.counts(APPLICATIONS, apps, filter, facet)

export const ORDERS = ['status', 'name', 'project', 'synced', 'created'] as const
export type Order = (typeof ORDERS)[number]

export function sorted(apps: Application[], order: Order, isReversed: boolean): Application[] {
  const compare = COMPARE[order]
  const sign = isReversed ? -1 : 1
  const names = (a: Application, b: Application) => (a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0)
  return [...apps].sort((a, b) => sign * (compare(a, b) || names(a, b)))
}

const text = (of: (app: Application) => string) => (a: Application, b: Application) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0)
const worst = (app: Application) => rank(app.status?.health?.status, app.status?.sync?.status)

const COMPARE: Record<Order, (a: Application, b: Application) => number> = {
  name: () => 0,
  project: text((app) => app.spec.project),
  status: (a, b) => worst(a) - worst(b),
  synced: (a, b) => text((app) => app.status?.operationState?.finishedAt ?? '')(b, a),
  created: (a, b) => text((app) => app.metadata.creationTimestamp ?? '')(b, a),
}
