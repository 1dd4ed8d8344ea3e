/** What a set would do: which applications it would create, change and delete, each as a diff. Nothing of it is done. */

import { Button } from '@mantine/core'
import { IconChevronDown, IconChevronRight, IconRefresh } from '@tabler/icons-react'
import { useEffect, useMemo, useState } from 'react'

import { ApiError } from '../../api/client'
import { usePreview } from '../../api/setHooks'
import type { ApplicationSet } from '../../api/types'
import { compare } from '../../model/diff'
import type { Fault } from '../../model/fields'
import { setFaultsIn } from '../../model/setFaults'
import { countsOf, planOfSet, type Act, type Planned } from '../../model/setPlan'
import { toLines } from '../../model/yaml'
import { DiffView } from '../../parts/DiffView'
import { Empty, Loading, messageOf, Trouble } from '../../parts/Feedback'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import css from './set.module.css'

interface Props {
  namespace: string
  manifest: Record<string, unknown>
  /** Told what is wrong, so that it can be shown at its line. */
  fail?: (faults: Fault[]) => void
  /** Leads to the text with the faults in it. */
  write?: () => void
}

const TONE: Record<Act, string> = { create: 'good', change: 'warn', delete: 'bad', keep: 'calm', wrong: 'bad', same: 'none' }
const ACTS: Act[] = ['wrong', 'create', 'change', 'delete', 'keep', 'same']
/** More than these would be slow to draw, and nobody reads them all. */
const LISTED = 200

export function Preview({ namespace, manifest, fail, write }: Props) {
  const query = usePreview(namespace, manifest)
  const { data, error } = query
  const plan = useMemo(() => data && planOfSet(manifest as unknown as ApplicationSet, data.generated, data.existing), [data, manifest])
  // What the rights forbid is no fault of the text.
  const faults = useMemo(() => (error && !(error instanceof ApiError && error.isRefusal) ? setFaultsIn(messageOf(error)) : []), [error])
  useEffect(() => {
    if (faults.length > 0) fail?.(faults)
  }, [faults, fail])
  if (query.isFetching && !data) return <Loading text={s.plan.running} />
  if (error) {
    return (
      <div className="stack">
        <Trouble error={error} what={s.plan.failed} again={() => void query.refetch()} />
        {write && faults.some((fault) => fault.path) && <div><Button variant="default" onClick={write}>{s.showLine}</Button></div>}
      </div>
    )
  }
  if (!plan) return null
  return <Plan plan={plan} set={manifest as unknown as ApplicationSet} isBusy={query.isFetching} again={() => void query.refetch()} />
}

function Plan({ plan, set, isBusy, again }: { plan: Planned[]; set: ApplicationSet; isBusy: boolean; again: () => void }) {
  const [isAll, setAll] = useState(false)
  const counts = countsOf(plan)
  const done = plan.filter((one) => one.act !== 'same')
  const shown = (isAll ? plan : done).slice(0, LISTED)
  const more = (isAll ? plan : done).length - shown.length
  return (
    <div className="stack">
      <div className="row wrap">
        {ACTS.filter((act) => counts[act] > 0 || ['create', 'change', 'delete'].includes(act)).map((act) => <span key={act} className={`pill tone-${counts[act] > 0 ? TONE[act] : 'none'}`}>{s.plan[act](counts[act])}</span>)}
        <div className="grow" />
        {counts.same > 0 && <button type="button" className="link" onClick={() => setAll(!isAll)}>{isAll ? t.syncing.onlyChanges : t.syncing.showAll(plan.length)}</button>}
        <Button variant="default" loading={isBusy} leftSection={<IconRefresh size={14} />} onClick={again}>{s.plan.again}</Button>
      </div>
      {plan.length === 0 ? <Empty title={s.plan.empty} /> : done.length === 0 && !isAll && <p className="quiet">{s.plan.nothing}</p>}
      {counts.delete > 2 && <p className={css.hint}>{s.plan.many}</p>}
      {(set.spec?.ignoreApplicationDifferences ?? []).length > 0 && counts.change > 0 && <p className="quiet">{s.plan.ignored}</p>}
      <ul className={css.plan} aria-label={s.plan.label}>{shown.map((one, index) => <OnePlanned key={`${one.name} ${index}`} planned={one} />)}</ul>
      {more > 0 && <p className="quiet">{s.plan.more(more)}</p>}
    </div>
  )
}

function OnePlanned({ planned }: { planned: Planned }) {
  const [isOpen, setOpen] = useState(false)
  const Shape = isOpen ? IconChevronDown : IconChevronRight
  const why = planned.owner ? s.plan.of(planned.owner) : planned.why && s.plan.whys[planned.why]
  return (
    <li>
      <button type="button" className={css.planned} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Shape size={14} aria-hidden />
        <span className={`pill tone-${TONE[planned.act]}`}>{s.plan.acts[planned.act]}</span>
        <span className="cut">{planned.name}</span>
        {why && <span className="quiet">{why}</span>}
      </button>
      {isOpen && <Difference planned={planned} />}
    </li>
  )
}

function Difference({ planned }: { planned: Planned }) {
  const rows = useMemo(() => {
    const after = planned.act === 'delete' || planned.why === 'uncertain' ? undefined : planned.after
    return compare(planned.before ? toLines(planned.before) : [], after ? toLines(after) : [])
  }, [planned])
  return <DiffView rows={rows} />
}
