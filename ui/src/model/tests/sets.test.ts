import { expect, test } from 'vitest'

import type { Application, ApplicationSet, SetCondition } from '../../api/types'
import { placed } from '../document'
import { generatorWords, selectorWords } from '../generators'
import { ownerSet, pageOf, setPath } from '../owner'
import { changedSet, confirmed, setManifestOf, takenAway } from '../setDraft'
import { setFaultsIn } from '../setFaults'
import { bySet, heldOf, membersOf, setHealth, SETS, sizeOf, sortedSets, toneOf, troublesOf } from '../sets'
import { counts, filtered, readFilter } from '../sieve'
import { app } from './apps'

const set = (name: string, more: Partial<ApplicationSet> = {}): ApplicationSet => ({ metadata: { name, namespace: 'argocd' }, spec: { generators: [{ list: { elements: [{}] } }], template: { spec: { project: 'default' } } }, ...more })
const of = (name: string, text: string): Application => {
  const made = app(text)
  return { ...made, metadata: { ...made.metadata, ownerReferences: [{ kind: 'ApplicationSet', name }] } }
}
const condition = (type: string, status: string, reason = '', message = ''): SetCondition => ({ type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' })
const HELD = condition('ResourcesUpToDate', 'False', 'DeletionsHeld', '4 of 5 Applications would be deleted, and more than 25 % have to be confirmed: 4-1a2b3c4d. Confirm with: kubectl annotate applicationset -n argocd shops --overwrite lynceus.dev/confirm-deletions=4-1a2b3c4d')

test('an application knows the set that owns it', () => {
  expect(ownerSet(of('shops', 'web'))).toEqual({ namespace: 'argocd', name: 'shops' })
  expect(ownerSet(app('web'))).toBeUndefined()
  expect(setPath({ namespace: 'a b', name: '../x' })).toBe('/applicationsets/a%20b/..%2Fx')
})

test('an application and a set in a tree have pages, others have none', () => {
  const page = (kind: string, group = 'argoproj.io') => pageOf({ group, kind, namespace: 'argocd', name: 'x' })
  expect([page('Application'), page('ApplicationSet'), page('AppProject'), page('Application', 'app.k8s.io')]).toEqual(['/applications/argocd/x', '/applicationsets/argocd/x', undefined, undefined])
})

test('conditions are good or bad by what they are about', () => {
  expect(['ErrorOccurred', 'ParametersGenerated', 'ResourcesUpToDate', 'RolloutProgressing', 'InvalidRolloutConfig', 'Other'].map((type) => `${toneOf(condition(type, 'True'))} ${toneOf(condition(type, 'False'))}`)).toEqual([
    'bad good', 'good bad', 'good bad', 'busy good', 'bad good', 'none none',
  ])
  expect(toneOf(HELD)).toBe('warn')
})

test('a health that is not told is read from the conditions', () => {
  const with_ = (...conditions: SetCondition[]) => setHealth(set('a', { status: { conditions } }))
  expect([with_(), with_(condition('ErrorOccurred', 'True')), with_(condition('RolloutProgressing', 'True')), with_(condition('ErrorOccurred', 'False'))]).toEqual(['Unknown', 'Degraded', 'Progressing', 'Healthy'])
  expect(setHealth(set('a', { status: { health: { status: 'Progressing' } } }))).toBe('Progressing')
})

test('a fault that three conditions tell is told once', () => {
  const conditions = [condition('ErrorOccurred', 'True', 'RenderTemplateParamsError', 'no'), condition('ParametersGenerated', 'False', 'ErrorOccurred', 'no'), condition('ResourcesUpToDate', 'False', 'ErrorOccurred', 'no')]
  expect(troublesOf(set('a', { status: { conditions } }))).toEqual([{ type: 'ErrorOccurred', reason: 'RenderTemplateParamsError', text: 'no', since: '2026-01-01T00:00:00Z' }])
})

test('deletions that wait are read with what confirms them', () => {
  const held = heldOf(set('shops', { status: { conditions: [HELD] } }))
  expect(held).toMatchObject({ count: 4, of: 5, token: '4-1a2b3c4d', text: '4 of 5 Applications would be deleted, and more than 25 % have to be confirmed: 4-1a2b3c4d' })
  expect(troublesOf(set('shops', { status: { conditions: [HELD] } }))).toEqual([])
  expect(heldOf(set('shops', { status: { conditions: [condition('ResourcesUpToDate', 'True')] } }))).toBeUndefined()
})

test('members are what is seen as it is now, and what only the status tells of', () => {
  const status = { resources: [{ kind: 'Application', name: 'shop-a', status: 'Synced', health: { status: 'Healthy' } }, { kind: 'Application', name: 'shop-b', status: 'Synced', health: { status: 'Healthy' } }], applicationStatus: [{ application: 'shop-b', status: 'Waiting', step: '2' }], resourcesCount: 3 }
  const own = [of('shops', 'shop-a Degraded OutOfSync')]
  const members = membersOf(set('shops', { status }), own)
  expect(members.map((one) => `${one.name} ${one.health} ${one.sync} ${one.app ? 'seen' : 'told'} ${one.step?.step ?? '-'}`)).toEqual(['shop-a Degraded OutOfSync seen -', 'shop-b Healthy Synced told 2'])
  expect(sizeOf(set('shops', { status }), own)).toBe(3)
  expect([...bySet([...own, app('alone')]).keys()]).toEqual(['argocd/shops'])
})

test('sets are found by project, by generator, also one inside another, and by words', () => {
  const all = [set('a', { spec: { generators: [{ matrix: { generators: [{ git: { repoURL: 'https://git.example/x' } }, { clusters: {} }] } }], template: { spec: { project: 'ops' } } } }), set('b')]
  const names = (words: string) => filtered(SETS, all, readFilter(SETS.facets, new URLSearchParams(words))).map((one) => one.metadata.name).join(' ')
  expect([names(''), names('generator=git'), names('generator=list'), names('project=ops'), names('search=git.example'), names('generator=git&project=default')]).toEqual(['a b', 'a', 'b', 'a', 'a', ''])
  expect([...counts(SETS, all, readFilter(SETS.facets, new URLSearchParams()), 'generator')]).toEqual([['matrix', 1], ['git', 1], ['clusters', 1], ['list', 1]])
})

test('the worst sets come first, or those with most applications', () => {
  const all = [set('a', { status: { health: { status: 'Healthy' }, resourcesCount: 9 } }), set('b', { status: { health: { status: 'Degraded' }, resourcesCount: 1 } })]
  expect(sortedSets(all, 'status', false, new Map()).map((one) => one.metadata.name)).toEqual(['b', 'a'])
  expect(sortedSets(all, 'applications', false, new Map()).map((one) => one.metadata.name)).toEqual(['a', 'b'])
  expect(sortedSets(all, 'name', true, new Map()).map((one) => one.metadata.name)).toEqual(['b', 'a'])
})

test.each([
  [{ list: { elements: [1, 2] } }, 'list × 2'],
  [{ clusters: { selector: { matchLabels: { env: 'prod' }, matchExpressions: [{ key: 'eu', operator: 'Exists' }] } } }, 'clusters env=prod, eu'],
  [{ git: { repoURL: 'https://git.example/shop/apps.git', revision: 'main', directories: [{ path: 'apps/*' }, { path: 'apps/old', exclude: true }] } }, 'git shop/apps · main · apps/* !apps/old'],
  [{ pullRequest: { github: { owner: 'shop', repo: 'web' } } }, 'pullRequest github shop/web'],
  [{ scmProvider: { gitlab: { group: 'shop' } } }, 'scmProvider gitlab shop'],
  [{ plugin: { configMapRef: { name: 'own' } }, selector: { matchLabels: { a: 'b' } } }, 'plugin own · a=b'],
  [{ merge: { mergeKeys: ['server'], generators: [{ clusters: {} }, { list: {} }] } }, 'merge server'],
  [{ list: null }, 'list × 0'],
  [{}, ''],
])('a generator in words: %j', (generator, words) => {
  const { sort, about } = generatorWords(generator)
  expect(`${sort} ${about}`.trim()).toBe(words)
})

test('generators inside of others are told with them', () => {
  const words = generatorWords({ matrix: { generators: [{ git: { template: { metadata: {} }, repoURL: 'x' } }, { clusters: {} }, 'broken'] } })
  expect(words.inner.map((one) => `${one.sort} ${one.hasTemplate}`)).toEqual(['git true', 'clusters false'])
  expect(selectorWords({ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x', 'y'] }, { key: 'b', operator: 'DoesNotExist' }] })).toBe('a not in (x, y), !b')
})

const TEXT = `metadata:
  name: shops
spec:
  generators:
    - list:
        elements:
          - name: a
          - name: b
    - git:
        repoURL: x
        template:
          spec:
            source:
              path: own
  template:
    spec:
      project: default
      source:
        path: "{{.path}}"
        helm:
          values: |
            a: 1
            b: {{.nope}}
  templatePatch: |
    one
    two
  strategy:
    rollingSync:
      steps:
        - {}
        - maxUpdate: 0
`
const lineOf = (message: string) => {
  const [fault] = setFaultsIn(message)
  return TEXT.split('\n')[(placed(TEXT, fault ?? { text: '' }).line ?? 0) - 1]?.trim()
}

test.each([
  ['unable to generate Applications of ApplicationSet: spec.generators[0].list, element 1, spec.source.helm.values line 2: template: base:2:5: executing "base" at <.nope>: map has no entry', 'b: {{.nope}}'],
  ['spec.generators[0].list, element 1: there is already an Application named a, from spec.generators[0].list, element 0 (and 1 more)', '- name: b'],
  ['spec.generators[1].git: repository x cannot be read: nothing there', '- git:'],
  ['spec.generators[1].git, element 0 (file a/b.yaml), spec.source.path line 1: template: base:1: no', 'path: own'],
  ['spec.generators[0].list, element 0, templatePatch line 2: no', 'two'],
  ['spec.generators[7]: lst is no generator that is known here', 'generators:'],
  ['there is no project nope', 'project: default'],
  ['the API takes no ApplicationSet whose template has a template for its project; apply it with kubectl', 'project: default'],
  ['ApplicationSet "x" has a field of the wrong type: spec: generators: expected a sequence, found a string', 'generators:'],
  ['existing ApplicationSet spec is different, use upsert flag to force update', 'name: shops'],
  ['maxUpdate of step 2 is 0, so it never ends', '- maxUpdate: 0'],
  ['step 1 has the operator "Exists"; use In or NotIn', '- {}'],
  ['something else', undefined],
])('the line of “%s” is found', (message, line) => {
  expect(lineOf(message)).toBe(line)
})

test('the list element and its generator are named without the second place of a message', () => {
  expect(setFaultsIn('spec.generators[0].list, element 1: there is already one, from spec.generators[0].list, element 0')[0]?.path).toEqual(['spec', 'generators', 0, 'list', 'elements', 1])
})

test('what was changed is put on the set as it is by now', () => {
  const before = setManifestOf(set('shops'))
  const after = structuredClone(before)
  ;(after.spec as Record<string, unknown>).goTemplate = true
  const now = set('shops', { spec: { generators: [{ clusters: {} }], template: { spec: { project: 'default' } } } })
  expect(changedSet(before, after, now)?.spec).toEqual({ ...now.spec, goTemplate: true })
  expect(changedSet(before, structuredClone(before), now)).toBeUndefined()
})

test('labels that were taken out of the text are named', () => {
  const before = { metadata: { labels: { a: '1', b: '2' }, annotations: { c: '3' } } }
  expect(takenAway(before, { metadata: { labels: { a: '2' }, annotations: { c: '3' } } })).toEqual(['metadata.labels.b'])
  expect(takenAway(before, {})).toEqual(['metadata.labels.a', 'metadata.labels.b', 'metadata.annotations.c'])
})

test('a confirmation is the set as it is, with one annotation more', () => {
  const shops = set('shops', { metadata: { name: 'shops', namespace: 'argocd', annotations: { kept: 'x' }, uid: 'u' } })
  expect(confirmed(shops, '4-1a2b3c4d')).toEqual({ ...setManifestOf(shops), metadata: { name: 'shops', namespace: 'argocd', annotations: { kept: 'x', 'lynceus.dev/confirm-deletions': '4-1a2b3c4d' } } })
})
