/** Two texts side by side, with what is the same folded away. */

import { diffArrays } from 'diff'

import type { Line, Path } from './yaml'

export interface Row {
  sort: 'same' | 'removed' | 'added'
  text: string
  path: Path
  /** Line numbers on both sides, from 1. */
  left?: number
  right?: number
}

/** Rows of the same that are far from a change are hidden together. */
export type Piece = { sort: 'rows'; rows: Row[] } | { sort: 'fold'; rows: Row[] }

export function compare(left: Line[], right: Line[]): Row[] {
  const parts = diffArrays(left.map((line) => line.text), right.map((line) => line.text))
  const rows: Row[] = []
  let l = 0
  let r = 0
  for (const part of parts) {
    for (const text of part.value) {
      if (part.removed) rows.push({ sort: 'removed', text, path: left[l]?.path ?? [], left: ++l })
      else if (part.added) rows.push({ sort: 'added', text, path: right[r]?.path ?? [], right: ++r })
      else rows.push({ sort: 'same', text, path: right[r]?.path ?? [], left: ++l, right: ++r })
    }
  }
  return rows
}

/** Folds what is more than `around` rows away from a change; nothing is folded for fewer than four rows. */
export function fold(rows: Row[], around: number): Piece[] {
  const isNear = rows.map(() => false)
  rows.forEach((row, index) => {
    if (row.sort === 'same') return
    for (let near = Math.max(0, index - around); near <= Math.min(rows.length - 1, index + around); near++) isNear[near] = true
  })
  const pieces: Piece[] = []
  for (let start = 0; start < rows.length; ) {
    let end = start
    while (end < rows.length && isNear[end] === isNear[start]) end++
    const slice = rows.slice(start, end)
    pieces.push({ sort: isNear[start] || slice.length < 4 ? 'rows' : 'fold', rows: slice })
    start = end
  }
  return pieces
}

/** A row of the split view: what stands left and right of each other. */
export interface Pair {
  left?: Row
  right?: Row
}

export function paired(rows: Row[]): Pair[] {
  const pairs: Pair[] = []
  let removed: Row[] = []
  let added: Row[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      pairs.push({ ...(removed[i] && { left: removed[i] }), ...(added[i] && { right: added[i] }) } as Pair)
    }
    removed = []
    added = []
  }
  for (const row of rows) {
    if (row.sort === 'removed') removed.push(row)
    else if (row.sort === 'added') added.push(row)
    else {
      flush()
      pairs.push({ left: row, right: row })
    }
  }
  flush()
  return pairs
}

/** A unified diff as rows, for patches that the server made. */
export function readPatch(text: string): { file: string; rows: Row[] }[] {
  const files: { file: string; rows: Row[] }[] = []
  let left = 0
  let right = 0
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    const now = files.at(-1)
    if (line.startsWith('diff --git ')) files.push({ file: line.replace(/^diff --git a\/(.*) b\/.*$/, '$1'), rows: [] })
    else if (line.startsWith('--- ') && !now) files.push({ file: line.slice(4).replace(/^a\//, ''), rows: [] })
    else if (hunk) [left, right] = [Number(hunk[1]) - 1, Number(hunk[2]) - 1]
    else if (line.startsWith('--- ') || line.startsWith('+++ ') || !now) continue
    else if (line.startsWith('-')) now.rows.push({ sort: 'removed', text: line.slice(1), path: [], left: ++left })
    else if (line.startsWith('+')) now.rows.push({ sort: 'added', text: line.slice(1), path: [], right: ++right })
    else if (line.startsWith(' ')) now.rows.push({ sort: 'same', text: line.slice(1), path: [], left: ++left, right: ++right })
  }
  return files
}
