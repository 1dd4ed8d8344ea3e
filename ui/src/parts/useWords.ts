/** The state of a view, which is all in its address. */

import { useCallback, useMemo } from 'react'
import { useSearchParams } from 'react-router'

import { changed, type Change } from './words'

export interface Words {
  get: (name: string) => string | undefined
  all: URLSearchParams
  /** Changes some words. Only steps that people would want to go back over make an entry in the history. */
  set: (change: Change, isStep?: boolean) => void
}

export function useWords(): Words {
  const [all, setAll] = useSearchParams()
  const set = useCallback(
    (change: Change, isStep = false) => {
      setAll((before) => changed(before, change), { replace: !isStep, preventScrollReset: true })
    },
    [setAll],
  )
  return useMemo(() => ({ all, set, get: (name: string) => all.get(name) ?? undefined }), [all, set])
}
