/** The doctor's report as trees to fold and as one picture. */

import type { CauseNode, Chain, DoctorReport, MendedFix, ObjectKey, Root } from '../api/ours'

/** A node in words: what sort of thing it is, and which. */
export interface Named {
  id: string
  sort: string
  name: string
  application?: { namespace: string; name: string }
  object?: ObjectKey
}

export function named(node: CauseNode): Named {
  if (node === 'controller') return { id: 'controller', sort: 'controller', name: '' }
  if ('application' in node) {
    return { id: `app ${node.application.namespace}/${node.application.name}`, sort: 'application', name: node.application.name, application: node.application }
  }
  if ('object' in node) {
    const { key, cluster } = node.object
    return { id: `${cluster} ${key.group ?? ''}/${key.kind}/${key.namespace ?? ''}/${key.name}`, sort: key.kind, name: objectName(key), object: key }
  }
  if ('kind' in node) return { id: `kind ${node.kind.cluster} ${node.kind.kind.group ?? ''}/${node.kind.kind.kind}`, sort: 'kind', name: node.kind.kind.kind }
  const [sort = '', name = ''] = Object.entries(node)[0] ?? []
  return { id: `${sort} ${name}`, sort, name }
}

export const objectName = (key: ObjectKey) => (key.namespace ? `${key.namespace}/${key.name}` : key.name)

/** Which root causes an application waits for, the worst first. */
export function rootsByApplication(report: DoctorReport | undefined): Map<string, Root[]> {
  const found = new Map<string, Root[]>()
  for (const root of report?.roots ?? []) {
    for (const app of root.applications) {
      const key = `${app.namespace}/${app.name}`
      found.set(key, [...(found.get(key) ?? []), root])
    }
  }
  return found
}

export interface CauseBox extends Named {
  state: string
  more: number
  /** The root cause that starts here. */
  root?: Root
}

export interface CausePicture {
  boxes: CauseBox[]
  /** From what is waited for to what waits. */
  lines: { from: string; to: string }[]
}

/** All chains laid over each other: what stands in several is one box. */
export function causePicture(roots: Root[]): CausePicture {
  const boxes = new Map<string, CauseBox>()
  const lines = new Map<string, { from: string; to: string }>()
  const walk = (chain: Chain, root: Root | undefined, from: string | undefined) => {
    const name = named(chain.node)
    const known = boxes.get(name.id)
    const box: CauseBox = known ?? { ...name, state: chain.state, more: chain.more ?? 0 }
    if (root && !box.root) box.root = root
    box.more = Math.max(box.more, chain.more ?? 0)
    boxes.set(name.id, box)
    if (from !== undefined && from !== name.id) lines.set(`${from}→${name.id}`, { from, to: name.id })
    for (const next of chain.waiting ?? []) walk(next, undefined, name.id)
  }
  for (const root of roots) walk(root.chain, root, undefined)
  return { boxes: [...boxes.values()], lines: [...lines.values()] }
}

/** How many steps it is from the cause to the farthest that waits. */
export function depthOf(chain: Chain): number {
  return 1 + Math.max(0, ...(chain.waiting ?? []).map(depthOf))
}

/** Whether a fix was tried and helped. */
export function isHealed(fix: MendedFix | undefined): boolean {
  const tried = fix?.rehearsal
  if (!tried) return false
  return tried.verdict ? tried.verdict === 'verified' : (tried.healed ?? 0) > 0 && tried.harmed === 0
}
