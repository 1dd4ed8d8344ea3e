/** What would come of one application, wave by wave. */

import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'

import type { RehearsedApplication } from '../../api/ours'
import { moments } from '../../model/rehearsal'
import { span } from '../../model/time'
import { Kind } from '../../parts/Kind'
import { ReasonTree } from '../../parts/ReasonTree'
import { HealthMark, SyncMark } from '../../parts/Status'
import { t } from '../../texts'
import css from './rehearsal.module.css'

const VERDICT = { finishes: 'good', gone: 'calm', stuck: 'bad', notRehearsed: 'none' } as const
const DID = { created: 'good', changed: 'warn', deleted: 'bad', refused: 'calm' } as const

export function RehearsedApp({ app, isOpen, toggle }: { app: RehearsedApplication; isOpen: boolean; toggle: () => void }) {
  return (
    <div className={css.app}>
      <button type="button" className={css.appHead} aria-expanded={isOpen} onClick={toggle}>
        {isOpen ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
        <b className="cut">{app.name}</b>
        <span className={`pill tone-${VERDICT[app.verdict]}`}>{t.rehearsal.verdictWords[app.verdict]}</span>
        <span className={css.appMarks}>{app.sync && <SyncMark status={app.sync} />} {app.health && <HealthMark status={app.health} />}</span>
        <div className="grow" />
        {app.byHand && <span className="pill">{t.rehearsal.byHand}</span>}
        <span className="quiet">{app.doneAfter !== undefined ? t.rehearsal.doneAfter(span(app.doneAfter)) : app.stuckFor !== undefined ? t.rehearsal.stuckFor(span(app.stuckFor)) : ''}</span>
        <span className="quiet">{t.rehearsal.steps(app.steps.length)}</span>
      </button>
      {isOpen && (
        <div className={css.appBody}>
          {app.place && <span className="mono quiet">{app.place.file}:{app.place.line}</span>}
          {(app.reasons ?? []).length > 0 && <ReasonTree reasons={app.reasons ?? []} isTimeless />}
          <ol className={css.moments}>
            {moments(app.steps).map((moment) => (
              <li key={moment.at}>
                <span className={`mono quiet ${css.at}`}>{span(moment.at)}</span>
                <ul>
                  {moment.steps.map((step, index) => (
                    <li key={index}>
                      <div className="row">
                        <Kind kind={step.kind} />
                        <span className={`pill tone-${DID[step.did]}`}>{t.rehearsal.didWords[step.did]}</span>
                        <span className="cut"><span className="quiet">{step.kind}</span> {step.namespace ? `${step.namespace}/` : ''}{step.name}</span>
                        {step.times > 1 && <span className="quiet">×{step.times}</span>}
                      </div>
                      {step.message && <div className={css.message}>{step.message}</div>}
                      {step.fields && step.fields.length > 0 && <div className={`mono ${css.message}`}>{step.fields.join(', ')}</div>}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ol>
        </div>
      )}
    </div>
  )
}
