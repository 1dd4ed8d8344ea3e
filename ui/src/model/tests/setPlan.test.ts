import { expect, test } from 'vitest'

import type { Application, ApplicationSet } from '../../api/types'
import { countsOf, planOfSet } from '../setPlan'
import { rolloutOf } from '../steps'
import { membersOf } from '../sets'
import { app } from './apps'

const FINALIZER = 'resources-finalizer.argocd.argoproj.io'
const set = (spec: ApplicationSet['spec'] = {}): ApplicationSet => ({ metadata: { name: 'shops', namespace: 'argocd' }, spec })
const made = (name: string, more: Partial<Application['metadata']> = {}): Application => ({ metadata: { name, namespace: 'argocd', finalizers: [FINALIZER], ...more }, spec: { project: 'default', destination: { namespace: name }, source: { repoURL: 'x', path: name } } })
const there = (name: string, more: Partial<Application['metadata']> = {}): Application => made(name, { ownerReferences: [{ apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'shops', controller: true }], ...more })
const told = (...given: Parameters<typeof planOfSet>) => planOfSet(...given).map((one) => [one.name, one.act, one.why].filter(Boolean).join(' '))

test('what is new is created, what differs is changed, what is left over is deleted', () => {
  const other = { ...made('b'), spec: { ...made('b').spec, source: { repoURL: 'x', path: 'elsewhere' } } }
  const plan = planOfSet(set(), [made('a'), other, made('c')], [there('b'), there('c'), there('d'), made('e')])
  expect(plan.map((one) => `${one.act} ${one.name}`)).toEqual(['delete d', 'create a', 'change b', 'same c'])
  expect(countsOf(plan)).toEqual({ create: 1, change: 1, delete: 1, keep: 0, wrong: 0, same: 1 })
  expect([plan[2]?.before?.spec.source, plan[2]?.after?.spec.source]).toEqual([{ repoURL: 'x', path: 'b' }, { repoURL: 'x', path: 'elsewhere' }])
})

test('what says nothing is no difference', () => {
  const live = there('a', { annotations: { 'lynceus.dev/reasons': '[]' }, labels: {} })
  const spec = { ...live.spec, project: '', syncPolicy: {}, source: { repoURL: 'x', path: 'a', directory: { recurse: false } } }
  expect(told(set(), [made('a')], [{ ...live, spec }])).toEqual(['a same'])
})

test('preserved fields, and what others write on every application, are left alone', () => {
  const live = there('a', { labels: { kept: '1', mine: '2' }, annotations: { 'argocd.argoproj.io/refresh': 'normal', note: 'x' }, finalizers: [FINALIZER, 'post-delete-finalizer.argocd.argoproj.io/cleanup'] })
  expect(told(set({ preservedFields: { labels: ['kept', 'mine'], annotations: ['note'] } }), [made('a')], [live])).toEqual(['a same'])
  const [one] = planOfSet(set({ preservedFields: { labels: ['kept'], annotations: ['note'] } }), [made('a')], [live])
  expect([one?.act, one?.after?.metadata.labels]).toEqual(['change', { kept: '1' }])
})

test('a policy keeps what it does not allow', () => {
  const apps = [there('a', { labels: { x: 'y' } }), there('b')]
  const plan = (applicationsSync: string) => told(set({ syncPolicy: { applicationsSync } }), [made('a'), made('new')], apps)
  expect(plan('sync')).toEqual(['b delete', 'new create', 'a change'])
  expect(plan('create-only')).toEqual(['new create', 'a keep policy', 'b keep policy'])
  expect(plan('create-update')).toEqual(['new create', 'a change', 'b keep policy'])
  expect(plan('create-delete')).toEqual(['b delete', 'new create', 'a keep policy'])
})

