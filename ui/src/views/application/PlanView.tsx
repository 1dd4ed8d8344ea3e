/** What a sync would do, wave by wave. */

import { useState } from 'react'

import { waves, type Task } from '../../model/progress'
import { Kind } from '../../parts/Kind'
import { Loading } from '../../parts/Feedback'
import { t } from '../../texts'
import css from './panels.module.css'

const TONE = { create: 'good', change: 'warn', prune: 'bad', same: 'none' } as const

export function PlanView({ tasks, isLoading, isPruning, isApplyOnly }: { tasks: Task[]; isLoading: boolean; isPruning: boolean; isApplyOnly: boolean }) {
  const [isAll, setAll] = useState(false)
  if (isLoading) return <Loading />
  const meant = tasks.filter((task) => !(isApplyOnly && task.isHook) && task.phase !== 'SyncFail')
  const done = meant.filter((task) => task.change !== 'same' || task.isHook)
  const count = (change: Task['change']) => meant.filter((task) => task.change === change && !task.isHook).length
  const shown = waves(isAll ? meant : done)
  return (
    <div className="stack">
      <div className="row wrap">
        <span className="pill tone-good">{t.syncing.creates(count('create'))}</span>
        <span className="pill tone-warn">{t.syncing.changes(count('change'))}</span>
        <span className="pill tone-bad">{isPruning ? t.syncing.prunes(count('prune')) : t.syncing.keeps(count('prune'))}</span>
        <span className="pill">{t.syncing.hooks(meant.filter((task) => task.isHook).length)}</span>
        <div className="grow" />
        <button type="button" className="link" onClick={() => setAll(!isAll)}>{isAll ? t.syncing.onlyChanges : t.syncing.showAll(meant.length)}</button>
      </div>
      {shown.length === 0 && <p className="quiet">{t.syncing.nothing}</p>}
      <ol className={css.waves}>
        {shown.map((wave) => (
          <li key={`${wave.phase} ${wave.wave}`}>
            <h3>{t.phases[wave.phase]} <span className="quiet">{t.syncing.wave(wave.wave)}</span></h3>
            <ul>
              {wave.tasks.map((task, index) => (
                <li key={index} className="row">
                  <Kind kind={task.ref.kind} />
                  <span className="cut grow"><span className="quiet">{task.ref.kind}</span> {task.ref.name}</span>
                  {task.isHook ? <span className="pill">{t.syncing.hook}</span> : <span className={`pill tone-${TONE[task.change ?? 'same']}`}>{t.changes[task.change ?? 'same']}</span>}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </div>
  )
}
