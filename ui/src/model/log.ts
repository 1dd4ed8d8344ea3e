/** Lines of a log, and what has one. */

import type { LogEntry, Ref } from '../api/types'

const KEPT = 10_000

/** The kinds that run pods, by their groups. */
const WORKLOADS: Record<string, string[]> = { apps: ['Deployment', 'StatefulSet', 'ReplicaSet', 'DaemonSet'], batch: ['Job'] }

/** Whether an object is a pod, or one whose pods can be read together. */
export function hasLogs(ref: Ref): boolean {
  return isPod(ref) || (WORKLOADS[ref.group ?? ''] ?? []).includes(ref.kind)
}

export function isPod(ref: Ref): boolean {
  return ref.kind === 'Pod' && !ref.group
}

interface PodSpec {
  containers?: { name: string }[]
  initContainers?: { name: string }[]
}

/** The containers of a pod, or of the pods that an object makes: those that run first. */
export function containersOf(manifest: unknown): string[] {
  const spec = (manifest as { spec?: PodSpec & { template?: { spec?: PodSpec } } } | undefined)?.spec
  const pod = spec?.template?.spec ?? spec
  return [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].map((one) => one.name)
}

/** Lines with more behind them; those of several pods by their times, because each pod tells its own from the beginning. */
export function addLines(kept: LogEntry[], more: LogEntry[], isMixed = false): LogEntry[] {
  const all = kept.concat(more)
  if (isMixed) all.sort((a, b) => compare(moment(a), moment(b)))
  return all.length > KEPT ? all.slice(all.length - KEPT) : all
}

/** The time of a line, so that fewer digits of a second come before more. */
function moment(line: LogEntry): string {
  return (line.timeStampStr || line.timeStamp || '').replace('Z', '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A line as it is saved: with its pod, where there are several. */
export function savedLine(line: LogEntry, isMixed: boolean): string {
  return isMixed ? `${line.podName ?? ''} ${line.content ?? ''}` : (line.content ?? '')
}

/** Without the codes by which programs colour a terminal. */
export function plainText(line: string): string {
  return line.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
