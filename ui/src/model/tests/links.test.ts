import { expect, test } from 'vitest'

import { commitLink, linkAnnotation, safeLink, webAddress } from '../links'

test('only three schemes are followed', () => {
  for (const url of ['https://a.example/x?y#z', 'http://a.example', 'mailto:a@b.example', '  https://a.example ']) expect(safeLink(url)).toBe(url.trim())
})

test('everything else is text', () => {
  const bad = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\tscript:alert(1)', 'java\nscript:alert(1)', '\u0001javascript:alert(1)', 'data:text/html,<script>', 'vbscript:x', 'file:///etc/passwd', '//a.example', '/login', 'a.example', '', undefined]
  for (const url of bad) expect(safeLink(url)).toBeUndefined()
})

test('an annotation may carry a title', () => {
  expect(linkAnnotation('link.argocd.argoproj.io/grafana', 'https://g.example')).toEqual({ title: 'grafana', url: 'https://g.example' })
  expect(linkAnnotation('link.argocd.argoproj.io/x', 'Board|https://g.example')).toEqual({ title: 'Board', url: 'https://g.example' })
  expect(linkAnnotation('other/x', 'https://g.example')).toBeUndefined()
})

test('a repository has a page where its address tells which', () => {
  expect(webAddress('git@git.example:shop/deploy.git')).toBe('https://git.example/shop/deploy')
  expect(webAddress('https://git.example/shop/deploy.git')).toBe('https://git.example/shop/deploy')
  expect(webAddress('file:///srv/demo')).toBeUndefined()
  expect(webAddress('javascript:alert(1).git')).toBeUndefined()
})

test('a commit has a page', () => {
  const commit = 'e99a18c428cb38d5f260853678922e03ab12fd90'
  expect(commitLink('https://git.example/a/b.git', commit)).toBe(`https://git.example/a/b/commit/${commit}`)
  expect(commitLink('https://gitlab.example/a/b', commit)).toBe(`https://gitlab.example/a/b/-/commit/${commit}`)
  expect(commitLink('https://git.example/a/b.git', 'main')).toBeUndefined()
})
