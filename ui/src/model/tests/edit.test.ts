import { expect, test } from 'vitest'

import { placed, readDocument, written } from '../document'
import { emptyDraft, isName, lifetime, linesOf, manifestOf, toolOf } from '../draft'
import { faultOf, faultsIn } from '../fields'
import { mergePatch, tidied } from '../patch'
import { each } from '../pool'

test('a patch says what changed, and null for what goes', () => {
  const before = { path: 'a', helm: { parameters: [{ name: 'x' }], releaseName: 'r' }, same: [1, { a: 2 }] }
  expect(mergePatch(before, { path: 'b', helm: { parameters: [{ name: 'y' }] }, same: [1, { a: 2 }] })).toEqual({ path: 'b', helm: { parameters: [{ name: 'y' }], releaseName: null } })
  expect(mergePatch(before, structuredClone(before))).toBeUndefined()
})

test('what was emptied is left out, and false and zero are not empty', () => {
  expect(tidied({ a: '', b: [], c: { d: { x: '' } }, e: false, f: 0, g: 'x', automated: {} })).toEqual({ e: false, f: 0, g: 'x', automated: {} })
})

test.each([
  ['Application "x" has a field of the wrong type: spec: source: helm: parameters: expected a sequence, found a string', ['spec', 'source', 'helm', 'parameters']],
  ['Application.argoproj.io "B" is invalid: metadata.name: Invalid value: "B"', ['metadata', 'name']],
  ['Application referencing project nope which does not exist', ['spec', 'project']],
  ['spec.sources[1].chart is required', ['spec', 'sources', 1, 'chart']],
  ["invalid policy rule 'p, x': must be of the form", ['spec', 'roles']],
  ['something else entirely', undefined],
])('the field of “%s” is found', (message, path) => {
  expect(faultsIn(message)[0]?.path).toEqual(path)
})

test('each of several faults is told at its field', () => {
  const faults = faultsIn('application spec for bad is invalid: spec.source.repoURL is required; Destination server missing from app spec')
  expect(faultOf(faults, 'spec.source.repoURL')).toContain('repoURL is required')
  expect(faultOf(faults, 'spec.destination')).toContain('Destination server')
  expect(faultOf(faults, 'spec.project')).toBeUndefined()
})

test('YAML that cannot be read is told with its line', () => {
  expect(readDocument('a: 1\nb: [\n')).toMatchObject({ fault: { line: 3 } })
  expect(readDocument('a: 1\na: 2\n')).toMatchObject({ fault: { line: 2 } })
  expect(readDocument('- a\n')).toMatchObject({ fault: { line: 1 } })
  expect(readDocument('a: 1\n---\nb: 2\n')).toHaveProperty('fault')
})

test('a document that would unfold without end is refused', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...'bcdefg'.split('').map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[index]}`).join(',')}]`)].join('\n')
  expect(readDocument(bomb)).toHaveProperty('fault')
})

test('what is written reads back as it was', () => {
  const value = { a: 'true', b: '1', c: 'x: y', d: ['', null, 3], e: 'two\nlines\n', f: '<b>' }
  expect(readDocument(written(value))).toEqual({ value })
})

test('a fault is placed at its field, or at the nearest thing around it', () => {
  const text = 'metadata:\n  name: x\nspec:\n  sources:\n    - path: a\n    - path: b\n'
  expect(placed(text, { text: 'no', path: ['spec', 'sources', 1, 'path'] }).line).toBe(6)
  expect(placed(text, { text: 'no', path: ['spec', 'destination', 'server'] }).line).toBe(3)
  expect(placed(text, { text: 'no' })).toEqual({ text: 'no' })
})

test('a draft has no empty fields and no annotations of the engine', () => {
  const draft = emptyDraft()
  draft.metadata.name = 'x'
  draft.metadata.annotations = { 'lynceus.dev/reasons': '[]', kept: 'y' }
  expect(manifestOf(draft)).toEqual({
    apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name: 'x', namespace: 'argocd', annotations: { kept: 'y' } },
    spec: { project: 'default', destination: { server: 'https://kubernetes.default.svc' }, source: { targetRevision: 'HEAD' }, syncPolicy: { syncOptions: ['CreateNamespace=true'] } },
  })
})

test('the tool, lines and lifetimes are read as people mean them', () => {
  expect([toolOf({ repoURL: '', chart: 'x' }, undefined), toolOf({ repoURL: '' }, 'Kustomize'), toolOf({ repoURL: '' }, undefined)]).toEqual(['helm', 'kustomize', 'directory'])
  expect(linesOf(' a\n\nb \n')).toEqual(['a', 'b'])
  expect(['', '30', '12h', '5m', 'soon'].map(lifetime)).toEqual([0, 2_592_000, 43_200, 300, undefined])
})

test('names are those that Kubernetes takes', () => {
  expect(['shop', 'shop-1.eu', 'Shop', 'a b', '../x', '-a', 'a-', ''].map(isName)).toEqual([true, true, false, false, false, false, false, false])
})

test('many things are done a few at a time, and one that fails does not stop the others', async () => {
  let now = 0
  let most = 0
  const done: [number, boolean][] = []
  const run = async (item: number) => {
    most = Math.max(most, ++now)
    await Promise.resolve()
    now--
    if (item === 2) throw new Error('no')
  }
  await each([1, 2, 3, 4, 5], 2, run, ({ item, error }) => done.push([item, error === undefined]))
  expect(most).toBe(2)
  expect(done.sort(([a], [b]) => a - b)).toEqual([[1, true], [2, false], [3, true], [4, true], [5, true]])
})
