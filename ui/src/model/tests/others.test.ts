import { expect, test } from 'vitest'

import type { Chain, RehearsalReport, Root } from '../../api/ours'
import { Lines } from '../../api/stream'
import { ownPath } from '../../views/login/path'
import { causePicture, isHealed } from '../causes'
import { plainText } from '../log'
import { blocks } from '../markdown'
import { planOf, waves, withResults } from '../progress'
import { scale, ticks, timeline } from '../rehearsal'
import { ago, span } from '../time'
import { app } from './apps'

test('a stream is put together from pieces that end anywhere', () => {
  const lines = new Lines()
  expect(lines.read<number>(':\n\ndata: {"resu')).toEqual([])
  expect(lines.read<number>('lt":1}\n\ndata: {"result":2}\r\n{"result":3}\nnoise\n{bad\n')).toEqual([1, 2, 3])
})

test('times in two units, and one where many stand together', () => {
  expect([0, 59, 60, 192, 3600, 90_061].map(span)).toEqual(['0s', '59s', '1m', '3m12s', '1h', '1d1h'])
  expect(ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T02:30:00Z'))).toBe('2h')
  expect(ago('nonsense', 0)).toBe('')
})

test('the login leads back only to the page itself', () => {
  expect(ownPath('/doctor?x=1')).toBe('/doctor?x=1')
  for (const bad of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '', undefined]) expect(ownPath(bad)).toBe('/applications')
})

test('colours of terminals are left out of a log', () => {
  expect(plainText('\u001b[1;32mok\u001b[0m\tdone\u0007')).toBe('ok\tdone')
})

test('markdown becomes blocks, and HTML in it stays text', () => {
  expect(blocks('# A\n\ntext `c` <b>\n\n- one\n- two\n  more\n\n```\nx: [1]\n```\n')).toEqual([
    { sort: 'heading', level: 1, inline: [{ sort: 'text', text: 'A' }] },
    { sort: 'paragraph', inline: [{ sort: 'text', text: 'text ' }, { sort: 'code', text: 'c' }, { sort: 'text', text: ' <b>' }] },
    { sort: 'list', isOrdered: false, items: [[{ sort: 'text', text: 'one' }], [{ sort: 'text', text: 'two more' }]] },
    { sort: 'code', text: 'x: [1]' },
  ])
})

const manifest = (kind: string, name: string, annotations = {}) => JSON.stringify({ apiVersion: 'v1', kind, metadata: { name, annotations } })

test('a plan goes by phase and wave, with what would be pruned', () => {
  const hook = { 'argocd.argoproj.io/hook': 'PreSync' }
  const managed = [
    { kind: 'ConfigMap', namespace: 'shop', name: 'a', targetState: manifest('ConfigMap', 'a'), liveState: 'null' },
    { kind: 'Secret', namespace: 'shop', name: 'old', targetState: 'null', liveState: manifest('Secret', 'old') },
  ]
  const manifests = [manifest('Service', 's', { 'argocd.argoproj.io/sync-wave': '2' }), manifest('ConfigMap', 'a'), manifest('Job', 'm', hook)]
  const plan = waves(planOf(manifests, managed, app('web')))
  expect(plan.map((wave) => `${wave.phase} ${wave.wave}: ${wave.tasks.map((task) => `${task.change} ${task.ref.name}`).join(', ')}`)).toEqual(['PreSync 0: create m', 'Sync 0: create a, prune old', 'Sync 2: create s'])
})

test('an operation shows what is done, under way and to come', () => {
  const running = app('web')
  const result = (name: string, hookPhase: string) => ({ kind: 'ConfigMap', namespace: 'shop', name, syncPhase: 'Sync', status: 'Synced', hookPhase })
  running.status = { ...running.status, operationState: { phase: 'Running', syncResult: { resources: [result('a', 'Succeeded'), result('b', 'Running')] } } }
  const wave = (n: number) => ({ 'argocd.argoproj.io/sync-wave': String(n) })
  const plan = planOf([manifest('ConfigMap', 'a', wave(0)), manifest('ConfigMap', 'b', wave(1)), manifest('ConfigMap', 'c', wave(2))], [], running)
  expect(waves(withResults(plan, running)).map((one) => one.state)).toEqual(['done', 'running', 'waiting'])
})

test('chains that meet are one picture', () => {
  const object = (name: string, waiting: Chain[] = []): Chain => ({ node: { object: { cluster: 'c', key: { kind: 'Service', name } } }, state: '', applications: 1, waiting })
  const shared: Chain = { node: { application: { namespace: 'argocd', name: 'web' } }, state: 'Synced Degraded', applications: 1 }
  const root = (chain: Chain) => ({ id: JSON.stringify(chain.node), severity: 'P1', chain, applications: [], symptoms: 1 }) as unknown as Root
  const { boxes, lines } = causePicture([root(object('a', [shared])), root(object('b', [object('c', [shared])]))])
  expect(boxes.map((box) => `${box.name}${box.root ? '!' : ''}`)).toEqual(['a!', 'web', 'b!', 'c'])
  expect(lines).toHaveLength(3)
})

test('a fix has helped if the rehearsal says so, and not if it could not be tried', () => {
  const fix = (rehearsal: object | null) => isHealed({ id: '', title: '', rehearsal })
  expect([fix({ verdict: 'verified', healed: 3, harmed: 0 }), fix({ healed: 1, harmed: 0 })]).toEqual([true, true])
  expect([fix(null), fix({ verdict: 'proposed', reason: 'no room' }), fix({ healed: 1, harmed: 1 }), fix({ verdict: 'refuted', healed: 1, harmed: 0 })]).toEqual([false, false, false, false])
})

test('a rehearsal is a line for each application, in the order in which they begin', () => {
  const step = (after: number) => ({ after, did: 'created', kind: 'Pod', name: 'p', times: 1 })
  const report = { seconds: 600, applications: [{ name: 'late', verdict: 'stuck', steps: [step(9), step(9)] }, { name: 'early', verdict: 'finishes', doneAfter: 7, steps: [step(2)] }] } as unknown as RehearsalReport
  expect(timeline(report).map((row) => `${row.app.name} ${row.start}-${row.end} ${row.moments.length}`)).toEqual(['early 2-7 1', 'late 9-600 1'])
})

test('ticks keep apart from each other', () => {
  const marks = ticks(614)
  expect(marks[0]).toBe(0)
  expect(marks.at(-1)).toBe(614)
  const places = marks.map((second) => scale(second, 614))
  for (let i = 1; i < places.length; i++) expect((places[i] ?? 0) - (places[i - 1] ?? 0)).toBeGreaterThan(0.08)
})
