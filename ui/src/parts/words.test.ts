import { expect, test } from 'vitest'

import { changed } from './words'

test('words are set, taken away and left alone', () => {
  const after = (change: Record<string, string | string[] | undefined>) => changed(new URLSearchParams('a=1&b=2&b=3'), change).toString()
  expect(after({ a: undefined })).toBe('b=2&b=3')
  expect(after({ b: [] })).toBe('a=1')
  expect(after({ b: ['x', 'y'], c: 'z' })).toBe('a=1&b=x&b=y&c=z')
  expect(after({ a: '' })).toBe('b=2&b=3')
})
