/** The rehearsal on its own clock: a line for each application, a mark for each moment at which something is done. */

import type { RehearsalReport, RehearsedStep } from '../../api/ours'
import { scale, ticks, timeline, type Moment, type TimelineRow } from '../../model/rehearsal'
import { span } from '../../model/time'
import { t } from '../../texts'
import css from './rehearsal.module.css'

const percent = (share: number) => `${(100 * share).toFixed(2)}%`

export function Timeline({ report, open, opened }: { report: RehearsalReport; open: (name: string) => void; opened: string | undefined }) {
  const rows = timeline(report)
  const end = Math.max(report.seconds, ...rows.map((row) => row.end), 1)
  return (
    <div className={css.timeline}>
      <div className={css.axis} aria-hidden>
        {ticks(end).map((second) => <span key={second} style={{ left: percent(scale(second, end)) }}>{second === 0 ? '0' : span(second)}</span>)}
      </div>
      <ul>
        {rows.map((row) => <Line key={`${row.app.namespace}/${row.app.name}`} row={row} end={end} isOpen={opened === row.app.name} open={() => open(row.app.name)} />)}
      </ul>
      <div className={`row wrap ${css.legend}`} aria-hidden>
        {(['created', 'changed', 'deleted', 'refused'] as const).map((did) => <span key={did} className="row"><span className={css.dot} data-did={did} />{t.rehearsal.didWords[did]}</span>)}
        <span className="row"><span className={css.swatch} />{t.rehearsal.underWay}</span>
        <span className="row"><span className={css.swatch} data-stuck />{t.rehearsal.stuckWord}</span>
      </div>
    </div>
  )
}

function Line({ row, end, isOpen, open }: { row: TimelineRow; end: number; isOpen: boolean; open: () => void }) {
  const { app } = row
  const from = scale(row.start, end)
  const busyUntil = row.isStuck ? (row.moments.at(-1)?.at ?? row.start) : row.end
  const said = app.verdict === 'stuck' ? t.rehearsal.stuckWord : app.doneAfter !== undefined ? t.rehearsal.doneAfter(span(app.doneAfter)) : t.rehearsal.verdicts[app.verdict]
  return (
    <li>
      <button type="button" className={css.line} data-open={isOpen || undefined} onClick={open} aria-label={t.rehearsal.lineLabel(app.name, said)}>
        <span className={`cut ${css.lineName}`}>{app.name}</span>
        <span className={css.track}>
          <span className={css.bar} style={{ left: percent(from), width: `max(4px, ${percent(scale(busyUntil, end) - from)})` }} />
          {row.isStuck && <span className={css.bar} data-stuck style={{ left: percent(scale(busyUntil, end)), width: percent(1 - scale(busyUntil, end)) }} />}
          {row.moments.map((moment) => <Dot key={moment.at} moment={moment} end={end} />)}
        </span>
        <span className={css.said} data-verdict={app.verdict}>{said}</span>
      </button>
    </li>
  )
}

const WORST: RehearsedStep['did'][] = ['refused', 'deleted', 'changed', 'created']

function Dot({ moment, end }: { moment: Moment; end: number }) {
  const did = WORST.find((one) => moment.steps.some((step) => step.did === one))
  const title = `${span(moment.at)}: ${moment.steps.map((step) => `${t.rehearsal.didWords[step.did]} ${step.kind} ${step.name}`).join(', ')}`
  return <span className={css.dot} data-did={did} title={title} style={{ left: percent(scale(moment.at, end)) }} />
}
