/** Changes as a merge patch (RFC 7396), so that what is saved says no more than what was changed. */

type Json = Record<string, unknown>

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]))
  if (!isMap(a) || !isMap(b)) return Object.is(a, b)
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...keys].every((key) => isSame(a[key], b[key]))
}

/** What turns one object into the other; undefined where nothing does. What goes is null, and lists are replaced as a whole. */
export function mergePatch(before: Json, after: Json): Json | undefined {
  const patch: Json = {}
  for (const key of Object.keys(before)) if (before[key] !== undefined && after[key] === undefined) patch[key] = null
  for (const [key, value] of Object.entries(after)) {
    const old = before[key]
    if (value === undefined || isSame(old, value)) continue
    patch[key] = isMap(old) && isMap(value) ? mergePatch(old, value) : value
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

/** An object with a patch put on it. */
export function patched(before: Json, patch: Json): Json {
  const after: Json = { ...before }
  for (const [key, value] of Object.entries(patch)) {
    const old = before[key]
    if (value === null) delete after[key]
    else after[key] = isMap(value) ? patched(isMap(old) ? old : {}, value) : value
  }
  return after
}

/**
 * Without what says nothing: empty texts, empty lists, and objects of which nothing is left. An object that was empty from the start stays:
 * `automated: {}` says something.
 */
export function tidied<T>(value: T): T {
  if (!isMap(value)) return value
  const kept = Object.entries(value).flatMap(([key, before]): [string, unknown][] => {
    const after = tidied(before)
    const isEmptied = isMap(after) && Object.keys(after).length === 0 && Object.keys(before as Json).length > 0
    return after === undefined || after === '' || isEmptied || (Array.isArray(after) && after.length === 0) ? [] : [[key, after]]
  })
  return Object.fromEntries(kept) as T
}
