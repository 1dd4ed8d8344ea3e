/** What a sync would do, played in an embedded cluster on a clock of its own. */

import { Button, Select } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'

import { useApplications } from '../../api/hooks'
import { rehearse } from '../../api/others'
import type { RehearsalReport } from '../../api/ours'
import { totals } from '../../model/rehearsal'
import { sourcesOf } from '../../model/source'
import { span } from '../../model/time'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { Head, Section } from '../../parts/Toolbar'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import css from './rehearsal.module.css'
import { RehearsedApp } from './RehearsedApp'
import { Timeline } from './Timeline'

export function Rehearsal() {
  const words = useWords()
  const { items } = useApplications()
  const client = useQueryClient()
  const repository = words.get('repo')
  const isAsked = words.get('run') === 'true'
  const queryKey = ['rehearsal', repository]
  const report = useQuery({ queryKey, queryFn: () => rehearse(repository), enabled: isAsked, staleTime: Infinity, retry: false })
  const repositories = [...new Set((items ?? []).flatMap((app) => sourcesOf(app.spec).filter((source) => !source.chart).map((source) => source.repoURL)))].sort()
  const start = () => {
    words.set({ run: 'true' })
    if (report.data || report.error) void client.resetQueries({ queryKey })
  }
  return (
    <>
      <Head title={t.rehearsal.title}>
        <Select
          className={css.choose} aria-label={t.rehearsal.choose} placeholder={t.rehearsal.all} searchable clearable limit={50} value={repository ?? null} data={repositories}
          clearButtonProps={{ 'aria-label': t.apps.clear }} onChange={(repo) => words.set({ repo: repo ?? undefined, run: undefined })}
        />
        <Button loading={report.isFetching} leftSection={<IconPlayerPlay size={14} />} onClick={start}>{t.rehearsal.run}</Button>
      </Head>
      <div className={css.page}>
        {!isAsked && <Empty title={t.rehearsal.start}>{t.rehearsal.startHint}</Empty>}
        {report.isFetching && !report.data && <Loading text={t.rehearsal.running} />}
        {report.error && !report.isFetching && <Trouble error={report.error} what={t.rehearsal.failed} again={start} />}
        {report.data && <Report report={report.data} opened={words.get('open')} open={(name) => words.set({ open: name })} />}
      </div>
    </>
  )
}

function Report({ report, opened, open }: { report: RehearsalReport; opened: string | undefined; open: (name: string | undefined) => void }) {
  const sum = totals(report.applications)
  const stuck = report.applications.filter((app) => app.verdict === 'stuck').length
  const inOrder = [...report.applications].sort((a, b) => Number(b.verdict === 'stuck') - Number(a.verdict === 'stuck') || (a.name < b.name ? -1 : 1))
  return (
    <>
      <div className={css.verdict} data-verdict={report.verdict}>
        <strong>{report.verdict === 'stuck' ? t.rehearsal.stuck(stuck, report.applications.length, span(report.seconds)) : t.rehearsal.verdicts[report.verdict]}</strong>
        <span className="soft">{t.rehearsal.endings[report.ending]} {t.rehearsal.played(report.to, report.from)}</span>
        <span className="row wrap">
          <span className="pill tone-good">{t.rehearsal.did.created(sum.created)}</span>
          <span className="pill tone-warn">{t.rehearsal.did.changed(sum.changed)}</span>
          <span className="pill tone-bad">{t.rehearsal.did.deleted(sum.deleted)}</span>
          {sum.refused > 0 && <span className="pill tone-calm">{t.rehearsal.did.refused(sum.refused)}</span>}
        </span>
      </div>
      {report.massDeletions.map((one) => <p key={one.application ?? ''} className={css.mass}><b>{t.rehearsal.mass(one.deleted, one.of, one.application)}</b> {one.objects.join(', ')}</p>)}
      <Section title={t.rehearsal.timeline}><Timeline report={report} open={open} opened={opened} /></Section>
      <Section title={t.rehearsal.applications}>
        <div className="card">{inOrder.map((app) => <RehearsedApp key={`${app.namespace}/${app.name}`} app={app} isOpen={opened === app.name} toggle={() => open(opened === app.name ? undefined : app.name)} />)}</div>
      </Section>
      {report.notRehearsed.length > 0 && <Section title={t.rehearsal.notRehearsed}><ul className={css.list}>{report.notRehearsed.map((one) => <li key={one.what}><b>{one.what}</b> {one.why} <Place place={one.place} /></li>)}</ul></Section>}
      {report.notes.length > 0 && <Section title={t.rehearsal.notes}><ul className={css.list}>{report.notes.map((one, index) => <li key={index}><Place place={one.place} /> {one.message} <span className="quiet">{one.hint}</span></li>)}</ul></Section>}
      {report.assumed.length > 0 && <Assumed report={report} />}
    </>
  )
}

function Place({ place }: { place: { file: string; line: number } | undefined }) {
  if (!place) return null
  return <span className="mono quiet">{place.line > 0 ? `${place.file}:${place.line}` : place.file}</span>
}

function Assumed({ report }: { report: RehearsalReport }) {
  return (
    <details className={css.assumed}>
      <summary>{t.rehearsal.assumed(report.assumed.length)}</summary>
      <ul className={css.list}>
        {report.assumed.map((one) => <li key={one.sort + one.what}><span className="pill">{one.sort}</span> <span className="mono">{one.what}</span> <span className="quiet">{one.neededBy?.join(', ')}</span></li>)}
      </ul>
    </details>
  )
}
