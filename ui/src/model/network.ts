/** What leads traffic where: from addresses over ingresses and services to pods. */

import type { Tree, TreeNode } from '../api/types'
import { refText } from './manifest'

export interface NetworkBox {
  id: string
  node: TreeNode
  layer: number
}

export interface NetworkPicture {
  boxes: NetworkBox[]
  lines: { from: string; to: string }[]
}

function isTarget(pod: TreeNode, from: TreeNode): boolean {
  const wanted = Object.entries(from.networkingInfo?.targetLabels ?? {})
  const labels = pod.networkingInfo?.labels ?? {}
  return wanted.length > 0 && pod.namespace === from.namespace && wanted.every(([name, value]) => labels[name] === value)
}

export function network(tree: Tree | undefined): NetworkPicture {
  const nodes = (tree?.nodes ?? []).filter((node) => node.networkingInfo !== undefined)
  const byId = new Map(nodes.map((node) => [refText(node), node]))
  const lines: { from: string; to: string }[] = []
  for (const node of nodes) {
    const targets = new Set((node.networkingInfo?.targetRefs ?? []).map(refText).filter((id) => byId.has(id)))
    for (const other of nodes) if (isTarget(other, node)) targets.add(refText(other))
    for (const to of targets) lines.push({ from: refText(node), to })
  }
  const joined = new Set(lines.flatMap((line) => [line.from, line.to]))
  const boxes = nodes.filter((node) => joined.has(refText(node)) || node.kind !== 'Pod').map((node) => ({ id: refText(node), node, layer: 0 }))
  return { boxes, lines }
}
