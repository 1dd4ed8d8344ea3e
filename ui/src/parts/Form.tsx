/** What forms have in common: a request that is under way or was refused, and fields of several lines, rows and lists. */

import { ActionIcon, Button, Modal, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'

import { linesOf } from '../model/draft'
import { faultsIn, type Fault } from '../model/fields'
import { t } from '../texts'
import { messageOf, Trouble } from './Feedback'
import css from './form.module.css'

export interface Sending {
  isBusy: boolean
  error: unknown
  /** What the refusal says of single fields. */
  faults: Fault[]
  send: (request: () => Promise<unknown>, then?: () => void) => void
}

/** `read` says which fields a refusal is about. */
export function useSending(read: (message: string) => Fault[] = faultsIn): Sending {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const send = (request: () => Promise<unknown>, then?: () => void) => {
    setBusy(true)
    setError(undefined)
    request().then(() => then?.(), setError).finally(() => setBusy(false))
  }
  return { isBusy, error, send, faults: error === undefined ? [] : read(messageOf(error)) }
}

interface DialogProps {
  title: string
  label: string
  close: () => void
  submit: () => void
  sending: Sending
  isReady?: boolean
  isDanger?: boolean
  size?: number | string
  children: ReactNode
}

/** A small form in a dialog. Enter sends it; what the server refuses stands below the fields. */
export function FormDialog({ title, label, close, submit, sending, isReady = true, isDanger = false, size = 460, children }: DialogProps) {
  return (
    <Modal opened onClose={close} size={size} title={<strong>{title}</strong>} closeButtonProps={{ 'aria-label': t.common.close }}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {children}
        {sending.error !== undefined && <Trouble error={sending.error} what={t.edit.refused} />}
        <div className={css.buttons}>
          <Button variant="default" onClick={close}>{t.edit.cancel}</Button>
          <Button type="submit" loading={sending.isBusy} disabled={!isReady} {...(isDanger && { color: 'red' })}>{label}</Button>
        </div>
      </form>
    </Modal>
  )
}

interface FieldProps {
  label: string
  value: string | undefined
  set: (value: string) => void
  error?: ReactNode
  hint?: string
  placeholder?: string
  isRequired?: boolean
  isMono?: boolean
}

export function Field({ label, value, set, error, hint, placeholder, isRequired = false, isMono = false }: FieldProps) {
  return (
    <TextInput
      label={label} description={hint} placeholder={placeholder} required={isRequired} error={error} value={value ?? ''} onChange={(event) => set(event.target.value)} autoComplete="off" spellCheck={false}
      {...(isMono && { classNames: { input: css.mono } })}
    />
  )
}

export function Area({ label, value, set, error, hint, placeholder, rows = 3 }: FieldProps & { rows?: number }) {
  return (
    <Textarea
      size="xs" label={label} description={hint} placeholder={placeholder} error={error} rows={rows} value={value ?? ''} onChange={(event) => set(event.target.value)} autoComplete="off" spellCheck={false}
      classNames={{ input: css.mono }}
    />
  )
}

/** A list as lines. What is written is kept as it is until somebody leaves the field: an empty line is where the next item comes. */
export function ListField({ items, set, ...props }: Omit<FieldProps, 'value' | 'set'> & { items: string[] | undefined; set: (items: string[]) => void }) {
  const [text, setText] = useState((items ?? []).join('\n'))
  const change = (value: string) => {
    setText(value)
    set(linesOf(value))
  }
  return <Area {...props} hint={props.hint ?? t.edit.onePerLine} value={text} set={change} rows={Math.min(8, Math.max(2, text.split('\n').length))} />
}

export interface Pair {
  name: string
  value: string
}

/** Names and values, a row each. */
export function Pairs({ label, pairs, set, add, names }: { label: string; pairs: Pair[]; set: (pairs: Pair[]) => void; add: string; names: [string, string] }) {
  const change = (index: number, part: Partial<Pair>) => set(pairs.map((pair, at) => (at === index ? { ...pair, ...part } : pair)))
  return (
    <fieldset className={css.pairs}>
      <legend>{label}</legend>
      {pairs.map((pair, index) => (
        <div key={index} className={css.pair}>
          <TextInput aria-label={`${names[0]} ${index + 1}`} placeholder={names[0]} value={pair.name} onChange={(event) => change(index, { name: event.target.value })} classNames={{ input: css.mono }} spellCheck={false} />
          <TextInput aria-label={`${names[1]} ${index + 1}`} placeholder={names[1]} value={pair.value} onChange={(event) => change(index, { value: event.target.value })} classNames={{ input: css.mono }} spellCheck={false} />
          <ActionIcon aria-label={t.edit.removeRow(pair.name || String(index + 1))} onClick={() => set(pairs.filter((_, at) => at !== index))}><IconX size={14} /></ActionIcon>
        </div>
      ))}
      <button type="button" className={`link ${css.add}`} onClick={() => set([...pairs, { name: '', value: '' }])}><IconPlus size={13} aria-hidden /> {add}</button>
    </fieldset>
  )
}
