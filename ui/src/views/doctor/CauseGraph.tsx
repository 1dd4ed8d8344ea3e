/** All causes as one picture: what is wrong on the left, what waits for it on the right. */

import '@xyflow/react/dist/style.css'

import { useComputedColorScheme } from '@mantine/core'
import { Background, Controls, Handle, MarkerType, Position, ReactFlow, type Edge, type Node, type NodeProps, type NodeTypes } from '@xyflow/react'
import { useMemo } from 'react'
import { useNavigate } from 'react-router'

import type { Root } from '../../api/ours'
import { causePicture, type CauseBox } from '../../model/causes'
import { layers } from '../../model/layers'
import { stateWords } from '../../model/status'
import { Kind } from '../../parts/Kind'
import { HealthMark, SyncMark } from '../../parts/Status'
import { t } from '../../texts'
import css from './doctor.module.css'

type CauseNode = Node<{ box: CauseBox; open: (box: CauseBox) => void }>

const SIZE = { width: 228, height: 60 }

function Box({ data }: NodeProps<CauseNode>) {
  const { box, open } = data
  const { sync, health } = stateWords(box.state)
  return (
    <div className={css.box} data-root={box.root ? true : undefined} data-app={box.application ? true : undefined}>
      <Handle type="target" position={Position.Left} className={css.handle} isConnectable={false} />
      <Handle type="source" position={Position.Right} className={css.handle} isConnectable={false} />
      <button type="button" className={css.boxOpen} onClick={() => open(box)} title={box.root?.finding.cause ?? box.name}>
        <span className="row">
          <Kind kind={box.application ? 'Application' : box.sort} />
          <b className="cut grow">{box.name || t.sorts[box.sort]}</b>
          {sync && <SyncMark status={sync} isBare />}
          {health && <HealthMark status={health} isBare />}
        </span>
        <span className={`cut ${css.boxUnder}`}>
          {box.root ? <><span className="pill tone-bad">{box.root.severity}</span> {box.root.finding.cause}</> : <>{t.sorts[box.sort] ?? box.sort}{health || sync ? '' : ` ${box.state}`} {box.more > 0 ? t.doctor.more(box.more) : ''}</>}
        </span>
      </button>
    </div>
  )
}

const types: NodeTypes = { cause: Box }

export function CauseGraph({ roots, open }: { roots: Root[]; open: (id: string) => void }) {
  const scheme = useComputedColorScheme('light')
  const navigate = useNavigate()
  const { boxes, lines } = useMemo(() => causePicture(roots), [roots])
  const nodes = useMemo((): CauseNode[] => {
    const byId = new Map(boxes.map((box) => [box.id, box]))
    const go = (box: CauseBox) => (box.root ? open(box.root.id) : box.application ? void navigate(`/applications/${box.application.namespace}/${box.application.name}`) : undefined)
    return layers(boxes.map((box) => box.id), lines, SIZE, 46, 16).flatMap(({ id, x, y }) => {
      const box = byId.get(id)
      return box ? [{ id, type: 'cause', position: { x, y }, ...SIZE, data: { box, open: go } }] : []
    })
  }, [boxes, lines])
  const edges = useMemo((): Edge[] => lines.map((line) => ({ id: `${line.from}→${line.to}`, source: line.from, target: line.to, focusable: false, markerEnd: { type: MarkerType.ArrowClosed } })), [lines])
  return (
    <div className={css.graph} role="region" aria-label={t.doctor.picture}>
      <ReactFlow nodes={nodes} edges={edges} nodeTypes={types} colorMode={scheme} fitView fitViewOptions={{ maxZoom: 1, padding: 0.06 }} minZoom={0.05} onlyRenderVisibleElements={boxes.length > 150} nodesDraggable={false} nodesConnectable={false} nodesFocusable={false} edgesFocusable={false} elementsSelectable={false} panOnScroll proOptions={{ hideAttribution: true }}>
        <Background gap={22} size={1} color="var(--line)" bgColor="var(--bg)" />
        <Controls showInteractive={false} position="bottom-left" />
      </ReactFlow>
    </div>
  )
}
