/** What somebody has to look at: deletions that wait, and what is wrong with a generator or the template. */

import { Button } from '@mantine/core'
import { IconAlertTriangle, IconHandStop } from '@tabler/icons-react'

import type { ApplicationSet } from '../../api/types'
import { heldOf, troublesOf, type SetTrouble } from '../../model/sets'
import { Ago } from '../../parts/Time'
import { s } from '../../texts.sets'
import css from './set.module.css'

const titleOf = (one: SetTrouble) => (one.type === 'InvalidRolloutConfig' ? s.condition(one.type, 'True') : s.wrong)

export function SetNotices({ set, open }: { set: ApplicationSet; open: (panel: string) => void }) {
  const held = heldOf(set)
  return (
    <>
      {held && (
        <section className={css.notice} data-tone="warn" aria-label={s.held.title(held.count, held.of)}>
          <IconHandStop size={17} aria-hidden />
          <div className="grow">
            <strong>{s.held.title(held.count, held.of)}</strong> <span className="quiet"><Ago time={held.since} /></span>
            <p>{s.held.hint}</p>
          </div>
          <Button variant="default" onClick={() => open('confirm')}>{s.held.look}</Button>
        </section>
      )}
      {troublesOf(set).map((one) => (
        <section key={one.text} className={css.notice} data-tone="bad" aria-label={titleOf(one)}>
          <IconAlertTriangle size={17} aria-hidden />
          <div className="grow">
            <strong>{titleOf(one)}</strong> <span className="soft">({s.reasons[one.reason] ?? one.reason})</span> <span className="quiet"><Ago time={one.since} /></span>
            <p>{one.text}</p>
          </div>
          <Button variant="default" onClick={() => open('spec')}>{s.showLine}</Button>
        </section>
      ))}
    </>
  )
}
