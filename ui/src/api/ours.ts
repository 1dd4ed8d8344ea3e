/** What Lynceus answers beside Argo CD's API: reasons, the doctor's report, fixes and rehearsals. */

import type { Ref } from './types'

export interface Reason {
  code: string
  object?: Ref
  text: string
  since?: string
  because?: Reason[]
}

export interface AppRef {
  namespace: string
  name: string
}

export interface ObjectKey {
  group?: string
  kind: string
  namespace?: string
  name: string
}

export type CauseNode =
  | 'controller'
  | { application: AppRef }
  | { object: { cluster: string; key: ObjectKey } }
  | { kind: { cluster: string; kind: { group?: string; kind: string } } }
  | { image: string }
  | { repository: string }
  | { cluster: string }
  | { setting: string }

export type Severity = 'P0' | 'P1' | 'P2' | 'P3'

export interface Chain {
  node: CauseNode
  state: string
  more?: number
  applications: number
  waiting?: Chain[]
}

export type Evidence =
  | { seen: 'field'; object: ObjectKey; path: string; value: string }
  | { seen: 'event'; object: ObjectKey; reason: string; message: string; count: number }
  | { seen: 'file'; application: AppRef; span: { file: string; line: number; column: number }; text: string }
  | { seen: 'status'; application: AppRef; text: string }
  | { seen: 'seen'; text: string }

export type Place =
  | { what: 'field'; object: ObjectKey; path: string; value: unknown }
  | { what: 'override'; repository: string; file: string; key: string; object: ObjectKey; path: string }
  | { what: 'application' | 'applicationItem'; path: string; value: unknown }
  | { what: 'remove' | 'make'; object: ObjectKey }
  | { what: 'detach'; folder: string }
  | { what: 'aim'; repository: string; file: string; kind: string; from: string; to: string }
  | { what: 'add'; beside: ObjectKey; object: Record<string, unknown> }

export type ClusterAction =
  | { action: 'sync' | 'stop'; application: AppRef }
  | { action: 'delete'; cluster: string; object: ObjectKey }

export type FixStep = { git: { application: AppRef; place: Place } } | { cluster: ClusterAction } | { person: string }

export type Proof =
  | { state: 'proposed'; reason?: string }
  | { state: 'verified'; table: [string, string, string][] }
  | { state: 'refuted'; reason: string }

export interface Fix {
  title: string
  steps: FixStep[]
  risk: 'low' | 'medium' | 'high'
  blast: string
  verify: string[]
  undo: string[]
  why: string
  proof: Proof
}

export interface Finding {
  code: string
  subject: CauseNode
  application?: AppRef
  severity: Severity
  cause: string
  evidence: Evidence[]
  affects: CauseNode[]
  because: CauseNode[]
  isFinal: boolean
  isWeak: boolean
  fixes: Fix[]
}

export interface Root {
  id: string
  severity: Severity
  finding: Finding
  also?: { id: string; finding: Finding }[]
  applications: AppRef[]
  symptoms: number
  chain: Chain
}

export interface DoctorReport {
  version: number
  totals: { applications: number; fine: number; health: Record<string, number>; sync: Record<string, number> }
  roots: Root[]
  consequences: Finding[]
  unexplained: { application: AppRef; state: string; says: string[] }[]
  unseen: string[]
}

export interface CodeText {
  code: string
  title: string
  text: string
}

export interface MendedFix {
  id: string
  title: string
  risk?: string
  diff?: string
  files?: (string | { repository?: string; path: string; isNew?: boolean })[]
  steps?: string[]
  /** None where nothing could be tried; only a reason where something was in the way. */
  rehearsal?: {
    verdict?: Proof['state']
    reason?: string
    healed?: number
    harmed?: number
    rows?: { application: string; before: string; after: string }[]
  } | null
}

export type Verdict = 'finishes' | 'gone' | 'stuck' | 'notRehearsed'

export interface RehearsedStep extends ObjectKey {
  after: number
  did: 'created' | 'changed' | 'deleted' | 'refused'
  cluster?: string
  fields?: string[]
  message?: string
  times: number
}

export interface RehearsedApplication {
  namespace: string
  name: string
  place?: { file: string; line: number }
  verdict: Verdict
  sync: string
  health: string
  operation: string
  byHand: boolean
  doneAfter?: number
  stuckFor?: number
  reasons?: Reason[]
  steps: RehearsedStep[]
}

export interface RehearsalReport {
  verdict: Verdict
  ending: 'finished' | 'stuck' | 'outOfTime' | 'outOfPatience'
  from?: string
  to: string
  seconds: number
  applications: RehearsedApplication[]
  massDeletions: { application?: string; deleted: number; of: number; objects: string[] }[]
  assumed: { sort: string; what: string; neededBy?: string[]; neededByCount?: number }[]
  strict: boolean
  notRehearsed: { what: string; why: string; place?: { file: string; line: number } }[]
  notes: { place: { file: string; line: number }; message: string; hint?: string }[]
}
