/** The applications of a set, with how each is and where it stands in the steps. */

import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef } from 'react'
import { Link } from 'react-router'

import type { ApplicationSet } from '../../api/types'
import type { Member } from '../../model/sets'
import { clusterOf, revisionOf, shortRevision } from '../../model/source'
import { rollingSteps, stepOf } from '../../model/steps'
import { Empty } from '../../parts/Feedback'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { useKeys } from '../../parts/useKeys'
import type { Words } from '../../parts/useWords'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import tools from '../application/application.module.css'
import { appPath, useMoving } from '../applications/useMoving'
import css from './set.module.css'

const pathOf = (one: Member) => appPath({ metadata: one })
const isWell = (one: Member) => one.health === 'Healthy' && one.sync === 'Synced'

export function Members({ set, members, words }: { set: ApplicationSet; members: Member[]; words: Words }) {
  const searchBox = useRef<HTMLInputElement>(null)
  const search = words.get('find') ?? ''
  const isOnlyBad = words.get('only') === 'bad'
  const shown = useMemo(() => {
    const all = search.toLowerCase().split(/\s+/)
    return members.filter((one) => all.every((word) => `${one.name} ${one.health} ${one.sync}`.toLowerCase().includes(word)) && (!isOnlyBad || !isWell(one)))
  }, [members, search, isOnlyBad])
  useKeys({
    '/': (event) => {
      event.preventDefault()
      searchBox.current?.focus()
    },
  })
  if (members.length === 0) return <Empty title={s.members.none}>{s.members.noneHint}</Empty>
  return (
    <div className={css.members}>
      <div className={tools.tools}>
        <TextInput ref={searchBox} className={tools.find} aria-label={s.members.find} placeholder={s.members.find} leftSection={<IconSearch size={13} />} value={search} onChange={(event) => words.set({ find: event.target.value })} />
        <button type="button" className={tools.only} aria-pressed={isOnlyBad} onClick={() => words.set({ only: isOnlyBad ? undefined : 'bad' })}>{t.app.onlyBad}</button>
        <span className="quiet">{shown.length === members.length ? s.applications(members.length) : s.count(shown.length, members.length)}</span>
        <div className="grow" />
        <Link className="link" to={`/applications?view=table&set=${encodeURIComponent(set.metadata.name)}`}>{s.members.amongAll}</Link>
      </div>
      <MemberTable members={shown} hasSteps={rollingSteps(set).length > 0} />
    </div>
  )
}

function MemberTable({ members, hasSteps }: { members: Member[]; hasSteps: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({ count: members.length, getScrollElement: () => box.current, estimateSize: () => 38, overscan: 15 })
  const at = useMoving(members, pathOf, (index) => rows.scrollToIndex(index))
  const columns = [t.columns.name, t.columns.health, t.columns.sync, ...(hasSteps ? [s.members.step] : []), t.columns.revision, t.columns.destination, t.columns.synced]
  return (
    <div ref={box} className={css.table} data-steps={hasSteps || undefined} role="table" aria-label={s.views.applications} aria-rowcount={members.length} tabIndex={0}>
      <div className={css.tableHead} role="row">{columns.map((name) => <div key={name} role="columnheader">{name}</div>)}</div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map((item) => {
          const one = members[item.index]
          return one && <Row key={one.name} member={one} top={item.start} isAt={item.index === at} hasSteps={hasSteps} />
        })}
      </div>
    </div>
  )
}

function Row({ member, top, isAt, hasSteps }: { member: Member; top: number; isAt: boolean; hasSteps: boolean }) {
  const { app, step } = member
  const destination = app && `${clusterOf(app.spec.destination)} / ${app.spec.destination.namespace ?? ''}`
  return (
    <div role="row" className={css.tableRow} data-at={isAt || undefined} style={{ transform: `translateY(${top}px)` }}>
      <div role="cell" className="row">
        <Link to={pathOf(member)} className={`cut ${css.link}`} title={member.name}>{member.name}</Link>
        {app?.metadata.deletionTimestamp && <span className="pill tone-bad">{s.deleting}</span>}
      </div>
      <div role="cell"><HealthMark status={member.health} /></div>
      <div role="cell"><SyncMark status={member.sync} /></div>
      {hasSteps && <div role="cell" className="cut" title={step && s.members.status(step.status, step.message ?? '')}>{step && stepOf(member) > 0 ? <>{stepOf(member)} <span className="quiet">{step.status}</span></> : <span className="quiet">{s.members.noStep}</span>}</div>}
      <div role="cell" className="mono soft cut">{app && shortRevision(revisionOf(app))}</div>
      <div role="cell" className="cut soft" title={destination}>{destination}</div>
      <div role="cell" className="quiet"><Ago time={app?.status?.operationState?.finishedAt} /></div>
    </div>
  )
}
