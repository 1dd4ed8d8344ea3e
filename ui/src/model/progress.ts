/** An operation by phase and wave: what was done, what is under way, what is to come. */

import type { Application, ManagedResource, Ref, ResourceResult } from '../api/types'
import { changeOf, parse, refText, type Change, type Manifest } from './manifest'

export const PHASES = ['PreSync', 'Sync', 'PostSync', 'SyncFail'] as const
export type Phase = (typeof PHASES)[number]

export interface Task {
  ref: Ref
  phase: Phase
  wave: number
  isHook: boolean
  change?: Change
  result?: ResourceResult
}

export interface Wave {
  phase: Phase
  wave: number
  tasks: Task[]
  state: 'done' | 'running' | 'failed' | 'waiting'
}

/** What a sync would do, from what Git wants and what is there. */
export function planOf(manifests: string[], managed: ManagedResource[], app: Application, onlyRefs?: Set<string>): Task[] {
  const live = new Map(managed.map((one) => [refText(one), one]))
  const tasks: Task[] = []
  const known = new Set<string>()
  const namespace = app.spec.destination.namespace ?? ''
  for (const text of manifests) {
    const manifest = parse(text)
    if (!manifest?.metadata) continue
    const own = refOf(manifest, '')
    const ref = live.has(refText(own)) ? own : refOf(manifest, namespace)
    const found = live.get(refText(ref))
    known.add(refText(ref))
    for (const phase of phasesOf(manifest)) {
      tasks.push({ ref, phase, wave: waveOf(manifest), isHook: isHook(manifest), change: found ? changeOf(found) : 'create' })
    }
  }
  for (const one of managed) {
    if (known.has(refText(one)) || one.hook || changeOf(one) !== 'prune') continue
    tasks.push({ ref: one, phase: 'Sync', wave: waveOf(parse(one.liveState)), isHook: false, change: 'prune' })
  }
  return onlyRefs ? tasks.filter((task) => onlyRefs.has(refText(task.ref))) : tasks
}

function refOf(manifest: Manifest, namespace: string): Ref {
  const [group, version] = (manifest.apiVersion ?? '').includes('/') ? (manifest.apiVersion ?? '').split('/') : ['', manifest.apiVersion]
  return { group: group ?? '', version: version ?? '', kind: manifest.kind ?? '', namespace: manifest.metadata?.namespace ?? namespace, name: manifest.metadata?.name ?? '' }
}

const annotation = (manifest: Manifest | undefined, name: string) => manifest?.metadata?.annotations?.[name]

function hooksOf(manifest: Manifest): string[] {
  const own = annotation(manifest, 'argocd.argoproj.io/hook')
  if (own) return own.split(',').map((word) => word.trim())
  const helm = annotation(manifest, 'helm.sh/hook')?.split(',').map((word) => HELM[word.trim()] ?? '') ?? []
  return helm.filter((word) => word !== '')
}

const HELM: Record<string, string> = { 'pre-install': 'PreSync', 'pre-upgrade': 'PreSync', 'post-install': 'PostSync', 'post-upgrade': 'PostSync', 'crd-install': '' }

const isHook = (manifest: Manifest) => hooksOf(manifest).length > 0

function phasesOf(manifest: Manifest): Phase[] {
  const hooks = hooksOf(manifest)
  const phases = PHASES.filter((phase) => hooks.includes(phase))
  return hooks.length === 0 ? ['Sync'] : phases
}

function waveOf(manifest: Manifest | undefined): number {
  const text = annotation(manifest, 'argocd.argoproj.io/sync-wave') ?? annotation(manifest, 'helm.sh/hook-weight')
  const wave = Number(text ?? 0)
  return Number.isInteger(wave) ? wave : 0
}

/** The tasks with what came of them. Results that the plan does not know stand in the wave of the Application's own list. */
export function withResults(plan: Task[], app: Application): Task[] {
  const state = app.status?.operationState
  // A sync that succeeded has nothing that still runs, whatever was last written of it.
  const isDone = state?.phase === 'Succeeded'
  const results = (state?.syncResult?.resources ?? []).map((one) => (isDone && one.hookPhase === 'Running' ? { ...one, hookPhase: 'Succeeded' } : one))
  const waves = new Map((app.status?.resources ?? []).map((one) => [refText(one), one.syncWave ?? 0]))
  const found = new Set<ResourceResult>()
  const tasks: Task[] = plan.map((task) => {
    const result = results.find((one) => refText(one) === refText(task.ref) && (one.syncPhase ?? 'Sync') === task.phase)
    if (result) found.add(result)
    return result ? { ...task, result } : task
  })
  for (const result of results) {
    if (found.has(result)) continue
    const phase = PHASES.find((one) => one === result.syncPhase) ?? 'Sync'
    tasks.push({ ref: result, phase, wave: waves.get(refText(result)) ?? 0, isHook: !!result.hookType, result })
  }
  return tasks
}

export function waves(tasks: Task[]): Wave[] {
  const found = new Map<string, Wave>()
  for (const task of tasks) {
    const id = `${PHASES.indexOf(task.phase)} ${task.wave}`
    const wave = found.get(id)
    if (wave) wave.tasks.push(task)
    else found.set(id, { phase: task.phase, wave: task.wave, tasks: [task], state: 'waiting' })
  }
  const all = [...found.values()].sort((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase) || a.wave - b.wave)
  for (const wave of all) wave.state = stateOf(wave.tasks)
  return all
}

function stateOf(tasks: Task[]): Wave['state'] {
  const states = tasks.map(taskState)
  if (states.includes('failed')) return 'failed'
  if (states.includes('running')) return 'running'
  if (states.every((one) => one === 'done')) return 'done'
  return states.includes('done') ? 'running' : 'waiting'
}

export function taskState(task: Task): Wave['state'] {
  const result = task.result
  if (!result) return 'waiting'
  if (result.status === 'SyncFailed' || result.hookPhase === 'Failed' || result.hookPhase === 'Error') return 'failed'
  if (result.hookPhase === 'Running') return 'running'
  return 'done'
}
