import { expect, test } from 'vitest'

import type { ManagedFields } from '../../api/types'
import { compare, fold, paired, readPatch } from '../diff'
import { writerOf } from '../writers'
import { toLines } from '../yaml'

const shown = (left: unknown, right: unknown) => compare(toLines(left), toLines(right)).map((row) => `${{ same: ' ', removed: '-', added: '+' }[row.sort]}${row.text}`)

test('only what differs is removed and added', () => {
  expect(shown({ spec: { image: 'a:1', replicas: 1 } }, { spec: { image: 'a:1', replicas: 2 } })).toEqual([' spec:', '   image: a:1', '-  replicas: 1', '+  replicas: 2'])
})

test('what is far from a change is folded', () => {
  const value = (n: number) => Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${String(i).padStart(2, '0')}`, i === 20 ? n : i]))
  const pieces = fold(compare(toLines(value(1)), toLines(value(2))), 3)
  expect(pieces.map((piece) => `${piece.sort} ${piece.rows.length}`)).toEqual(['fold 17', 'rows 8', 'fold 6'])
})

test('a few lines are not worth folding', () => {
  const pieces = fold(compare(toLines({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }), toLines({ a: 9, b: 2, c: 3, d: 4, e: 5, f: 6 })), 3)
  expect(pieces.every((piece) => piece.sort === 'rows')).toBe(true)
})

test('side by side, changes stand beside each other', () => {
  const pairs = paired(compare(toLines({ a: 1, b: 1 }), toLines({ a: 2, b: 1, c: 3 })))
  expect(pairs.map((pair) => `${pair.left?.text ?? ''}|${pair.right?.text ?? ''}`)).toEqual(['a: 1|a: 2', 'b: 1|b: 1', '|c: 3'])
})

test('a patch is read with its line numbers', () => {
  const [file] = readPatch('diff --git a/x/y.yaml b/x/y.yaml\n--- a/x/y.yaml\n+++ b/x/y.yaml\n@@ -34,2 +34,3 @@\n a\n-b\n+c\n+--- d\n')
  expect(file?.file).toBe('x/y.yaml')
  expect(file?.rows.map((row) => `${row.left ?? ''}:${row.right ?? ''} ${row.sort} ${row.text}`)).toEqual(['34:34 same a', '35: removed b', ':35 added c', ':36 added --- d'])
})

const LIVE = { spec: { replicas: 2, containers: [{ name: 'a', image: 'x' }, { name: 'b', image: 'y' }], tags: ['q'] } }
const MANAGED: ManagedFields[] = [
  { manager: 'git', operation: 'Apply', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:containers': { 'k:{"name":"b"}': { '.': {}, 'f:image': {} } }, 'f:tags': { 'v:"q"': {} } } } },
  { manager: 'scaler', operation: 'Update', time: '2026-01-02T00:00:00Z', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
]

test('a field belongs to who wrote it last', () => {
  const by = (...path: (string | number)[]) => writerOf(LIVE, path, MANAGED)?.manager
  expect(by('spec', 'replicas')).toBe('scaler')
  expect(by('spec', 'containers', 1, 'image')).toBe('git')
  expect(by('spec', 'containers', 0, 'image')).toBeUndefined()
  expect(by('spec', 'tags', 0)).toBe('git')
  expect(by('spec')).toBeUndefined()
  expect(writerOf(LIVE, ['spec', 'replicas'], undefined)).toBeUndefined()
})
