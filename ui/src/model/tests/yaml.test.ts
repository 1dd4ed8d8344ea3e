import { expect, test } from 'vitest'

import { toLines, toYaml } from '../yaml'

const OBJECT = { kind: 'Pod', apiVersion: 'v1', spec: { containers: [{ name: 'web', args: ['a: b', '1'], env: [] }], hostNetwork: true }, metadata: { name: 'x', labels: {}, note: 'two\nlines\n' } }

test('an object is written as people write it', () => {
  expect(toYaml(OBJECT)).toBe(`apiVersion: v1
kind: Pod
metadata:
  name: x
  labels: {}
  note: |
    two
    lines
spec:
  containers:
  - name: web
    args:
    - "a: b"
    - "1"
    env: []
  hostNetwork: true`)
})

test('what would mean something else is quoted', () => {
  const quoted = ['', 'true', 'No', 'null', '~', '12', '1e3', '-x', '.5', '*a', '&a', '{a', 'a: b', 'a #b', 'a:', ' a', 'a ', '@a', '%a', 'a\tb']
  for (const text of quoted) expect(toYaml({ a: text })).toBe(`a: ${JSON.stringify(text)}`)
  for (const text of ['a', 'a/b:c', 'x-y', 'it is <b>', 'http://a.example', 'a#b']) expect(toYaml({ a: text })).toBe(`a: ${text}`)
})

test('each line knows its field', () => {
  const paths = toLines(OBJECT).map((line) => line.path.join('.'))
  expect(paths.slice(-7)).toEqual(['spec.containers', 'spec.containers.0.name', 'spec.containers.0.args', 'spec.containers.0.args.0', 'spec.containers.0.args.1', 'spec.containers.0.env', 'spec.hostNetwork'])
})

test('lists in lists, and nothing at all', () => {
  expect(toYaml({ a: [[1, 2], []] })).toBe('a:\n- - 1\n  - 2\n- []')
  expect(toYaml(null)).toBe('null')
})
