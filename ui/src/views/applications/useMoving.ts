/** Going through a long list with j and k; Enter opens, x chooses where several can be chosen. */

import { useState } from 'react'
import { useNavigate } from 'react-router'

import { useKeys } from '../../parts/useKeys'

export function appPath(app: { metadata: { name: string; namespace?: string } }): string {
  return `/applications/${encodeURIComponent(app.metadata.namespace ?? 'argocd')}/${encodeURIComponent(app.metadata.name)}`
}

/** `path` says where Enter leads. */
export function useMoving<T>(items: T[], path: (item: T) => string, show: (index: number) => void, step = 1, choose?: (item: T) => void): number {
  const [at, setAt] = useState(-1)
  const navigate = useNavigate()
  const go = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, at + by))
    setAt(next)
    show(next)
  }
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ...(step > 1 && { J: () => go(step), K: () => go(-step) }),
    x: () => {
      const item = items[at]
      if (item) choose?.(item)
    },
    Enter: (event) => {
      const item = items[at]
      if (item && !(event.target instanceof HTMLElement && event.target.closest('a,button'))) void navigate(path(item))
    },
  })
  return at
}
