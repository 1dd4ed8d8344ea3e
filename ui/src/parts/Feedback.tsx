/** What is shown while something loads, when there is nothing, and when something went wrong. */

import { Button, Loader } from '@mantine/core'
import { IconAlertTriangle, IconLock } from '@tabler/icons-react'
import { useSyncExternalStore, type ReactNode } from 'react'

import { ApiError } from '../api/client'
import { t } from '../texts'
import css from './feedback.module.css'

export function Loading({ text = t.common.loading }: { text?: string }) {
  return (
    <div className={css.middle} role="status">
      <Loader size="sm" color="gray" />
      <span className="quiet">{text}</span>
    </div>
  )
}

export function Empty({ icon, title, children }: { icon?: ReactNode; title: string; children?: ReactNode }) {
  return (
    <div className={css.middle}>
      {icon && <span className="quiet">{icon}</span>}
      <strong>{title}</strong>
      {children && <div className={css.words}>{children}</div>}
    </div>
  )
}

/** Says why something could not be shown. What the rights forbid is no error of the page and is told apart. */
export function Trouble({ error, what, again }: { error: unknown; what?: string; again?: () => void }) {
  const isRefusal = error instanceof ApiError && error.isRefusal
  return (
    <div className={css.trouble} role="alert" data-refusal={isRefusal || undefined}>
      {isRefusal ? <IconLock size={18} /> : <IconAlertTriangle size={18} />}
      <div className="grow">
        <strong>{isRefusal ? t.common.refused : (what ?? t.common.wrong)}</strong>
        <div className={css.message}>{messageOf(error)}</div>
        {isRefusal && <div className="quiet">{t.common.refusedHint}</div>}
      </div>
      {again && !isRefusal && <Button variant="default" onClick={again}>{t.common.again}</Button>}
    </div>
  )
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface Told {
  id: number
  text: string
  isBad: boolean
  isRefusal: boolean
}

let told: Told[] = []
let listeners: (() => void)[] = []
let count = 0

function change(next: Told[]): void {
  told = next
  listeners.forEach((listener) => listener())
}

function add(one: Omit<Told, 'id'>): void {
  const id = ++count
  change([...told.slice(-3), { ...one, id }])
  setTimeout(() => change(told.filter((other) => other.id !== id)), one.isBad ? 12_000 : 5_000)
}

export function tell(text: string): void {
  add({ text, isBad: false, isRefusal: false })
}

export function tellTrouble(error: unknown): void {
  add({ text: messageOf(error), isBad: true, isRefusal: error instanceof ApiError && error.isRefusal })
}

/** The short notices in the corner. */
export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.push(listener)
      return () => (listeners = listeners.filter((other) => other !== listener))
    },
    () => told,
  )
  return (
    <div className={css.notices} role="status" aria-live="polite">
      {shown.map((one) => (
        <div key={one.id} className={css.notice} data-bad={one.isBad || undefined} data-refusal={one.isRefusal || undefined}>
          {one.isRefusal ? <IconLock size={16} /> : one.isBad ? <IconAlertTriangle size={16} /> : null}
          <div className="grow">
            {one.isRefusal && <strong>{t.common.refused}</strong>}
            <div>{one.text}</div>
          </div>
          <button type="button" className={css.close} aria-label={t.common.close} onClick={() => change(told.filter((other) => other.id !== one.id))}>×</button>
        </div>
      ))}
    </div>
  )
}
