/** Times as people say them. `now` is an argument, so that a test can choose it. */

const UNITS: [number, string][] = [[86_400, 'd'], [3_600, 'h'], [60, 'm'], [1, 's']]

/** `3m12s`: the two largest units of a number of seconds. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const first = UNITS.findIndex(([size]) => whole >= size)
  if (first < 0) return '0s'
  const [size, unit] = UNITS[first] ?? [1, 's']
  const [smaller, small] = UNITS[first + 1] ?? [1, '']
  const rest = small === '' ? 0 : Math.floor((whole % size) / smaller)
  return `${Math.floor(whole / size)}${unit}${rest > 0 ? `${rest}${small}` : ''}`
}

/** One unit is enough where many stand below each other. */
export function ago(time: string | undefined, now: number): string {
  const at = time ? Date.parse(time) : NaN
  if (Number.isNaN(at)) return ''
  const seconds = Math.max(0, (now - at) / 1000)
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, 's']
  return `${Math.floor(seconds / size)}${unit}`
}

export function between(from: string | undefined, to: string | undefined, now: number): string {
  const start = from ? Date.parse(from) : NaN
  const end = to ? Date.parse(to) : now
  return Number.isNaN(start) || Number.isNaN(end) ? '' : span((end - start) / 1000)
}

/** The whole time, for a tooltip. */
export function fullTime(time: string | undefined): string {
  const at = time ? new Date(time) : undefined
  return at && !Number.isNaN(at.getTime()) ? at.toLocaleString() : ''
}
