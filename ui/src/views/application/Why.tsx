/** Why the application is not Synced and Healthy, above everything else that is shown of it. */

import { IconChevronDown, IconChevronRight, IconStethoscope } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'

import type { Reason } from '../../api/ours'
import type { Application, Ref } from '../../api/types'
import { ReasonTree } from '../../parts/ReasonTree'
import { t } from '../../texts'
import css from './application.module.css'

export function Why({ reasons, app, open }: { reasons: Reason[]; app: Application; open: (ref: Ref) => void }) {
  const [isOpen, setOpen] = useState(true)
  const conditions = (app.status?.conditions ?? []).filter((one) => !reasons.some((reason) => JSON.stringify(reason).includes(JSON.stringify(one.message).slice(1, -1))))
  if (reasons.length === 0 && conditions.length === 0) return null
  return (
    <section className={css.why} aria-label={t.reasons.title}>
      <div className="row">
        <button type="button" className={css.whyHead} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
          <h2>{t.reasons.title}</h2>
        </button>
        <div className="grow" />
        <Link to="/doctor" className="link row"><IconStethoscope size={14} aria-hidden /> {t.reasons.doctor}</Link>
      </div>
      {isOpen && (
        <div className={css.whyTree}>
          <ReasonTree reasons={reasons} open={open} />
          {conditions.map((one) => <p key={one.type + one.message} className="soft"><span className="pill tone-warn">{one.type}</span> {one.message}</p>)}
        </div>
      )}
    </section>
  )
}
