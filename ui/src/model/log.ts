/** Lines of a log. */

import type { LogEntry } from '../api/types'

const KEPT = 10_000

export function addLines(kept: LogEntry[], more: LogEntry[]): LogEntry[] {
  const all = kept.concat(more)
  return all.length > KEPT ? all.slice(all.length - KEPT) : all
}

/** Without the codes by which programs colour a terminal. */
export function plainText(line: string): string {
  return line.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
