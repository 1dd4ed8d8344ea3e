/** What is wrong, down to the causes that nothing else explains. */

import { Button, SegmentedControl } from '@mantine/core'
import { IconCircleCheckFilled, IconListTree, IconRefresh, IconShieldCheck, IconTopologyStar3 } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'

import { fixQuery, useDoctor } from '../../api/hooks'
import type { DoctorReport } from '../../api/ours'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { StateMarks } from '../../parts/Status'
import { Head, Section } from '../../parts/Toolbar'
import { useKeys } from '../../parts/useKeys'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import { CodeDialog } from './CodeDialog'
import css from './doctor.module.css'
import { RootCard } from './RootCard'

const CauseGraph = lazy(async () => ({ default: (await import('./CauseGraph')).CauseGraph }))

export function Doctor() {
  const words = useWords()
  const doctor = useDoctor()
  const report = doctor.data
  const { isTrying, tryAll } = useTrials(report)
  const view = words.get('view') === 'picture' ? 'picture' : 'causes'
  const opened = words.get('cause')
  const roots = report?.roots ?? []
  const move = (by: number) => {
    const at = roots.findIndex((root) => root.id === opened)
    const next = roots[Math.max(0, Math.min(roots.length - 1, at + by))]
    if (next) words.set({ cause: next.id })
  }
  useKeys({ j: () => move(1), k: () => move(-1), Escape: () => words.set({ code: undefined }) })
  return (
    <>
      <Head title={t.doctor.title} count={report && t.doctor.totals(report.totals.applications, report.totals.fine)}>
        <SegmentedControl
          aria-label={t.apps.view} value={view} onChange={(value) => words.set({ view: value === 'causes' ? undefined : value })}
          data={[
            { value: 'causes', label: <span className="row"><IconListTree size={14} aria-hidden />{t.doctor.causes}</span> },
            { value: 'picture', label: <span className="row"><IconTopologyStar3 size={14} aria-hidden />{t.doctor.picture}</span> },
          ]}
        />
        <Button variant="default" loading={isTrying} leftSection={<IconShieldCheck size={14} />} disabled={roots.length === 0} onClick={() => void tryAll()}>{t.doctor.verify}</Button>
        <Button variant="default" loading={doctor.isFetching} leftSection={<IconRefresh size={14} />} onClick={() => void doctor.refetch()}>{t.doctor.again}</Button>
      </Head>
      {doctor.error && !report && <Trouble error={doctor.error} again={() => void doctor.refetch()} />}
      {!report && !doctor.error && <Loading text={t.doctor.looking} />}
      {report && view === 'picture' && roots.length > 0 && <Suspense fallback={<Loading />}><CauseGraph roots={roots} open={(id) => words.set({ view: undefined, cause: id })} /></Suspense>}
      {report && (view === 'causes' || roots.length === 0) && (
        <div className={css.page}>
          <Verdict report={report} />
          {roots.map((root, index) => <RootCard key={root.id} root={root} number={index + 1} isOpen={opened ? opened === root.id : index === 0} toggle={(isOpen) => words.set({ cause: isOpen ? root.id : 'none' })} explain={(code) => words.set({ code })} />)}
          <Rest report={report} />
        </div>
      )}
      <CodeDialog code={words.get('code')} close={() => words.set({ code: undefined })} />
    </>
  )
}

/** Tries the best fix of each cause, one after the other: a rehearsal takes all that a machine has. */
function useTrials(report: DoctorReport | undefined) {
  const client = useQueryClient()
  const [isTrying, setTrying] = useState(false)
  const tryAll = async () => {
    setTrying(true)
    for (const root of report?.roots ?? []) {
      const choice = 1 + root.finding.fixes.findIndex((fix) => fix.steps.some((step) => 'git' in step))
      // One that cannot be tried says so where it stands.
      if (choice > 0) await client.prefetchQuery(fixQuery(root.id, choice))
    }
    setTrying(false)
  }
  return { isTrying, tryAll }
}

function Verdict({ report }: { report: DoctorReport }) {
  if (report.roots.length === 0 && report.unexplained.length === 0) {
    return <Empty icon={<IconCircleCheckFilled size={40} className="tone-good" />} title={t.doctor.allFine}>{t.doctor.allFineHint}</Empty>
  }
  const explained = new Set(report.roots.flatMap((root) => root.applications.map((app) => `${app.namespace}/${app.name}`))).size
  return <p className={css.verdict}>{t.doctor.explains(report.roots.length, explained)}.</p>
}

function Rest({ report }: { report: DoctorReport }) {
  return (
    <>
      {report.unexplained.length > 0 && (
        <Section title={t.doctor.unexplained}>
          <div className="card">
            <table className="plain-table">
              <tbody>
                {report.unexplained.map((one) => (
                  <tr key={`${one.application.namespace}/${one.application.name}`}>
                    <td><Link className="link" to={`/applications/${one.application.namespace}/${one.application.name}`}>{one.application.name}</Link></td>
                    <td><StateMarks state={one.state} /></td>
                    <td>{one.says.map((text) => <p key={text}>{text}</p>)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      )}
      {report.unseen.length > 0 && (
        <Section title={t.doctor.unseen}>
          <ul className={css.unseen}>{report.unseen.map((text) => <li key={text}>{text}</li>)}</ul>
        </Section>
      )}
    </>
  )
}
