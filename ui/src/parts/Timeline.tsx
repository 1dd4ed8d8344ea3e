/** Things that come one after the other, each with how far it is. */

import { IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, IconLoader2 } from '@tabler/icons-react'
import type { ReactNode } from 'react'

import type { Wave } from '../model/progress'
import { t } from '../texts'
import css from './timeline.module.css'

type State = Wave['state']

const SHAPE = { done: IconCircleCheckFilled, running: IconLoader2, failed: IconCircleXFilled, waiting: IconCircleDashed }
const TONE = { done: 'good', running: 'busy', failed: 'bad', waiting: 'none' }

export function StateIcon({ state, size, label = t.operation.states[state] }: { state: State; size: number; label?: string }) {
  const Shape = SHAPE[state]
  return <span className={`row tone-${TONE[state]}`} role="img" aria-label={label}><Shape size={size} className={state === 'running' ? 'spin' : ''} /></span>
}

export function Timeline({ children }: { children: ReactNode }) {
  return <ol className={css.timeline}>{children}</ol>
}

export function Knot({ state, label, children }: { state: State; label?: string; children: ReactNode }) {
  return (
    <li data-state={state}>
      <span className={css.knot}><StateIcon state={state} size={17} {...(label !== undefined && { label })} /></span>
      {children}
    </li>
  )
}
