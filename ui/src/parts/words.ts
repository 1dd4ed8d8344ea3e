/** Changing the words of an address. */

export type Change = Record<string, string | string[] | undefined>

export function changed(before: URLSearchParams, change: Change): URLSearchParams {
  const after = new URLSearchParams(before)
  for (const [name, value] of Object.entries(change)) {
    after.delete(name)
    for (const one of Array.isArray(value) ? value : value ? [value] : []) after.append(name, one)
  }
  return after
}
