/** A progressive sync as a line in time: its steps, who is in each, and what each of them waits for. */

import type { ApplicationSet, SetStep } from '../api/types'
import { expressionWords } from './generators'
import type { Wave } from './progress'
import type { Member } from './sets'

/** What an Application lacks to get further, as far as the set and the Application tell. */
export type Wait =
  | { for: 'step'; step: number; names: string[] }
  | { for: 'room'; most: number; busy: number }
  | { for: 'noStep' }
  | { for: 'start'; since?: string }
  | { for: 'end' }
  | { for: 'health'; sync: string; health: string }
  /** The set's own words, where nothing more is known. */
  | { for: 'turn'; text: string }

export interface StepMember extends Member {
  state: Wave['state']
  wait?: Wait
}

export interface Step {
  /** Counted from 1. */
  number: number
  /** Which labels it selects; none selects all. */
  selects: string[]
  /** How many may change at a time, as it is written and of those that there are. */
  most?: { text: string; count: number }
  members: StepMember[]
  state: Wave['state']
}

export interface Rollout {
  steps: Step[]
  /** Applications that no step selects: they are never told to sync. */
  outside: StepMember[]
  /** Whether the set's status says anything about steps. */
  isFollowed: boolean
}

export function rollingSteps(set: ApplicationSet): SetStep[] {
  return set.spec.strategy?.type === 'RollingSync' ? (set.spec.strategy.rollingSync?.steps ?? []) : []
}

export const stepOf = (member: Member): number => Number(member.step?.step ?? -1)

const isDone = (member: Member) => member.step?.status === 'Healthy'
const isBusy = (member: Member) => member.step?.status === 'Pending' || member.step?.status === 'Progressing'

export function rolloutOf(set: ApplicationSet, members: Member[]): Rollout {
  const written = rollingSteps(set)
  const inStep = (number: number) => members.filter((one) => one.step && stepOf(one) === number)
  const open = written.findIndex((_, index) => inStep(index + 1).some((one) => !isDone(one))) + 1
  const late = open > 0 ? inStep(open).filter((one) => !isDone(one)).map((one) => one.name) : []
  const steps = written.map((step, index): Step => {
    const number = index + 1
    const own = inStep(number)
    const most = mostOf(step.maxUpdate, own.length)
    const busy = own.filter(isBusy).length
    const shown = own.map((one) => stepMember(one, open > 0 && number > open ? { for: 'step', step: open, names: late } : most && busy >= most.count ? { for: 'room', most: most.count, busy } : undefined))
    return { number, selects: (step.matchExpressions ?? []).map(expressionWords), ...(most && { most }), members: shown, state: stateOf(shown, number === open) }
  })
  const outside = members.filter((one) => one.step && (stepOf(one) < 1 || stepOf(one) > written.length))
  return { steps, outside: outside.map((one) => stepMember(one, { for: 'noStep' })), isFollowed: members.some((one) => one.step) }
}

/** How many of so many may change at a time; part of the whole is one at least. */
function mostOf(written: number | string | undefined, of: number): Step['most'] {
  if (written === undefined) return undefined
  const percent = /^(\d+)%$/.exec(String(written))?.[1]
  if (percent === undefined) return { text: String(written), count: typeof written === 'number' ? Math.max(0, written) : 1 }
  return { text: String(written), count: Number(percent) === 0 ? 0 : Math.max(1, Math.floor((of * Number(percent)) / 100)) }
}

function stepMember(member: Member, turn: Wait | undefined): StepMember {
  const wait = waitOf(member, turn)
  return { ...member, state: isDone(member) ? 'done' : isFailed(member) ? 'failed' : isBusy(member) ? 'running' : 'waiting', ...(wait && { wait }) }
}

/** A sync that failed, or what came of it and is Degraded, keeps its step from ending. */
function isFailed(member: Member): boolean {
  const phase = member.app?.status?.operationState?.phase
  return member.step?.status === 'Progressing' && (member.health === 'Degraded' || phase === 'Failed' || phase === 'Error')
}

function waitOf(member: Member, turn: Wait | undefined): Wait | undefined {
  const status = member.step
  if (!status || isDone(member)) return undefined
  if (status.status === 'Pending') return { for: 'start', ...(status.lastTransitionTime && { since: status.lastTransitionTime }) }
  if (status.status !== 'Progressing') return turn ?? { for: 'turn', text: status.message ?? '' }
  const isRunning = member.app?.operation !== undefined || member.app?.status?.operationState?.phase === 'Running'
  if (isRunning) return { for: 'end' }
  const isWell = member.sync === 'Synced' && member.health === 'Healthy'
  return isWell ? { for: 'turn', text: status.message ?? '' } : { for: 'health', sync: member.sync || 'Unknown', health: member.health || 'Unknown' }
}

function stateOf(members: StepMember[], isOpen: boolean): Wave['state'] {
  if (members.some((one) => one.state === 'failed')) return 'failed'
  if (members.length > 0 && members.every((one) => one.state === 'done')) return 'done'
  return isOpen || members.some((one) => one.state === 'running') ? 'running' : members.length === 0 ? 'done' : 'waiting'
}