test('nothing is deleted while two have one name, one is no name, or one belongs to another', () => {
  expect(told(set(), [made('a'), made('a')], [there('z')])).toEqual(['a wrong twice', 'a create', 'z keep uncertain'])
  expect(told(set(), [made('A_')], [there('z')])).toEqual(['A_ wrong name', 'z keep uncertain'])
  const foreign = made('a', { ownerReferences: [{ kind: 'ApplicationSet', name: 'others', controller: true }] })
  const [one] = planOfSet(set(), [made('a')], [foreign])
  expect([one?.act, one?.why, one?.owner]).toEqual(['wrong', 'other', 'ApplicationSet others'])
})

test('one that nobody owns is taken, one that is being deleted is waited for', () => {
  expect(told(set(), [made('a'), made('b')], [made('a'), there('b', { deletionTimestamp: '2026-01-01T00:00:00Z' }), there('c', { deletionTimestamp: '2026-01-01T00:00:00Z' })])).toEqual(['a change taken', 'b keep deleting', 'c keep deleting'])
})

const rolling = (states: string, steps = [{}, { maxUpdate: 1 }, { maxUpdate: '50%' }]): ApplicationSet => ({
  ...set({ strategy: { type: 'RollingSync', rollingSync: { steps } } }),
  status: { applicationStatus: states.split(' ').map((word) => word.split(':')).map(([application = '', step = '', status = '']) => ({ application, step, status, message: 'words' })) },
})
const roll = (of: ApplicationSet, ...apps: string[]) => {
  const own = apps.map((text) => app(text))
  const names = new Set(own.map((one) => one.metadata.name))
  const resources = (of.status?.applicationStatus ?? []).filter((one) => !names.has(one.application)).map((one) => ({ kind: 'Application', name: one.application }))
  return rolloutOf(of, membersOf({ ...of, status: { ...of.status, resources } }, own))
}

test('a step waits for the one before it, and says who is late there', () => {
  const { steps } = roll(rolling('a:1:Healthy b:1:Progressing c:2:Waiting d:3:Waiting'), 'b Degraded Synced')
  expect(steps.map((one) => one.state)).toEqual(['failed', 'waiting', 'waiting'])
  expect(steps[0]?.members.map((one) => one.wait)).toEqual([undefined, { for: 'health', sync: 'Synced', health: 'Degraded' }])
  expect(steps[2]?.members[0]?.wait).toEqual({ for: 'step', step: 1, names: ['b'] })
})

test('room, start and end of a sync are waited for in the step that is open', () => {
  const { steps } = roll(rolling('a:1:Healthy b:2:Pending c:2:Waiting d:2:Healthy'))
  expect(steps.map((one) => one.state)).toEqual(['done', 'running', 'done'])
  expect(steps[1]?.most).toEqual({ text: '1', count: 1 })
  expect(steps[1]?.members.map((one) => one.wait)).toEqual([{ for: 'start' }, { for: 'room', most: 1, busy: 1 }, undefined])
  const running = { ...app('b Progressing OutOfSync'), operation: {} }
  expect(rolloutOf(rolling('b:1:Progressing'), membersOf(rolling('b:1:Progressing'), [running])).steps[0]?.members[0]?.wait).toEqual({ for: 'end' })
})

test('part of the whole is one at least, and none only where it says so', () => {
  const most = (maxUpdate: string | number) => roll(rolling('a:1:Waiting b:1:Waiting c:1:Waiting', [{ maxUpdate }] as never)).steps[0]?.most?.count
  expect([most('50%'), most('1%'), most('0%'), most(2), most('nonsense')]).toEqual([1, 1, 0, 2, 1])
})

test('one that no step selects is told, and so is a set whose steps nobody follows', () => {
  const { outside, isFollowed } = roll(rolling('a:1:Healthy x:-1:Waiting'))
  expect([outside.map((one) => [one.name, one.wait?.for]), isFollowed]).toEqual([[['x', 'noStep']], true])
  expect(rolloutOf(set({ strategy: { type: 'RollingSync', rollingSync: { steps: [{}] } } }), []).isFollowed).toBe(false)
  expect(rolloutOf(set({ strategy: { type: 'AllAtOnce', rollingSync: { steps: [{}] } } }), []).steps).toEqual([])
})
