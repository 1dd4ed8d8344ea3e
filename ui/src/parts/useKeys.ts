/** Keys without a modifier, while nobody writes into a field. */

import { useEffect, useRef } from 'react'

export type Keys = Record<string, (event: KeyboardEvent) => void>

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
}

export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    let last = ''
    let lastAt = 0
    const pressed = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (isWriting(event.target) && event.key !== 'Escape') return
      const pair = Date.now() - lastAt < 800 ? `${last} ${event.key}` : ''
      last = event.key
      lastAt = Date.now()
      const run = latest.current[pair] ?? latest.current[event.key]
      if (!run) return
      run(event)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
}
