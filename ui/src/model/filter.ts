/** Which applications are shown and in which order; all of it is kept in the address. */

import type { Application } from '../api/types'
import { keyOf } from './live'
import { clusterOf, sourcesOf } from './source'
import { healthWord, rank, syncWord } from './status'

export const FACETS = ['health', 'sync', 'project', 'cluster', 'namespace', 'label'] as const
export type Facet = (typeof FACETS)[number]

export interface Filter {
  search: string
  chosen: Record<Facet, string[]>
}

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
  }
}

export function readFilter(words: URLSearchParams): Filter {
  const chosen = Object.fromEntries(FACETS.map((facet) => [facet, words.getAll(facet)])) as Record<Facet, string[]>
  return { search: words.get('search') ?? '', chosen }
}

export function isEmpty(filter: Filter): boolean {
  return filter.search === '' && FACETS.every((facet) => filter.chosen[facet].length === 0)
}

/** Words that are apart must all be found; each may be found anywhere. */
function isFound(app: Application, search: string): boolean {
  if (search === '') return true
  const where = [keyOf(app), app.spec.project, app.spec.destination.namespace ?? '', ...sourcesOf(app.spec).map((one) => `${one.repoURL} ${one.path ?? ''} ${one.chart ?? ''}`)]
  const text = where.join(' ').toLowerCase()
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function fits(app: Application, filter: Filter, facet: Facet): boolean {
  const wanted = filter.chosen[facet]
  return wanted.length === 0 || valuesOf(app, facet).some((value) => wanted.includes(value))
}

export function filtered(apps: Application[], filter: Filter): Application[] {
  return apps.filter((app) => isFound(app, filter.search) && FACETS.every((facet) => fits(app, filter, facet)))
}

/** How many applications each value of a facet would leave, the other facets being as they are. */
export function counts(apps: Application[], filter: Filter, facet: Facet): Map<string, number> {
  const found = new Map<string, number>()
  const others = FACETS.filter((other) => other !== facet)
  for (const app of apps) {
    if (!isFound(app, filter.search) || !others.every((other) => fits(app, filter, other))) continue
    for (const value of valuesOf(app, facet)) found.set(value, (found.get(value) ?? 0) + 1)
  }
  for (const value of filter.chosen[facet]) if (!found.has(value)) found.set(value, 0)
  return found
}

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
