/** A diff with line numbers, folded where nothing changes, and the writer of each line that goes. */

import { Fragment, useMemo, useState } from 'react'

import { fold, paired, type Piece, type Row } from '../model/diff'
import type { Path } from '../model/yaml'
import { t } from '../texts'
import css from './diff.module.css'

type WriterOf = (path: Path) => { name: string; title: string } | undefined

interface Props {
  rows: Row[]
  isSplit?: boolean
  writer?: WriterOf
}

export function DiffView({ rows, isSplit = false, writer }: Props) {
  const pieces = useMemo(() => fold(rows, 3), [rows])
  return (
    <div className={css.frame} tabIndex={0} role="region" aria-label={t.diff.label}>
      <table className={css.diff} data-split={isSplit || undefined}>
        <tbody>{pieces.map((piece, index) => <Part key={index} piece={piece} isSplit={isSplit} writer={writer} />)}</tbody>
      </table>
    </div>
  )
}

function Part({ piece, isSplit, writer }: { piece: Piece; isSplit: boolean; writer: WriterOf | undefined }) {
  const [isOpen, setOpen] = useState(false)
  if (piece.sort === 'fold' && !isOpen) {
    return (
      <tr className={css.fold}>
        <td colSpan={isSplit ? 4 : 4}><button type="button" onClick={() => setOpen(true)}>{t.diff.folded(piece.rows.length)}</button></td>
      </tr>
    )
  }
  if (isSplit) {
    return paired(piece.rows).map(({ left, right }, index) => (
      <tr key={index}>
        <Half row={left} number={left?.left} />
        <Half row={right} number={right?.right} />
      </tr>
    ))
  }
  return piece.rows.map((row, index) => <Single key={index} row={row} before={piece.rows[index - 1]} writer={writer} />)
}

const SIGN = { same: ' ', removed: '−', added: '+' }

function Single({ row, before, writer }: { row: Row; before: Row | undefined; writer: WriterOf | undefined }) {
  const by = row.sort === 'removed' ? writer?.(row.path) : undefined
  const last = before?.sort === 'removed' ? writer?.(before.path) : undefined
  return (
    <tr data-sort={row.sort}>
      <td className={css.number}>{row.left}</td>
      <td className={css.number}>{row.right}</td>
      <td className={css.text}>
        <span className={css.sign} aria-hidden>{SIGN[row.sort]}</span>
        {row.sort !== 'same' && <span className="hidden-text">{t.diff[row.sort]}</span>}
        {row.text}
      </td>
      <td className={css.writer}>{by && by.name !== last?.name && <span title={by.title}>{by.name}</span>}</td>
    </tr>
  )
}

function Half({ row, number }: { row: Row | undefined; number: number | undefined }) {
  return (
    <Fragment>
      <td className={css.number}>{number}</td>
      <td className={css.text} data-sort={row ? row.sort : 'none'}>{row?.text}</td>
    </Fragment>
  )
}
