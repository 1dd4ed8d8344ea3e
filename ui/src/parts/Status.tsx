/** Health, sync and phases as an icon and a word; each word has a shape of its own. */

import {
  IconAlertTriangleFilled, IconCircleArrowUpFilled, IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, IconGhost2, IconHelpCircle, IconLoader2,
  IconPlayerPauseFilled, IconCheck, type Icon,
} from '@tabler/icons-react'

import { healthTone, healthWord, phaseTone, syncTone, syncWord, type HealthWord, type SyncWord, type Tone } from '../model/status'
import { t } from '../texts'

const HEALTH_ICON: Record<HealthWord, Icon> = {
  Healthy: IconCircleCheckFilled,
  Degraded: IconCircleXFilled,
  Progressing: IconLoader2,
  Missing: IconGhost2,
  Suspended: IconPlayerPauseFilled,
  Unknown: IconHelpCircle,
}

const SYNC_ICON: Record<SyncWord, Icon> = { Synced: IconCheck, OutOfSync: IconCircleArrowUpFilled, Unknown: IconHelpCircle }

const PHASE_ICON: Record<string, Icon> = {
  Succeeded: IconCircleCheckFilled,
  Running: IconLoader2,
  Failed: IconCircleXFilled,
  Error: IconAlertTriangleFilled,
  Terminating: IconCircleDashed,
}

interface MarkProps {
  icon: Icon
  tone: Tone
  word: string
  label: string
  isBare?: boolean | undefined
  size?: number | undefined
}

function Mark({ icon: Shape, tone, word, label, isBare, size = 15 }: MarkProps) {
  const spins = Shape === IconLoader2 ? 'spin' : ''
  return (
    <span className="row" style={{ gap: 5, display: 'inline-flex', verticalAlign: 'middle' }} title={label}>
      <span className={`row tone-${tone}`} {...(isBare ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}>
        <Shape size={size} className={spins} />
      </span>
      {!isBare && <span className="mark-word">{word}</span>}
    </span>
  )
}

interface StatusProps {
  status: string | undefined
  isBare?: boolean
  size?: number
}

export function HealthMark({ status, isBare, size }: StatusProps) {
  const word = healthWord(status)
  return <Mark icon={HEALTH_ICON[word]} tone={healthTone(word)} word={t.health[word]} label={t.status.health(t.health[word])} isBare={isBare} size={size} />
}

export function SyncMark({ status, isBare, size }: StatusProps) {
  const word = syncWord(status)
  return <Mark icon={SYNC_ICON[word]} tone={syncTone(word)} word={t.sync[word]} label={t.status.sync(t.sync[word])} isBare={isBare} size={size} />
}

export function PhaseMark({ status, isBare, size }: StatusProps) {
  const word = status ?? t.status.none
  return <Mark icon={PHASE_ICON[word] ?? IconCircleDashed} tone={phaseTone(status)} word={word} label={t.status.phase(word)} isBare={isBare} size={size} />
}

/** `Synced Degraded`, or whatever the doctor says of something, with the marks of what is known in it. */
export function StateMarks({ state }: { state: string }) {
  if (state === '') return null
  const words = state.split(' ')
  const isKnown = words.every((word) => word in t.health || word in t.sync)
  if (!isKnown) return <span className="quiet">{state}</span>
  const [first = '', second] = words
  return (
    <span className="row" style={{ display: 'inline-flex' }}>
      {second === undefined ? null : <SyncMark status={first} />}
      <HealthMark status={second ?? first} />
    </span>
  )
}
