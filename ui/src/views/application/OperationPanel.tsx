/** The operation that runs, or the last one, as a line in time: phases, waves, and what it waits for. */

import { Button } from '@mantine/core'
import { useMemo } from 'react'

import { terminate } from '../../api/applications'
import { useManaged, useManifests } from '../../api/hooks'
import { planOf, taskState, waves, withResults, type Wave } from '../../model/progress'
import { shortRevision } from '../../model/source'
import { between, fullTime } from '../../model/time'
import { Empty, tell, tellTrouble } from '../../parts/Feedback'
import { Kind } from '../../parts/Kind'
import { ReasonTree } from '../../parts/ReasonTree'
import { PhaseMark } from '../../parts/Status'
import { useNow } from '../../parts/Time'
import { Knot, StateIcon, Timeline } from '../../parts/Timeline'
import { Facts, Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import css from './panels.module.css'
import type { PanelProps } from './Panels'

export function OperationPanel({ app, appKey, reasons, words }: PanelProps) {
  const now = useNow()
  const state = app.status?.operationState
  const isRunning = state?.phase === 'Running' || state?.phase === 'Terminating'
  // What is to come is only known while the plan is still that of the commit that is compared with.
  const isPlanned = isRunning && !state?.operation?.sync?.resources?.length
  const manifests = useManifests(appKey, state?.syncResult?.revision || state?.operation?.sync?.revision)
  const managed = useManaged(appKey, app.metadata.resourceVersion, isPlanned)
  const shown = useMemo(() => {
    const plan = planOf(manifests.data ?? [], managed.data ?? [], app).filter((task) => task.phase !== 'SyncFail')
    const tasks = withResults(plan, app)
    return waves(isPlanned ? tasks : tasks.filter((task) => task.result))
  }, [manifests.data, managed.data, app, isPlanned])
  if (!state) return <Empty title={t.app.neverSynced} />
  const waiting = reasons.filter((one) => one.code === 'SyncWaits' || one.code === 'WaitsForRetry' || one.code === 'SyncFailed' || one.code === 'DeletionWaits')
  const by = state.operation?.initiatedBy
  return (
    <div className={css.panel}>
      <Facts
        facts={[
          [t.operation.phase, <PhaseMark key="phase" status={state.phase} />],
          [t.operation.message, state.message],
          [t.operation.started, fullTime(state.startedAt)],
          [t.operation.took, between(state.startedAt, state.finishedAt, now)],
          [t.operation.by, by?.automated ? t.operation.automatic : by?.username],
          [t.columns.revision, <span key="revision" className="mono">{shortRevision(state.syncResult?.revision || state.operation?.sync?.revision)}</span>],
          [t.operation.retries, state.retryCount],
          [t.operation.options, [state.operation?.sync?.prune && t.syncing.flags.prune, state.operation?.sync?.dryRun && t.syncing.flags.dryRun, ...(state.operation?.sync?.syncOptions ?? [])].filter(Boolean).join(', ')],
        ]}
      />
      {isRunning && (
        <div className="row">
          <Button variant="default" color="red" onClick={() => void terminate(appKey).then(() => tell(t.operation.stopped)).catch(tellTrouble)}>{t.operation.stop}</Button>
        </div>
      )}
      {waiting.length > 0 && <Section title={isRunning ? t.operation.waits : t.operation.failed}><ReasonTree reasons={waiting} /></Section>}
      <Section title={t.operation.waves}>
        {shown.length === 0 && <p className="quiet">{t.operation.noResults}</p>}
        <Timeline>{shown.map((wave) => <WaveItem key={`${wave.phase} ${wave.wave}`} wave={wave} open={(id) => words.set({ node: id, panel: undefined }, true)} />)}</Timeline>
      </Section>
    </div>
  )
}

function WaveItem({ wave, open }: { wave: Wave; open: (id: string) => void }) {
  return (
    <Knot state={wave.state}>
      <h3>{t.phases[wave.phase]} <span className="quiet">{t.syncing.wave(wave.wave)}</span></h3>
      <ul>
        {wave.tasks.map((task, index) => {
          const id = [task.ref.group ?? '', task.ref.kind, task.ref.namespace ?? '', task.ref.name].join('/')
          return (
            <li key={index}>
              <div className="row">
                <StateIcon state={taskState(task)} size={13} />
                <Kind kind={task.ref.kind} />
                <button type="button" className={`cut grow ${css.task}`} onClick={() => open(id)}><span className="quiet">{task.ref.kind}</span> {task.ref.name}</button>
                {task.isHook && <span className="pill">{t.syncing.hook}</span>}
              </div>
              {task.result?.message && <div className={css.result}>{task.result.message}</div>}
            </li>
          )
        })}
      </ul>
    </Knot>
  )
}
