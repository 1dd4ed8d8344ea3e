/** Pods by the node that they run on, or by what they belong to. */

import { SegmentedControl } from '@mantine/core'
import { useMemo } from 'react'

import type { Host } from '../../api/types'
import { every, type Plant } from '../../model/forest'
import { healthTone, healthWord, rank } from '../../model/status'
import { Empty } from '../../parts/Feedback'
import { HealthMark } from '../../parts/Status'
import { t } from '../../texts'
import type { ViewProps } from './Body'
import css from './pods.module.css'

const infoOf = (plant: Plant, name: string) => plant.node.info?.find((one) => one.name === name)?.value

function ownerOf(plant: Plant): string {
  let top = plant
  while (top.parent) top = top.parent
  return `${top.node.kind} ${top.node.name}`
}

export function PodsView({ roots, tree, found, open, words }: ViewProps) {
  const by = words.get('by') === 'owner' ? 'owner' : 'node'
  const pods = useMemo(() => [...every(roots)].filter((plant) => plant.node.kind === 'Pod' && (!found || found.has(plant.id))), [roots, found])
  const groups = useMemo(() => {
    const all = new Map<string, Plant[]>()
    if (by === 'node') for (const host of tree?.hosts ?? []) all.set(host.name, [])
    for (const pod of pods) {
      const name = by === 'owner' ? ownerOf(pod) : (infoOf(pod, 'Node') ?? '')
      all.set(name, [...(all.get(name) ?? []), pod])
    }
    for (const some of all.values()) some.sort((a, b) => rank(a.node.health?.status) - rank(b.node.health?.status))
    return [...all].sort(([a], [b]) => (a === '' ? -1 : b === '' ? 1 : a < b ? -1 : 1))
  }, [pods, by, tree])
  const hosts = new Map((tree?.hosts ?? []).map((host) => [host.name, host]))
  return (
    <div className={css.page}>
      <SegmentedControl aria-label={t.pods.by} value={by} onChange={(value) => words.set({ by: value === 'node' ? undefined : value })} data={[{ value: 'node', label: t.pods.byNode }, { value: 'owner', label: t.pods.byOwner }]} />
      {pods.length === 0 && <Empty title={t.pods.none} />}
      <div className={css.groups}>
        {groups.map(([name, some]) => (
          <section key={name} className={css.group}>
            <h2 className="cut">{name === '' ? t.pods.unscheduled : name}</h2>
            <div className="quiet">{t.pods.count(some.length)}{hosts.get(name)?.systemInfo?.kubeletVersion ? ` · ${hosts.get(name)?.systemInfo?.kubeletVersion}` : ''}</div>
            {hosts.has(name) && <Room host={hosts.get(name)} />}
            <div className={css.pods}>
              {some.map((pod) => (
                <button key={pod.id} type="button" className={css.pod} data-tone={healthTone(healthWord(pod.node.health?.status))} onClick={() => open(pod.id)}>
                  <HealthMark status={pod.node.health?.status} isBare size={14} />
                  <span className="cut grow">{pod.node.name}</span>
                  <span className="quiet">{infoOf(pod, 'Status Reason')} {infoOf(pod, 'Containers')}</span>
                </button>
              ))}
            </div>
          </section>
        ))}
      </div>
    </div>
  )
}

function Room({ host }: { host: Host | undefined }) {
  return (
    <div className={css.room}>
      {(host?.resourcesInfo ?? []).filter((one) => one.capacity).map((one) => {
        const share = (amount: number | undefined) => `${Math.min(100, (100 * (amount ?? 0)) / (one.capacity ?? 1))}%`
        return (
          <div key={one.resourceName} className="row" title={t.pods.room(one.resourceName)}>
            <span className={css.roomName}>{one.resourceName}</span>
            <span className={css.roomBar} aria-hidden>
              <span style={{ width: share(one.requestedByApp) }} data-own />
              <span style={{ width: share(one.requestedByNeighbors) }} />
            </span>
          </div>
        )
      })}
    </div>
  )
}
