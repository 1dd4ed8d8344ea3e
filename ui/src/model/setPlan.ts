/** What a set would do: the Applications that it generates beside those that there are. */

import type { Application, ApplicationSet } from '../api/types'
import { isName } from './draft'
import { ownerSet } from './owner'
import { isSame } from './patch'

export type Act = 'create' | 'change' | 'delete' | 'keep' | 'wrong' | 'same'
/** Why something is left as it is, or cannot be. */
export type Why = 'policy' | 'uncertain' | 'deleting' | 'twice' | 'name' | 'other' | 'taken'

export interface Planned {
  name: string
  act: Act
  why?: Why
  /** Whose it is, where it is another's. */
  owner?: string
  before?: Shown
  after?: Shown
}

/** What a set decides about an Application. */
export interface Shown {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string>; finalizers?: string[] }
  spec: Record<string, unknown>
}

const ORDER: Act[] = ['wrong', 'delete', 'create', 'change', 'keep', 'same']

/** The plan, what is wrong or goes first. While anything is wrong nothing is deleted: it may be missing only because of that. */
export function planOfSet(set: Pick<ApplicationSet, 'metadata' | 'spec'>, generated: Application[], existing: Application[]): Planned[] {
  const live = new Map(existing.map((app) => [app.metadata.name, app]))
  const seen = new Set<string>()
  const plan: Planned[] = []
  for (const app of generated) {
    const name = app.metadata.name
    plan.push(seen.has(name) ? { name, act: 'wrong', why: 'twice', after: shown(app) } : planned(set, app, live.get(name)))
    seen.add(name)
  }
  const isCertain = plan.every((one) => one.act !== 'wrong')
  for (const app of existing) {
    if (isOwn(set, app) && !seen.has(app.metadata.name)) plan.push({ name: app.metadata.name, ...leaving(set, app, isCertain), before: shown(app) })
  }
  return plan.sort((a, b) => ORDER.indexOf(a.act) - ORDER.indexOf(b.act) || (a.name < b.name ? -1 : 1))
}

export function countsOf(plan: Planned[]): Record<Act, number> {
  const counts = { create: 0, change: 0, delete: 0, keep: 0, wrong: 0, same: 0 }
  for (const one of plan) counts[one.act] += 1
  return counts
}

const isOwn = (set: Pick<ApplicationSet, 'metadata'>, app: Application) => ownerSet(app)?.name === set.metadata.name

function planned(set: Pick<ApplicationSet, 'metadata' | 'spec'>, app: Application, live: Application | undefined): Planned {
  const name = app.metadata.name
  if (!isName(name)) return { name, act: 'wrong', why: 'name', after: shown(app) }
  if (!live) return { name, act: 'create', after: shown(app) }
  const owner = live.metadata.ownerReferences?.find((one) => one.controller === true)
  const sides = { before: shown(live), after: shown(wanted(set, app, live)) }
  if (owner && !isOwn(set, live)) return { name, act: 'wrong', why: 'other', owner: `${owner.kind} ${owner.name}`, ...sides }
  if (live.metadata.deletionTimestamp) return { name, act: 'keep', why: 'deleting', ...sides }
  const isChanged = !isSame(sides.before, sides.after)
  if (!owner) return { name, act: 'change', why: 'taken', ...sides }
  if (isChanged && ['create-only', 'create-delete'].includes(set.spec.syncPolicy?.applicationsSync ?? '')) return { name, act: 'keep', why: 'policy', ...sides }
  return { name, act: isChanged ? 'change' : 'same', ...sides }
}

function leaving(set: Pick<ApplicationSet, 'spec'>, app: Application, isCertain: boolean): { act: Act; why?: Why } {
  if (app.metadata.deletionTimestamp) return { act: 'keep', why: 'deleting' }
  if (['create-only', 'create-update'].includes(set.spec.syncPolicy?.applicationsSync ?? '')) return { act: 'keep', why: 'policy' }
  return isCertain ? { act: 'delete' } : { act: 'keep', why: 'uncertain' }
}

/** Annotations and finalizers that others write on every Application, and that a set leaves alone. */
const KEPT_ANNOTATIONS = ['notified.notifications.argoproj.io', 'argocd.argoproj.io/refresh', 'argocd.argoproj.io/hydrate']
const OWN_ANNOTATIONS = 'lynceus.dev/'
const KEPT_FINALIZERS = ['pre-delete-finalizer.argocd.argoproj.io', 'post-delete-finalizer.argocd.argoproj.io']

/** The Application that is there with everything that the template decides. */
function wanted(set: Pick<ApplicationSet, 'spec'>, app: Application, live: Application): Application {
  const kept = set.spec.preservedFields
  const annotations = pick(live.metadata.annotations, (key) => key.startsWith(OWN_ANNOTATIONS) || KEPT_ANNOTATIONS.includes(key) || (kept?.annotations ?? []).includes(key))
  const labels = pick(live.metadata.labels, (key) => (kept?.labels ?? []).includes(key))
  const finalizers = (live.metadata.finalizers ?? []).filter((name) => KEPT_FINALIZERS.some((prefix) => name.startsWith(prefix)) && !app.metadata.finalizers?.includes(name))
  const metadata = {
    ...app.metadata,
    annotations: { ...app.metadata.annotations, ...annotations },
    labels: { ...app.metadata.labels, ...labels },
    finalizers: [...(app.metadata.finalizers ?? []), ...finalizers],
  }
  return { ...app, metadata }
}

function pick(from: Record<string, string> | undefined, isKept: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([key]) => isKept(key)))
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const filled = <T extends object>(value: T | undefined): T | undefined => (value && Object.keys(value).length > 0 ? value : undefined)

/** An Application without what the cluster adds and what says nothing, so that a diff shows what the set decides. */
function shown(app: Application): Shown {
  const { name, labels, annotations, finalizers } = app.metadata
  const visible = filled(pick(annotations, (key) => !key.startsWith(OWN_ANNOTATIONS)))
  const metadata = { name, ...(filled(labels) && { labels }), ...(visible && { annotations: visible }), ...(filled(finalizers) && { finalizers }) } as Shown['metadata']
  return { metadata, spec: collapsed(app.spec as unknown as Record<string, unknown>) }
}

function collapsed(spec: Record<string, unknown>): Record<string, unknown> {
  const { syncPolicy, source, sources, ...rest } = spec
  return {
    ...rest,
    project: rest.project || 'default',
    ...(isMap(source) && { source: withoutEmpty(source) }),
    ...(Array.isArray(sources) && sources.length > 0 && { sources: sources.map((one) => (isMap(one) ? withoutEmpty(one) : one)) }),
    ...(isMap(syncPolicy) && Object.keys(syncPolicy).length > 0 && { syncPolicy }),
  }
}

function withoutEmpty(source: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([tool, value]) => !['kustomize', 'helm', 'directory'].includes(tool) || !saysNothing(value)))
}

function saysNothing(value: unknown): boolean {
  if (isMap(value)) return Object.values(value).every(saysNothing)
  return value === undefined || value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0)
}
