/** Who wrote which field, as the server keeps it in managedFields. */

import type { FieldsV1, ManagedFields } from '../api/types'
import type { Path } from './yaml'

export interface Writer {
  manager: string
  operation: string
  time?: string
}

/** Who last wrote the field at a path, which is a single value: a map belongs to many. The deepest mention wins; of equals the latest. */
export function writerOf(object: unknown, path: Path, managed: ManagedFields[] | undefined): Writer | undefined {
  const value = path.reduce(descend, object)
  if (typeof value === 'object' && value !== null) return undefined
  let best: { depth: number; time: string; by: Writer } | undefined
  for (const entry of managed ?? []) {
    const depth = depthOf(entry.fieldsV1, object, path)
    if (depth === 0) continue
    const time = entry.time ?? ''
    if (!best || depth > best.depth || (depth === best.depth && time > best.time)) {
      const name = entry.subresource ? `${entry.manager ?? ''} (${entry.subresource})` : (entry.manager ?? '')
      best = { depth, time, by: { manager: name, operation: entry.operation ?? '', ...(entry.time && { time: entry.time }) } }
    }
  }
  return best?.by
}

/** How much of a path a set of fields names; 0 if it does not name the field or something around it that is its own. */
function depthOf(fields: FieldsV1 | undefined, object: unknown, path: Path): number {
  let at = fields
  let value = object
  for (const [depth, step] of path.entries()) {
    if (!at) return 0
    const next = child(at, value, step)
    if (!next) return Object.keys(at).length === 0 ? depth : 0
    at = next
    value = descend(value, step)
  }
  return path.length
}

function descend(value: unknown, step: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string | number, unknown>)[step]
}

function child(at: FieldsV1, value: unknown, step: string | number): FieldsV1 | undefined {
  if (typeof step === 'string') return at[`f:${step}`]
  const item = descend(value, step)
  for (const [key, below] of Object.entries(at)) {
    if (key === `i:${step}` || (key.startsWith('v:') && key.slice(2) === JSON.stringify(item))) return below
    if (key.startsWith('k:') && isKeyOf(key.slice(2), item)) return below
  }
  return undefined
}

/** Whether `{"containerPort":8080,"protocol":"TCP"}` is what tells this item from the others of its list. */
function isKeyOf(text: string, item: unknown): boolean {
  try {
    const wanted = Object.entries(JSON.parse(text) as Record<string, unknown>)
    return wanted.every(([name, value]) => descend(item, name) === value)
  } catch {
    return false
  }
}
