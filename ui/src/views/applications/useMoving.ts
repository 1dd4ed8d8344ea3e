/** Going through a long list with j and k; Enter opens, x chooses where several can be chosen. */

import { useState } from 'react'
import { useNavigate } from 'react-router'

import type { Application } from '../../api/types'
import { useKeys } from '../../parts/useKeys'

export function appPath(app: { metadata: { name: string; namespace?: string } }): string {
  return `/applications/${encodeURIComponent(app.metadata.namespace ?? 'argocd')}/${encodeURIComponent(app.metadata.name)}`
}

export function useMoving(apps: Application[], show: (index: number) => void, step = 1, choose?: (app: Application) => void): number {
  const [at, setAt] = useState(-1)
  const navigate = useNavigate()
  const go = (by: number) => {
    const next = Math.max(0, Math.min(apps.length - 1, at + by))
    setAt(next)
    show(next)
  }
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    ...(step > 1 && { J: () => go(step), K: () => go(-step) }),
    x: () => {
      const app = apps[at]
      if (app) choose?.(app)
    },
    Enter: (event) => {
      const app = apps[at]
      if (app && !(event.target instanceof HTMLElement && event.target.closest('a,button'))) void navigate(appPath(app))
    },
  })
  return at
}
