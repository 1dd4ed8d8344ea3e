/** A progressive sync as a line in time: what each step has, and what everybody in it waits for. */

import { useMemo } from 'react'
import { Link } from 'react-router'

import type { ApplicationSet } from '../../api/types'
import type { Member } from '../../model/sets'
import { rolloutOf, type Step, type StepMember } from '../../model/steps'
import { Empty } from '../../parts/Feedback'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { Knot, StateIcon, Timeline } from '../../parts/Timeline'
import { s } from '../../texts.sets'
import { appPath } from '../applications/useMoving'
import css from './set.module.css'

export function Steps({ set, members }: { set: ApplicationSet; members: Member[] }) {
  const rollout = useMemo(() => rolloutOf(set, members), [set, members])
  return (
    <div className={css.steps}>
      {!rollout.isFollowed && <Empty title={s.steps.notFollowed}>{s.steps.notFollowedHint}</Empty>}
      <Timeline>{rollout.steps.map((step) => <OneStep key={step.number} step={step} />)}</Timeline>
      {rollout.outside.length > 0 && (
        <section className={css.outside}>
          <h2>{s.steps.outside}</h2>
          <p className="quiet">{s.steps.outsideHint}</p>
          <ul>{rollout.outside.map((one) => <OneMember key={one.name} member={one} />)}</ul>
        </section>
      )}
    </div>
  )
}

function OneStep({ step }: { step: Step }) {
  const done = step.members.filter((one) => one.state === 'done').length
  return (
    <Knot state={step.state} label={s.steps.states[step.state]}>
      <div className={`row wrap ${css.stepHead}`}>
        <h2>{s.steps.step(step.number)}</h2>
        <span className="quiet">{step.selects.length === 0 ? s.steps.all : s.steps.selects(step.selects.join(', '))}</span>
        {step.most && <span className="pill">{s.steps.most(step.most.text)}</span>}
        {step.members.length > 0 && <span className="pill">{s.steps.done(done, step.members.length)}</span>}
      </div>
      {step.members.length === 0 ? <p className="quiet">{s.steps.empty}</p> : <ul>{step.members.map((one) => <OneMember key={one.name} member={one} />)}</ul>}
    </Knot>
  )
}

function OneMember({ member }: { member: StepMember }) {
  return (
    <li className={css.stepMember}>
      <div className="row">
        <StateIcon state={member.state} size={14} label={s.steps.states[member.state]} />
        <Link className={`cut ${css.link}`} to={appPath({ metadata: member })}>{member.name}</Link>
        <HealthMark status={member.health} isBare size={14} />
        <SyncMark status={member.sync} isBare size={14} />
        <span className="pill" title={member.step?.message}>{member.step?.status}</span>
        <span className="quiet"><Ago time={member.step?.lastTransitionTime} /></span>
      </div>
      {member.wait && <div className={css.wait}>{s.steps.wait(member.wait)}</div>}
    </li>
  )
}
