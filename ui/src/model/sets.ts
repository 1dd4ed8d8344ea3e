/** ApplicationSets: how they are, what they are made of, and which of them are shown in which order. */

import type { Application, ApplicationSet, SetApplicationStatus, SetCondition } from '../api/types'
import { keyOf } from './live'
import { ownerSet, type SetKey } from './owner'
import type { Filter, Sieve } from './sieve'
import { healthWord, rank, type Tone } from './status'

/** Deletions that wait for somebody to confirm them: `lynceus.dev/confirm-deletions` with this token does. */
export const CONFIRM = 'lynceus.dev/confirm-deletions'

export const keyOfSet = (set: ApplicationSet): SetKey => ({ namespace: set.metadata.namespace ?? 'argocd', name: set.metadata.name })

export function projectOf(set: ApplicationSet): string {
  return set.spec.template?.spec?.project ?? ''
}

/** Argo CD writes a health of its own since 3.1; before that the conditions say it. */
export function setHealth(set: ApplicationSet): string {
  if (set.status?.health?.status) return healthWord(set.status.health.status)
  const conditions = set.status?.conditions ?? []
  if (conditions.some((one) => toneOf(one) === 'bad')) return 'Degraded'
  if (conditions.some((one) => toneOf(one) === 'busy')) return 'Progressing'
  return conditions.length > 0 ? 'Healthy' : 'Unknown'
}

/** What a condition means: of some it is bad to be true, of others not to be. */
export function toneOf(condition: SetCondition): Tone {
  const is = condition.status === 'True'
  switch (condition.type) {
    case 'ErrorOccurred':
    case 'InvalidRolloutConfig':
      return is ? 'bad' : 'good'
    case 'ParametersGenerated':
      return is ? 'good' : 'bad'
    case 'ResourcesUpToDate':
      return is ? 'good' : condition.reason === 'DeletionsHeld' ? 'warn' : 'bad'
    case 'RolloutProgressing':
      return is ? 'busy' : 'good'
    default:
      return 'none'
  }
}

export interface SetTrouble {
  type: string
  reason: string
  text: string
  since?: string
}

/** What is wrong. One fault is told by several conditions, and once here. */
export function troublesOf(set: ApplicationSet): SetTrouble[] {
  const found = new Map<string, SetTrouble>()
  for (const one of set.status?.conditions ?? []) {
    const text = one.message ?? ''
    if (toneOf(one) !== 'bad' || found.has(text)) continue
    found.set(text, { type: one.type, reason: one.reason ?? '', text, ...(one.lastTransitionTime && { since: one.lastTransitionTime }) })
  }
  return [...found.values()]
}

export interface HeldDeletions {
  count: number
  of: number
  token: string
  text: string
  since?: string
}

/** Deletions that wait. The condition says how many, and what confirms them. */
export function heldOf(set: ApplicationSet): HeldDeletions | undefined {
  const condition = set.status?.conditions?.find((one) => one.type === 'ResourcesUpToDate' && one.status === 'False' && one.reason === 'DeletionsHeld')
  const text = condition?.message ?? ''
  const token = new RegExp(`${CONFIRM}=(\\S+)`).exec(text)?.[1]
  const [, count, of] = /^(\d+) of (\d+) /.exec(text) ?? []
  if (!token) return undefined
  return { count: Number(count ?? 0), of: Number(of ?? 0), token, text: text.replace(/\.? Confirm with: .*$/s, ''), ...(condition?.lastTransitionTime && { since: condition.lastTransitionTime }) }
}

/** The Applications of each set. */
export function bySet(apps: Application[]): Map<string, Application[]> {
  const found = new Map<string, Application[]>()
  for (const app of apps) {
    const owner = ownerSet(app)
    if (!owner) continue
    const key = `${owner.namespace}/${owner.name}`
    const own = found.get(key)
    if (own) own.push(app)
    else found.set(key, [app])
  }
  return found
}

/** An Application of a set. */
export interface Member {
  name: string
  namespace: string
  health: string
  sync: string
  /** None where one may not see it. */
  app?: Application
  step?: SetApplicationStatus
}

/** What a set has: the Applications that are seen, as they are now, and those that only the set's status tells of. */
export function membersOf(set: ApplicationSet, own: Application[]): Member[] {
  const namespace = set.metadata.namespace ?? 'argocd'
  const steps = new Map((set.status?.applicationStatus ?? []).map((one) => [one.application, one]))
  const step = (name: string) => (steps.has(name) ? { step: steps.get(name) as SetApplicationStatus } : {})
  const found = new Map<string, Member>()
  for (const one of set.status?.resources ?? []) {
    if (one.kind !== 'Application') continue
    found.set(one.name, { name: one.name, namespace: one.namespace ?? namespace, health: one.health?.status ?? '', sync: one.status ?? '', ...step(one.name) })
  }
  for (const app of own) {
    const name = app.metadata.name
    found.set(name, { name, namespace, health: app.status?.health?.status ?? '', sync: app.status?.sync?.status ?? '', app, ...step(name) })
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** How many Applications a set says that it has, or are seen. */
export function sizeOf(set: ApplicationSet, own: Application[]): number {
  return Math.max(Number(set.status?.resourcesCount ?? 0) || 0, own.length)
}

export const SET_FACETS = ['health', 'project', 'generator', 'namespace', 'label'] as const
export type SetFacet = (typeof SET_FACETS)[number]
export type SetFilter = Filter<SetFacet>

export const SETS: Sieve<ApplicationSet, SetFacet> = {
  facets: SET_FACETS,
  values: (set, facet) => {
    switch (facet) {
      case 'health':
        return [setHealth(set)]
      case 'project':
        return [projectOf(set)]
      case 'generator':
        return [...new Set(generatorSorts(set.spec.generators ?? []))]
      case 'namespace':
        return [set.metadata.namespace ?? '']
      case 'label':
        return Object.entries(set.metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`)
    }
  },
  text: (set) => [keyOf(set), projectOf(set), JSON.stringify(set.spec.generators ?? [])].join(' '),
}

/** Which sorts of generators there are, those inside of others as well. */
function generatorSorts(generators: Record<string, unknown>[]): string[] {
  return generators.flatMap((one) => Object.entries(one).flatMap(([sort, inner]) => (sort === 'selector' ? [] : [sort, ...generatorSorts(nested(inner))])))
}

export function nested(generator: unknown): Record<string, unknown>[] {
  const inner = (generator as { generators?: unknown } | null)?.generators
  return Array.isArray(inner) ? inner.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null) : []
}

export const SET_ORDERS = ['status', 'name', 'project', 'applications', 'created'] as const
export type SetOrder = (typeof SET_ORDERS)[number]

export function sortedSets(sets: ApplicationSet[], order: SetOrder, isReversed: boolean, own: Map<string, Application[]>): ApplicationSet[] {
  const by: Record<SetOrder, (set: ApplicationSet) => string | number> = {
    status: (set) => rank(setHealth(set)),
    name: () => 0,
    project: projectOf,
    applications: (set) => -sizeOf(set, own.get(keyOf(set)) ?? []),
    created: (set) => -Date.parse(set.metadata.creationTimestamp ?? '') || 0,
  }
  const less = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0)
  const sign = isReversed ? -1 : 1
  return [...sets].sort((a, b) => sign * (less(by[order](a), by[order](b)) || less(keyOf(a), keyOf(b))))
}
