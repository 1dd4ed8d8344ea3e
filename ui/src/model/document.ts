/** YAML that people write: read with the line of each fault, written so that it can be read back. */

import { isMap, isScalar, isSeq, LineCounter, parseDocument, stringify, type Document } from 'yaml'

import { t } from '../texts'
import type { Fault, FieldPath } from './fields'

/** Aliases beyond this are a bomb, not a document. */
const ALIASES = 100

export interface LineFault {
  line?: number
  text: string
}

export type Read = { value: Record<string, unknown> } | { fault: LineFault }

export function readDocument(text: string): Read {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const [error] = document.errors
  if (error) return { fault: { line: counter.linePos(error.pos[0]).line, text: error.message } }
  try {
    const value: unknown = document.toJS({ maxAliasCount: ALIASES })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: { line: 1, text: t.edit.noObject } }
    return { value: value as Record<string, unknown> }
  } catch (thrown) {
    return { fault: { text: thrown instanceof Error ? thrown.message : String(thrown) } }
  }
}

export function written(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** A fault of a field with the line where that field stands, or the nearest thing around it that is there. */
export function placed(text: string, fault: Fault): LineFault {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const path = fault.first && offsetOf(document, fault.first) !== undefined ? fault.first : (fault.path ?? [])
  for (let length = path.length; length > 0; length--) {
    const offset = offsetOf(document, path.slice(0, length))
    if (offset === undefined) continue
    const inner = fault.line && length === path.length && isBlock(document, path) ? fault.line : 0
    return { line: counter.linePos(offset).line + inner, text: fault.text }
  }
  return { text: fault.text }
}

/** Whether the lines of a text stand below its key. */
function isBlock(document: Document, path: FieldPath): boolean {
  const node: unknown = document.getIn(path, true)
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED')
}

function offsetOf(document: Document, path: FieldPath): number | undefined {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path[path.length - 1]
  if (isMap(parent)) {
    const pair = parent.items.find((item) => (item.key as { value?: unknown }).value === last)
    return (pair?.key as { range?: [number, number, number] } | undefined)?.range?.[0]
  }
  if (isSeq(parent) && typeof last === 'number') return (parent.items[last] as { range?: [number, number, number] } | undefined)?.range?.[0]
  return undefined
}
