/** The resource tree as a graph. What is well and many is grouped and folded, so that a thousand nodes can be read. */

import '@xyflow/react/dist/style.css'

import { useComputedColorScheme } from '@mantine/core'
import { Background, Controls, MiniMap, ReactFlow, useReactFlow, useStore, ReactFlowProvider, type Edge, type Node } from '@xyflow/react'
import { useEffect, useMemo, useRef, type RefObject } from 'react'

import { healthTone, healthWord } from '../../model/status'
import { every } from '../../model/forest'
import { fitted, picture, ROOT, SIZE, type Shown } from '../../model/picture'
import { t } from '../../texts'
import css from './application.module.css'
import type { ViewProps } from './Body'
import { boxTypes, type BoxData, type BoxNode } from './GraphBox'

export function ResourceGraph(props: ViewProps) {
  return (
    <ReactFlowProvider>
      <Drawn {...props} />
    </ReactFlowProvider>
  )
}

const listed = (text: string | undefined) => new Set((text ?? '').split('|').filter((one) => one !== ''))

function Drawn({ app, roots, words, found, open }: ViewProps) {
  const scheme = useComputedColorScheme('light')
  const isMoved = useRef(false)
  const opened = words.get('open')
  const folded = words.get('fold')
  const selected = words.get('node')
  const shown = useMemo(() => {
    const needed = new Set(found ? [...found].slice(0, 60) : [])
    if (selected) needed.add(selected)
    const all = opened === '*' ? new Set([...every(roots)].flatMap((plant) => [plant.id, ...groupIds(plant.id, plant.children)]).concat(groupIds(ROOT, roots))) : listed(opened)
    return picture(roots, { opened: all, folded: listed(folded), needed })
  }, [roots, opened, folded, found, selected])
  const toggle = (one: Shown) => {
    isMoved.current = true
    const [open, fold] = [opened === '*' ? new Set<string>() : listed(opened), listed(folded)]
    if (one.isFolded) [open.add(one.id), fold.delete(one.id)]
    else [open.delete(one.id), fold.add(one.id)]
    words.set({ open: [...open].join('|') || undefined, fold: [...fold].join('|') || undefined })
  }
  const nodes = useMemo((): BoxNode[] => shown.map((one) => box(one, { app, found, selected, toggle, open })), [shown, app, found, selected])
  const edges = useMemo((): Edge[] => shown.filter((one) => one.parent !== undefined).map((one) => ({ id: `${one.parent}→${one.id}`, source: one.parent ?? '', target: one.id, type: 'smoothstep', focusable: false })), [shown])
  return (
    <div className={css.graph} role="region" aria-label={t.app.views.tree}>
      <ReactFlow
        nodes={nodes} edges={edges} nodeTypes={boxTypes} colorMode={scheme} minZoom={0.05} maxZoom={1.6} onlyRenderVisibleElements={shown.length > 150}
        onMoveStart={(event) => {
          if (event) isMoved.current = true
        }}
        nodesDraggable={false} nodesConnectable={false} nodesFocusable={false} edgesFocusable={false} elementsSelectable={false} panOnScroll proOptions={{ hideAttribution: true }}
      >
        <Background gap={22} size={1} color="var(--line)" bgColor="var(--bg)" />
        <Controls showInteractive={false} position="bottom-left" />
        {shown.length > 40 && <MiniMap pannable zoomable className={css.minimap} nodeColor={(node) => toneColour(node)} maskColor="color-mix(in srgb, var(--bg) 70%, transparent)" bgColor="var(--panel)" ariaLabel={t.app.minimap} />}
        <Fit shown={shown} focus={selected ?? [...(found ?? [])][0]} isMoved={isMoved} />
      </ReactFlow>
    </div>
  )
}

function groupIds(parent: string, children: { node: { group?: string; kind: string } }[]): string[] {
  return children.map((child) => `${parent}>${child.node.group ?? ''}/${child.node.kind}`)
}

function box(one: Shown, more: Omit<BoxData, 'shown'>): BoxNode {
  return { id: one.id, type: `${one.sort}Box`, position: { x: one.x, y: one.y }, width: SIZE.width, height: SIZE.height, data: { shown: one, ...more } }
}

function toneColour(node: Node): string {
  const { shown } = node.data as unknown as BoxData
  const status = shown.plant?.node.health?.status
  return status ? `var(--${healthTone(healthWord(status))}-fill)` : 'var(--line-strong)'
}

/** Shows all, as far as it can still be read, until somebody moves the picture; afterwards only moves to what is looked for. */
function Fit({ shown, focus, isMoved }: { shown: Shown[]; focus: string | undefined; isMoved: RefObject<boolean> }) {
  const flow = useReactFlow()
  const width = useStore((state) => state.width)
  const height = useStore((state) => state.height)
  const last = useRef(focus)
  useEffect(() => {
    // The room changes when reasons or an object are shown beside the picture.
    if (!isMoved.current && width > 0 && height > 0) void flow.setViewport(fitted(shown, { width, height }))
  }, [flow, width, height, isMoved, shown])
  useEffect(() => {
    if (!focus || focus === last.current) return
    last.current = focus
    const one = shown.find((other) => other.id === focus)
    if (!one) return
    isMoved.current = true
    void flow.setCenter(one.x + SIZE.width / 2, one.y + SIZE.height / 2, { zoom: Math.max(flow.getZoom(), 0.7), duration: 250 })
  }, [flow, shown, focus, isMoved])
  return null
}
