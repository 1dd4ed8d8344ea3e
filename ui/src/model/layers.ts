/** Places boxes in layers from left to right so that few lines cross. */

import { Graph, layout } from '@dagrejs/dagre'

export interface Placed {
  id: string
  x: number
  y: number
}

export interface BoxSize {
  width: number
  height: number
}

const START = '(start)'

export function layers(ids: string[], lines: { from: string; to: string }[], size: BoxSize, across = 72, down = 14): Placed[] {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', ranksep: across, nodesep: down, marginx: 8, marginy: 8 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids) graph.setNode(id, { ...size })
  for (const line of lines) graph.setEdge(line.from, line.to)
  // What begins a line stands in the first column, however short the line is.
  graph.setNode(START, { width: 0, height: 0 })
  const reached = new Set(lines.map((line) => line.to))
  for (const id of ids) if (!reached.has(id)) graph.setEdge(START, id, { weight: 20 })
  layout(graph)
  return ids.map((id) => {
    const { x, y } = graph.node(id) as { x: number; y: number }
    return { id, x: x - size.width / 2, y: y - size.height / 2 }
  })
}
