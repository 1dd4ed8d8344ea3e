/** How all applications are, as a bar and as words to filter by. */

import type { ReactNode } from 'react'

import type { Application } from '../../api/types'
import { counts, type AppFilter } from '../../model/filter'
import { HEALTH, healthTone, SYNC, type HealthWord, type SyncWord } from '../../model/status'
import { Toggle } from '../../parts/Facets'
import { HealthMark, SyncMark } from '../../parts/Status'
import { t } from '../../texts'
import css from './applications.module.css'

interface Props {
  apps: Application[]
  filter: AppFilter
  set: (change: Record<string, string[] | undefined>) => void
  /** What stands at the other end of the line. */
  children: ReactNode
}

const HEALTH_ORDER: HealthWord[] = ['Healthy', 'Progressing', 'Suspended', 'Unknown', 'Missing', 'Degraded']

export function HealthBar({ apps, filter, set, children }: Props) {
  const health = counts(apps, filter, 'health')
  const sync = counts(apps, filter, 'sync')
  const total = [...health.values()].reduce((sum, one) => sum + one, 0)
  const toggle = (facet: 'health' | 'sync', word: string) => {
    const now = filter.chosen[facet]
    set({ [facet]: now.includes(word) ? now.filter((one) => one !== word) : [...now, word] })
  }
  return (
    <div className={css.health}>
      <div className={css.healthBar} aria-hidden>
        {HEALTH_ORDER.map((word) => {
          const share = total === 0 ? 0 : (100 * (health.get(word) ?? 0)) / total
          return share > 0 && <span key={word} data-tone={healthTone(word)} style={{ width: `${share}%` }} title={`${t.health[word]} ${health.get(word)}`} />
        })}
      </div>
      <div className={css.healthLine}>
        <div className={css.healthWords} role="group" aria-label={t.apps.byStatus}>
          {HEALTH.filter((word) => health.get(word)).map((word) => (
            <Toggle key={word} isOn={filter.chosen.health.includes(word)} toggle={() => toggle('health', word)}>
              <HealthMark status={word} size={14} /> <b>{health.get(word)}</b>
            </Toggle>
          ))}
          {total > 0 && <span className={css.divider} aria-hidden />}
          {SYNC.filter((word) => sync.get(word)).map((word: SyncWord) => (
            <Toggle key={word} isOn={filter.chosen.sync.includes(word)} toggle={() => toggle('sync', word)}>
              <SyncMark status={word} size={14} /> <b>{sync.get(word)}</b>
            </Toggle>
          ))}
        </div>
        {children}
      </div>
    </div>
  )
}
