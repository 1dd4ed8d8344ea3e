/** How traffic gets to the pods. */

import '@xyflow/react/dist/style.css'

import { useComputedColorScheme } from '@mantine/core'
import { Background, Controls, Handle, MarkerType, Position, ReactFlow, type Edge, type Node, type NodeProps, type NodeTypes } from '@xyflow/react'
import { useMemo } from 'react'

import type { TreeNode } from '../../api/types'
import { layers } from '../../model/layers'
import { network } from '../../model/network'
import { Empty } from '../../parts/Feedback'
import { Kind } from '../../parts/Kind'
import { HealthMark } from '../../parts/Status'
import { t } from '../../texts'
import css from './application.module.css'
import type { ViewProps } from './Body'
import boxes from './graph.module.css'

type NetNode = Node<{ node: TreeNode; isDim: boolean; isSelected: boolean; open: (id: string) => void }>

function Box({ id, data }: NodeProps<NetNode>) {
  const { node } = data
  const outside = [...(node.networkingInfo?.ingress ?? []).map((one) => one.hostname ?? one.ip ?? ''), ...(node.networkingInfo?.externalURLs ?? [])].filter((one) => one !== '')
  return (
    <div className={boxes.box} data-dim={data.isDim || undefined} data-selected={data.isSelected || undefined}>
      <Handle type="target" position={Position.Left} className={boxes.handle} isConnectable={false} />
      <Handle type="source" position={Position.Right} className={boxes.handle} isConnectable={false} />
      <button type="button" className={boxes.open} onClick={() => data.open(id)}>
        <Kind kind={node.kind} />
        <span className={boxes.words}>
          <span className={`cut ${boxes.name}`}>{node.name}</span>
          <span className={`cut ${boxes.under}`}>{[node.kind, ...outside.slice(0, 1)].join(' · ')}</span>
        </span>
        {node.health?.status && <HealthMark status={node.health.status} isBare size={14} />}
      </button>
    </div>
  )
}

const types: NodeTypes = { net: Box }

export function NetworkView({ tree, found, words, open }: ViewProps) {
  const scheme = useComputedColorScheme('light')
  const { boxes: shown, lines } = useMemo(() => network(tree), [tree])
  const placed = useMemo(() => layers(shown.map((one) => one.id), lines, { width: 236, height: 50 }), [shown, lines])
  const selected = words.get('node')
  const nodes = useMemo((): NetNode[] => {
    const byId = new Map(shown.map((one) => [one.id, one.node]))
    return placed.flatMap((one) => {
      const node = byId.get(one.id)
      return node ? [{ id: one.id, type: 'net', position: { x: one.x, y: one.y }, width: 236, height: 50, data: { node, isDim: found !== undefined && !found.has(one.id), isSelected: one.id === selected, open } }] : []
    })
  }, [placed, shown, found, selected])
  const edges = useMemo((): Edge[] => lines.map((line) => ({ id: `${line.from}→${line.to}`, source: line.from, target: line.to, animated: true, focusable: false, markerEnd: { type: MarkerType.ArrowClosed } })), [lines])
  if (shown.length === 0) return <Empty title={t.app.noNetwork}>{t.app.noNetworkHint}</Empty>
  return (
    <div className={css.graph} role="region" aria-label={t.app.views.network}>
      <ReactFlow nodes={nodes} edges={edges} nodeTypes={types} colorMode={scheme} fitView fitViewOptions={{ maxZoom: 1, padding: 0.1 }} minZoom={0.1} onlyRenderVisibleElements={shown.length > 150} nodesDraggable={false} nodesConnectable={false} nodesFocusable={false} edgesFocusable={false} elementsSelectable={false} panOnScroll proOptions={{ hideAttribution: true }}>
        <Background gap={22} size={1} color="var(--line)" bgColor="var(--bg)" />
        <Controls showInteractive={false} position="bottom-left" />
      </ReactFlow>
    </div>
  )
}
