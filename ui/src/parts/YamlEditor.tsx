/** YAML to write: lines with numbers, and each fault at its line. */

import { useEffect, useRef, type KeyboardEvent } from 'react'

import type { LineFault } from '../model/document'
import { t } from '../texts'
import css from './editor.module.css'

interface Props {
  label: string
  value: string
  set: (value: string) => void
  faults: LineFault[]
}

export function YamlEditor({ label, value, set, faults }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLDivElement>(null)
  const lines = value.split('\n')
  const bad = new Map(faults.filter((fault) => fault.line).map((fault) => [fault.line, fault.text]))
  const show = (line: number) => {
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0)
    area.current?.focus()
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
    numbers.current?.children[line - 1]?.scrollIntoView({ block: 'center' })
  }
  // What is wrong from the beginning is what somebody came for.
  const first = useRef(faults.find((fault) => fault.line)?.line)
  useEffect(() => {
    if (first.current) show(first.current)
  }, [])
  return (
    <div className={css.editor}>
      <div className={css.scroll}>
        <div ref={numbers} className={css.numbers} aria-hidden>
          {lines.map((_, index) => <span key={index} data-bad={bad.has(index + 1) || undefined} title={bad.get(index + 1)}>{index + 1}</span>)}
        </div>
        <textarea
          ref={area} className={css.text} aria-label={label} aria-invalid={faults.length > 0} value={value} rows={lines.length} wrap="off" spellCheck={false} autoCapitalize="off" autoComplete="off"
          onChange={(event) => set(event.target.value)} onKeyDown={keepIndent}
        />
      </div>
      {faults.length > 0 && (
        <div role="alert">
          <ul className={css.faults}>
            {faults.map((fault, index) => (
              <li key={index}>
                {fault.line !== undefined && <button type="button" className="link" onClick={() => show(fault.line ?? 1)}>{t.edit.line(fault.line)}</button>} {fault.text}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}

/** A new line begins where the one before it did. The browser does the writing, so that it can be undone. */
function keepIndent(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.ctrlKey || event.metaKey) return
  const { value, selectionStart } = event.currentTarget
  const before = value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart)
  const indent = /^ */.exec(before)?.[0] ?? ''
  if (indent !== '' && document.execCommand('insertText', false, `\n${indent}`)) event.preventDefault()
}
