import { expect, test } from 'vitest'

import type { TreeNode } from '../../api/types'
import { every, forest } from '../forest'
import { picture, type Wish, fitted, SIZE } from '../picture'
import { app } from './apps'

/** `Pod web-1 < ReplicaSet web : Degraded`. */
function node(text: string): TreeNode {
  const [what = '', health] = text.split(' : ')
  const [own = '', parent] = what.split(' < ')
  const ref = (words: string) => ({ kind: words.split(' ')[0] ?? '', name: words.split(' ')[1] ?? '', uid: words, namespace: 'n' })
  return { ...ref(own), ...(parent && { parentRefs: [ref(parent)] }), ...(health && { health: { status: health } }) }
}

const NOTHING: Wish = { opened: new Set(), folded: new Set() }

function draw(lines: string[], wish: Partial<Wish> = {}): string[] {
  const shown = picture(forest({ nodes: lines.map(node) }, app('web')), { ...NOTHING, ...wish })
  return shown.slice(1).map((one) => `${' '.repeat(one.depth - 1)}${one.sort === 'group' ? `${one.members.length}× ${one.members[0]?.node.kind}` : `${one.plant?.node.kind} ${one.plant?.node.name}`}${one.hidden > 0 ? ` +${one.hidden}` : ''}`)
}

const numbered = <T,>(count: number, line: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => line(n))

test('children stand below their parents', () => {
  expect(draw(['Pod p < ReplicaSet r : Healthy', 'ReplicaSet r < Deployment d : Healthy', 'Deployment d : Healthy'])).toEqual(['Deployment d', ' ReplicaSet r', '  Pod p'])
})

test('many of a kind that are well are one box; what is not well stands alone', () => {
  const pods = numbered(20, (n) => `Pod p${n} < ReplicaSet r : ${n === 7 ? 'Degraded' : 'Healthy'}`)
  expect(draw(['ReplicaSet r : Healthy', ...pods])).toEqual(['ReplicaSet r', ' Pod p7', ' 19× Pod'])
})

test('a group that was opened shows its members', () => {
  const pods = numbered(6, (n) => `Pod p${n} < ReplicaSet r : Healthy`)
  const opened = new Set(['/ReplicaSet/n/r>/Pod'])
  expect(draw(['ReplicaSet r : Healthy', ...pods], { opened })).toHaveLength(7)
})

test('what is folded by hand says how much it hides', () => {
  expect(draw(['Deployment d', 'ReplicaSet r < Deployment d', 'Pod p < ReplicaSet r'], { folded: new Set(['/Deployment/n/d']) })).toEqual(['Deployment d +2'])
})

test('of a thousand nodes only what matters is shown', () => {
  const lines = numbered(50, (n) => n).flatMap((n) => [`Deployment d${n} : Healthy`, `ReplicaSet r${n} < Deployment d${n} : Healthy`, ...numbered(18, (p) => `Pod p${n}-${p} < ReplicaSet r${n} : ${n === 3 && p === 2 ? 'Degraded' : 'Healthy'}`)])
  expect([...every(forest({ nodes: lines.map(node) }, undefined))]).toHaveLength(1000)
  expect(draw(lines)).toEqual(['Deployment d3', ' ReplicaSet r3', '  Pod p3-2', '  17× Pod', '49× Deployment +931'])
})

test('what is looked for is unfolded', () => {
  const lines = numbered(50, (n) => n).flatMap((n) => [`Deployment d${n} : Healthy`, `Pod p${n} < Deployment d${n} : Healthy`])
  expect(draw(lines, { needed: new Set(['/Pod/n/p9']) })).toEqual(['Deployment d9', ' Pod p9', '49× Deployment +49'])
})

test('parents in a circle are cut, not followed for ever', () => {
  expect(draw(['A a < B b', 'B b < A a'])).toHaveLength(2)
})

test('what Git wants and is not there is shown as missing', () => {
  const wanted = app('web')
  wanted.status = { ...wanted.status, resources: [{ kind: 'Service', namespace: 'n', name: 's', status: 'OutOfSync' }] }
  const [one] = forest({ nodes: [] }, wanted)
  expect([one?.node.name, one?.node.health?.status]).toEqual(['s', 'Missing'])
})

test('what nobody could compare or look at is not said to be missing', () => {
  const unknown = app('web Unknown Unknown')
  unknown.status = { ...unknown.status, resources: [{ kind: 'Service', namespace: 'n', name: 's', status: 'Unknown' }] }
  const [one] = forest({ nodes: [] }, unknown)
  expect([one?.node.name, one?.node.health?.status]).toEqual(['s', undefined])
})

test('no two boxes of a column stand on each other', () => {
  const shown = picture(forest({ nodes: ['A a', 'B b < A a', 'B c < A a', 'C d'].map(node) }, undefined), NOTHING)
  const places = shown.map((one) => `${one.x} ${one.y}`)
  expect(new Set(places).size).toBe(places.length)
})

test('a small picture stands in the middle, and one that would be too small begins at its corner', () => {
  const room = { width: 1000, height: 450 }
  expect(fitted([{ x: 0, y: 0 }, { x: 400, y: 100 }], room)).toEqual({ x: (1000 - 400 - SIZE.width) / 2, y: (450 - 100 - SIZE.height) / 2, zoom: 1 })
  expect(fitted([{ x: 0, y: 0 }, { x: 0, y: 5000 }], room)).toEqual({ x: 24, y: 24, zoom: 0.8 })
})
