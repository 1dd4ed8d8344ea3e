/** One way to mend a cause: what to do, the patch, and what came of trying it. */

import { Button } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleXFilled, IconTestPipe } from '@tabler/icons-react'
import { lazy, Suspense } from 'react'

import { useFix } from '../../api/hooks'
import type { Fix, FixStep, MendedFix, Place } from '../../api/ours'
import { isHealed, objectName } from '../../model/causes'
import { Loading, Trouble } from '../../parts/Feedback'
import { StateMarks } from '../../parts/Status'
import { t } from '../../texts'
import css from './doctor.module.css'

const PatchView = lazy(async () => ({ default: (await import('./PatchView')).PatchView }))

const RISK = { low: 'good', medium: 'warn', high: 'bad' } as const

export function FixView({ id, fix, choice, isBest }: { id: string; fix: Fix; choice: number; isBest: boolean }) {
  const attempt = useFix(id, choice)
  const hasPatch = fix.steps.some((step) => 'git' in step)
  return (
    <div className={css.fix} data-best={isBest || undefined}>
      <div className="row wrap">
        <b className="grow">{fix.title}</b>
        <Proof fix={fix} tried={attempt.data} />
        <span className={`pill tone-${RISK[fix.risk]}`}>{t.doctor.risk[fix.risk]}</span>
      </div>
      {fix.why && <p className="soft">{t.doctor.because(fix.why)}</p>}
      <ul className={css.steps}>{fix.steps.map((step, index) => <li key={index}>{stepText(step)}</li>)}</ul>
      {fix.blast && <p className="quiet">{t.doctor.touches(fix.blast)}</p>}
      {fix.proof.state === 'verified' && <BeforeAfter rows={fix.proof.table.map(([application, before, after]) => ({ application, before, after }))} />}
      {fix.proof.state === 'refuted' && <p className="tone-bad">{fix.proof.reason}</p>}
      {fix.proof.state === 'proposed' && fix.proof.reason && <p className="quiet">{fix.proof.reason}</p>}
      {hasPatch && !attempt.data && <div><Button variant={isBest ? 'filled' : 'default'} loading={attempt.isFetching} leftSection={<IconTestPipe size={14} />} onClick={() => void attempt.refetch()}>{t.doctor.try}</Button></div>}
      {attempt.isFetching && <p className="quiet" role="status">{t.doctor.trying}</p>}
      {attempt.error && <Trouble error={attempt.error} what={t.doctor.notTried} />}
      {attempt.data && <Tried tried={attempt.data} />}
      {fix.verify.length > 0 && <Commands title={t.doctor.verifyWith} commands={fix.verify} />}
      {fix.undo.length > 0 && <Commands title={t.doctor.undoWith} commands={fix.undo} />}
    </div>
  )
}

function Proof({ fix, tried }: { fix: Fix; tried: MendedFix | undefined }) {
  const state = isHealed(tried) ? 'verified' : (tried?.rehearsal?.verdict ?? fix.proof.state)
  if (state === 'verified') return <span className="pill tone-good"><IconCircleCheckFilled size={12} aria-hidden /> {t.doctor.proof.verified}</span>
  if (state === 'refuted') return <span className="pill tone-bad"><IconCircleXFilled size={12} aria-hidden /> {t.doctor.proof.refuted}</span>
  return <span className="pill">{t.doctor.proof.proposed}</span>
}

function Tried({ tried }: { tried: MendedFix }) {
  const rows = tried.rehearsal?.rows ?? []
  return (
    <div className="stack">
      {tried.diff ? <Suspense fallback={<Loading />}><PatchView patch={tried.diff} /></Suspense> : <p className="quiet">{t.doctor.noPatch}</p>}
      {tried.rehearsal && (
        <p role="status">
          <b>{tried.rehearsal.healed === undefined ? t.doctor.notRehearsed : t.doctor.healed(tried.rehearsal.healed, tried.rehearsal.harmed ?? 0)}</b> <span className="soft">{tried.rehearsal.reason}</span>
        </p>
      )}
      {rows.length > 0 && <BeforeAfter rows={rows} />}
    </div>
  )
}

function BeforeAfter({ rows }: { rows: { application: string; before: string; after: string }[] }) {
  return (
    <div className="card">
      <table className="plain-table">
        <thead><tr><th>{t.columns.name}</th><th>{t.doctor.before}</th><th>{t.doctor.after}</th></tr></thead>
        <tbody>
          {rows.map((row) => <tr key={row.application}><td>{row.application}</td><td><StateMarks state={row.before} /></td><td><StateMarks state={row.after} /></td></tr>)}
        </tbody>
      </table>
    </div>
  )
}

function Commands({ title, commands }: { title: string; commands: string[] }) {
  return <div className="quiet">{title} {commands.map((one) => <code key={one} className={css.command}>{one}</code>)}</div>
}

function stepText(step: FixStep): React.ReactNode {
  if ('person' in step) return <><span className="pill">{t.doctor.steps.person}</span> {step.person}</>
  if ('git' in step) return <><span className="pill tone-accent">{t.doctor.steps.git}</span> {t.doctor.inFiles(step.git.application.name)} {placeText(step.git.place)}</>
  const action = step.cluster
  const words = action.action === 'delete' ? t.doctor.actions.delete(`${action.object.kind} ${objectName(action.object)}`) : t.doctor.actions[action.action](action.application.name)
  return <><span className="pill tone-busy">{t.doctor.steps.cluster}</span> {words}</>
}

function placeText(place: Place): React.ReactNode {
  const of = 'object' in place && typeof place.object.kind === 'string' ? `${place.object.kind} ${String(place.object.name ?? '')}` : ''
  switch (place.what) {
    case 'field':
      return <>{place.value === null ? t.doctor.places.unset : t.doctor.places.set} <code>{place.path}</code> {t.doctor.places.of} {of} {place.value !== null && <>{t.doctor.places.to} <code>{JSON.stringify(place.value)}</code></>}</>
    case 'application':
    case 'applicationItem':
      return <>{t.doctor.places.set} <code>{place.path}</code> {t.doctor.places.to} <code>{JSON.stringify(place.value)}</code></>
    case 'override':
      return <>{t.doctor.places.override} <code>{place.key}</code> {t.doctor.places.from} <code>{place.file}</code></>
    case 'remove':
      return <>{t.doctor.places.remove} {of}</>
    case 'make':
      return <>{t.doctor.places.make} {of}</>
    case 'detach':
      return <>{t.doctor.places.detach} <code>{place.folder}</code></>
    case 'aim':
      return <>{t.doctor.places.aim} <code>{`${place.kind} ${place.to}`.trim()}</code> {t.doctor.places.insteadOf} <code>{place.from}</code> {t.doctor.places.in} <code>{place.file}</code></>
    case 'add':
      return <>{t.doctor.places.add} {of}</>
  }
}
