/** How many applications a set has, and how they are. */

import type { Application } from '../../api/types'
import { HEALTH, healthTone, healthWord, SYNC, syncWord } from '../../model/status'
import { HealthMark, SyncMark } from '../../parts/Status'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import css from './sets.module.css'

function counted<W extends string>(words: readonly W[], all: W[]): [W, number][] {
  return words.map((word): [W, number] => [word, all.filter((one) => one === word).length]).filter(([, count]) => count > 0)
}

export function AppCounts({ apps, size }: { apps: Application[]; size: number }) {
  const health = counted(HEALTH, apps.map((app) => healthWord(app.status?.health?.status)))
  const sync = counted(SYNC, apps.map((app) => syncWord(app.status?.sync?.status)))
  if (size === 0) return <span className="quiet">{s.noApplications}</span>
  return (
    <div className={css.counts}>
      <div className={css.barOf} aria-hidden>
        {[...health].reverse().map(([word, count]) => <span key={word} data-tone={healthTone(word)} style={{ flexGrow: count }} />)}
        {size > apps.length && <span style={{ flexGrow: size - apps.length }} />}
      </div>
      <div className={css.countWords}>
        <span className="hidden-text">{s.applications(size)}: </span>
        {health.map(([word, count]) => <span key={word} className={css.countOf} title={`${t.health[word]} ${count}`}><HealthMark status={word} isBare size={13} /> {count}</span>)}
        {health.length > 0 && <span className={css.divider} aria-hidden />}
        {sync.map(([word, count]) => <span key={word} className={css.countOf} title={`${t.sync[word]} ${count}`}><SyncMark status={word} isBare size={13} /> {count}</span>)}
        {size > apps.length && <span className="quiet">{apps.length === 0 ? s.applications(size) : s.unseen(size - apps.length)}</span>}
      </div>
    </div>
  )
}
