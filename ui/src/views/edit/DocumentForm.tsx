/** YAML that is sent to the server, with its faults at their lines and what changes shown before it is sent. */

import { Button, SegmentedControl } from '@mantine/core'
import { useMemo, useState, type ReactNode } from 'react'

import { ApiError } from '../../api/client'
import { compare } from '../../model/diff'
import { placed, readDocument, type LineFault } from '../../model/document'
import type { Fault } from '../../model/fields'
import type { Sending } from '../../parts/Form'
import { DiffView } from '../../parts/DiffView'
import { Trouble } from '../../parts/Feedback'
import { YamlEditor } from '../../parts/YamlEditor'
import { t } from '../../texts'
import css from './edit.module.css'

interface Props {
  label: string
  /** What was there; a new thing has nothing to compare with. */
  before?: string
  text: string
  setText: (text: string) => void
  sending: Sending
  save: (value: Record<string, unknown>) => void
  button: string
  /** What else is known to be wrong with this very text. */
  told?: Fault[]
  /** What it would come to, for things of which that is not plain to see; `write` leads back to the text. */
  preview?: (value: Record<string, unknown>, write: () => void) => ReactNode
}

const asLines = (text: string) => text.split('\n').map((line) => ({ text: line, path: [] }))

export function DocumentForm({ label, before, text, setText, sending, save, button, told = [], preview }: Props) {
  const [view, setView] = useState('write')
  const [sent, setSent] = useState('')
  const read = useMemo(() => readDocument(text), [text])
  const isSame = before === text
  // What the server said is about what was sent; it goes once that is changed.
  const refused: LineFault[] = [...(sent === text ? sending.faults : []), ...told].map((fault) => placed(text, fault))
  const isRefusal = sending.error instanceof ApiError && sending.error.isRefusal
  const faults = 'fault' in read ? [read.fault] : isRefusal ? [] : refused
  const views = [
    { value: 'write', label: t.edit.write },
    ...(before === undefined ? [] : [{ value: 'changes', label: t.edit.changes }]),
    ...(preview ? [{ value: 'preview', label: t.edit.preview, disabled: 'fault' in read }] : []),
  ]
  const send = () => {
    if ('fault' in read) return
    setSent(text)
    save(read.value)
  }
  return (
    <div className={css.form}>
      {views.length > 1 && <SegmentedControl aria-label={t.edit.how} value={view} onChange={setView} data={views} className={css.switch} />}
      {view === 'changes' && before !== undefined ? (
        isSame ? <p className="quiet">{t.edit.noChanges}</p> : <DiffView rows={compare(asLines(before), asLines(text))} />
      ) : view === 'preview' && preview && 'value' in read ? (
        preview(read.value, () => setView('write'))
      ) : (
        <YamlEditor label={label} value={text} set={setText} faults={faults} />
      )}
      {sent === text && isRefusal && <Trouble error={sending.error} what={t.edit.refused} />}
      <div className={css.foot}>
        {before !== undefined && <Button variant="default" disabled={isSame} onClick={() => setText(before)}>{t.edit.reset}</Button>}
        <Button loading={sending.isBusy} disabled={'fault' in read || isSame} onClick={send}>{button}</Button>
      </div>
    </div>
  )
}
