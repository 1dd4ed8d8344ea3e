import { expect, test } from 'vitest'

import type { Application } from '../../api/types'
import { stillSo } from '../reasons'
import { app } from './apps'

const given = (...codes: string[]) => codes.map((code) => ({ code, text: code }))
const codes = (of: Application, ...all: string[]) => stillSo(given(...all), of).map((one) => one.code)
const during = (text: string, phase: string): Application => {
  const made = app(text)
  return { ...made, status: { ...made.status, operationState: { phase } } }
}

test('a sync that has ended waits for nothing, whatever was said before', () => {
  expect(codes(during('shop Progressing OutOfSync', 'Running'), 'SyncWaits', 'Unhealthy')).toEqual(['SyncWaits', 'Unhealthy'])
  expect(codes(during('shop Progressing OutOfSync', 'Terminating'), 'SyncWaits')).toEqual(['SyncWaits'])
  expect(codes(during('shop Progressing OutOfSync', 'Succeeded'), 'SyncWaits', 'Unhealthy')).toEqual(['Unhealthy'])
  expect(codes(during('shop Healthy Synced', 'Failed'), 'SyncWaits', 'SyncFailed')).toEqual(['SyncFailed'])
})

test('a sync that was asked for and has not begun may wait', () => {
  expect(codes({ ...app('shop Healthy OutOfSync'), operation: {} }, 'SyncWaits')).toEqual(['SyncWaits'])
})

test('differences and deletions that are over are not told', () => {
  expect(codes(app('shop Degraded Synced'), 'OutOfSync', 'DeletionWaits', 'Unhealthy')).toEqual(['Unhealthy'])
  expect(codes(app('shop Degraded OutOfSync'), 'OutOfSync')).toEqual(['OutOfSync'])
})
