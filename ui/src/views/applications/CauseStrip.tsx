/** One line about what the doctor found, for those who have not come to ask. */

import { IconChevronRight, IconStethoscope } from '@tabler/icons-react'
import { Link } from 'react-router'

import type { DoctorReport } from '../../api/ours'
import { t } from '../../texts'
import css from './applications.module.css'

export function CauseStrip({ report, isBusy }: { report: DoctorReport | undefined; isBusy: boolean }) {
  if (isBusy) return <div className={css.strip} role="status"><IconStethoscope size={15} aria-hidden /> <span className="quiet">{t.doctor.looking}</span></div>
  if (!report || report.roots.length === 0) return null
  const explained = new Set(report.roots.flatMap((root) => root.applications.map((app) => `${app.namespace}/${app.name}`))).size
  return (
    <Link to="/doctor" className={css.strip}>
      <IconStethoscope size={15} aria-hidden />
      <span className={css.stripText}>
        <b>{t.doctor.explains(report.roots.length, explained)}</b>
        <span className={`soft ${css.stripCause}`}>{report.roots[0]?.finding.cause}</span>
      </span>
      <IconChevronRight size={15} aria-hidden />
    </Link>
  )
}
