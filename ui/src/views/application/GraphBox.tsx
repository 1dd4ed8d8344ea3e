/** The boxes of the resource graph: the application, one object, or many of a kind. */

import { Handle, Position, type Node, type NodeProps, type NodeTypes } from '@xyflow/react'
import { memo } from 'react'

import type { Application } from '../../api/types'
import type { Shown } from '../../model/picture'
import { Kind } from '../../parts/Kind'
import { Logo } from '../../parts/Logo'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { healthTone, healthWord } from '../../model/status'
import { t } from '../../texts'
import css from './graph.module.css'

export interface BoxData {
  shown: Shown
  app: Application
  found: Set<string> | undefined
  selected: string | undefined
  toggle: (one: Shown) => void
  open: (id: string) => void
}

export type BoxNode = Node<BoxData & Record<string, unknown>>

const Ends = () => (
  <>
    <Handle type="target" position={Position.Left} className={css.handle} isConnectable={false} />
    <Handle type="source" position={Position.Right} className={css.handle} isConnectable={false} />
  </>
)

const RootBox = memo(function RootBox({ data }: NodeProps<BoxNode>) {
  const { app } = data
  return (
    <div className={css.box} data-root>
      <Ends />
      <Logo size={26} />
      <div className="grow">
        <div className={`cut ${css.name}`}>{app.metadata.name}</div>
        <div className="row quiet"><HealthMark status={app.status?.health?.status} size={13} /> <SyncMark status={app.status?.sync?.status} size={13} /></div>
      </div>
    </div>
  )
})

const PlantBox = memo(function PlantBox({ data }: NodeProps<BoxNode>) {
  const { shown, found, selected, toggle, open } = data
  const plant = shown.plant
  if (!plant) return null
  const { node, status } = plant
  const isDim = found !== undefined && !found.has(plant.id)
  const info = (node.info ?? []).filter((one) => one.name === 'Status Reason' || one.name === 'Revision' || one.name === 'Containers').map((one) => one.value)
  return (
    <div className={css.box} data-selected={selected === plant.id || undefined} data-parent={plant.children.length > 0 || undefined} data-dim={isDim || undefined} data-orphan={plant.isOrphan || undefined} data-tone={node.health?.status ? healthTone(healthWord(node.health.status)) : undefined}>
      <Ends />
      <button type="button" className={css.open} onClick={() => open(plant.id)}>
        <Kind kind={node.kind} />
        <span className={css.words}>
          <span className={`cut ${css.name}`} title={node.name}>{node.name}</span>
          <span className={`cut ${css.under}`}>{[node.kind, ...info].join(' · ')}</span>
        </span>
        <span className={css.marks}>
          {node.health?.status && <HealthMark status={node.health.status} isBare size={14} />}
          {status?.status && <SyncMark status={status.status} isBare size={14} />}
          {!node.health?.status && !status?.status && node.createdAt && <span className={css.age}><Ago time={node.createdAt} /></span>}
        </span>
      </button>
      {plant.children.length > 0 && (
        <button type="button" className={css.fold} onClick={() => toggle(shown)} aria-label={shown.isFolded ? t.common.unfold : t.common.fold} aria-expanded={!shown.isFolded}>
          {shown.isFolded ? `+${shown.hidden}` : '−'}
        </button>
      )}
    </div>
  )
})

const GroupBox = memo(function GroupBox({ data }: NodeProps<BoxNode>) {
  const { shown, found, toggle } = data
  const [first] = shown.members
  if (!first) return null
  const isDim = found !== undefined && !shown.members.some((one) => found.has(one.id))
  const hasHealth = shown.members.some((one) => one.node.health?.status)
  return (
    <div className={`${css.box} ${css.group}`} data-dim={isDim || undefined}>
      <Ends />
      <button type="button" className={css.open} onClick={() => toggle(shown)} title={t.common.unfold}>
        <Kind kind={first.node.kind} />
        <span className={css.words}>
          <span className={css.name}>{t.app.group(shown.members.length, first.node.kind)}</span>
          <span className={`cut ${css.under}`}>{hasHealth ? t.app.allFine : t.app.allThere}{shown.hidden > 0 ? ` · ${t.app.below(shown.hidden)}` : ''}</span>
        </span>
        <span className={css.more} aria-hidden>+{shown.members.length}</span>
      </button>
    </div>
  )
})

export const boxTypes: NodeTypes = { rootBox: RootBox, plantBox: PlantBox, groupBox: GroupBox }
