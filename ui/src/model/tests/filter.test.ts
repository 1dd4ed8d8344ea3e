import { expect, test } from 'vitest'

import { counts, filtered, readFilter, sorted } from '../filter'
import { merge } from '../live'
import { isEmpty } from '../sieve'
import { app } from './apps'

const APPS = [
  app('web Healthy Synced project=shop team=a'),
  app('api Degraded Synced project=shop team=b'),
  app('mail Healthy OutOfSync project=ops namespace=mail server=https://eu.example repo=https://git.example/mail.git'),
]

const names = (words: string) => filtered(APPS, readFilter(new URLSearchParams(words))).map((one) => one.metadata.name).join(' ')

test('an address without words shows all', () => {
  expect(isEmpty(readFilter(new URLSearchParams('view=table')))).toBe(true)
  expect(names('view=table')).toBe('web api mail')
})

test('values of one facet are alternatives, facets together all have to fit', () => {
  expect(names('health=Degraded&health=Healthy')).toBe('web api mail')
  expect(names('health=Healthy&project=shop')).toBe('web')
  expect(names('label=team%3Da&label=team%3Db')).toBe('web api')
  expect(names('cluster=eu.example')).toBe('mail')
  expect(names('sync=OutOfSync&project=shop')).toBe('')
})

test('all words of a search have to be found, anywhere', () => {
  expect(names('search=MAIL')).toBe('mail')
  expect(names('search=git.example+ops')).toBe('mail')
  expect(names('search=web+mail')).toBe('')
})

test('a facet counts what each of its choices would leave', () => {
  const found = counts(APPS, readFilter(new URLSearchParams('project=shop&health=Healthy')), 'health')
  expect([...found]).toEqual([['Healthy', 1], ['Degraded', 1]])
})

test('a choice that fits nothing any more is still shown', () => {
  expect([...counts(APPS, readFilter(new URLSearchParams('health=Missing')), 'health')]).toContainEqual(['Missing', 0])
})

test('the worst come first', () => {
  const order = (reversed: boolean) => sorted(APPS, 'status', reversed).map((one) => one.metadata.name).join(' ')
  expect(order(false)).toBe('api mail web')
  expect(order(true)).toBe('web mail api')
})

test('events change, add and take away, and the rest stays the same object', () => {
  const changed = merge(APPS, [
    { type: 'MODIFIED', item: app('api Healthy') },
    { type: 'DELETED', item: app('mail') },
    { type: 'ADDED', item: app('new Missing') },
    { type: 'DELETED', item: app('unknown') },
  ])
  expect(changed.map((one) => `${one.metadata.name} ${one.status?.health?.status}`)).toEqual(['web Healthy', 'api Healthy', 'new Missing'])
  expect(changed[0]).toBe(APPS[0])
})
