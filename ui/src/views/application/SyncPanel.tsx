/** A sync with its options, and what it would do, by phase and wave. */

import { Button, Checkbox, Collapse, TextInput } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useMemo, useState } from 'react'

import { sync, type SyncRequest } from '../../api/applications'
import { useManaged, useManifests, useWindows } from '../../api/hooks'
import { refText } from '../../model/manifest'
import { planOf } from '../../model/progress'
import { sourcesOf } from '../../model/source'
import { messageOf, tellTrouble, Trouble } from '../../parts/Feedback'
import { Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import css from './panels.module.css'
import type { PanelProps } from './Panels'
import { PlanView } from './PlanView'

const FLAGS = ['prune', 'dryRun', 'force', 'applyOnly'] as const
const OPTIONS = ['ServerSideApply=true', 'Replace=true', 'PruneLast=true', 'ApplyOutOfSyncOnly=true', 'CreateNamespace=true', 'RespectIgnoreDifferences=true', 'Validate=false'] as const

type Flags = Record<(typeof FLAGS)[number], boolean>

export function SyncPanel({ app, appKey, words }: PanelProps) {
  const [source] = sourcesOf(app.spec)
  const [revision, setRevision] = useState(source?.targetRevision ?? '')
  const [flags, setFlags] = useState<Flags>({ prune: app.spec.syncPolicy?.automated?.prune ?? false, dryRun: false, force: false, applyOnly: false })
  const [options, setOptions] = useState<string[]>(app.spec.syncPolicy?.syncOptions ?? [])
  const [left, setLeft] = useState<Set<string>>(new Set())
  const [isBusy, setBusy] = useState(false)
  const managed = useManaged(appKey, app.metadata.resourceVersion)
  const manifests = useManifests(appKey, app.status?.sync?.revision)
  const windows = useWindows(appKey)
  const resources = (app.status?.resources ?? []).filter((one) => !one.hook)
  const chosen = resources.filter((one) => !left.has(refText(one)))
  const isPart = left.size > 0
  const plan = useMemo(() => planOf(manifests.data ?? [], managed.data ?? [], app, isPart ? new Set(chosen.map(refText)) : undefined), [manifests.data, managed.data, app, left])
  const run = () => {
    setBusy(true)
    const request: SyncRequest = {
      revision,
      prune: flags.prune,
      dryRun: flags.dryRun,
      strategy: flags.applyOnly ? { apply: { force: flags.force } } : { hook: { force: flags.force } },
      resources: isPart ? chosen.map(({ group, kind, namespace, name }) => ({ group: group ?? '', kind, namespace: namespace ?? '', name })) : null,
      syncOptions: { items: options },
    }
    sync(appKey, request)
      .then(() => words.set({ panel: 'operation' }))
      .catch(tellTrouble)
      .finally(() => setBusy(false))
  }
  return (
    <div className={css.panel}>
      {windows.data?.canSync === false && <p className={css.warn}>{t.syncing.window}</p>}
      <TextInput label={t.syncing.revision} value={revision} onChange={(event) => setRevision(event.target.value)} placeholder="HEAD" />
      <div className={css.checks}>
        {FLAGS.map((flag) => <Checkbox key={flag} label={t.syncing.flags[flag]} description={t.syncing.flagHints[flag]} checked={flags[flag]} onChange={() => setFlags({ ...flags, [flag]: !flags[flag] })} />)}
      </div>
      <Fold title={t.syncing.options} count={options.length}>
        <div className={css.checks}>
          {OPTIONS.map((one) => (
            <Checkbox key={one} label={t.syncing.optionNames[one]} checked={options.includes(one)} onChange={() => setOptions(options.includes(one) ? options.filter((other) => other !== one) : [...options, one])} />
          ))}
        </div>
      </Fold>
      <Fold title={t.syncing.resources(chosen.length, resources.length)}>
        <div className={`row wrap ${css.quick}`}>
          <button type="button" className="link" onClick={() => setLeft(new Set())}>{t.syncing.all}</button>
          <button type="button" className="link" onClick={() => setLeft(new Set(resources.filter((one) => one.status === 'Synced').map(refText)))}>{t.syncing.outOfSync}</button>
          <button type="button" className="link" onClick={() => setLeft(new Set(resources.map(refText)))}>{t.syncing.none}</button>
        </div>
        <div className={css.resources}>
          {resources.map((one) => {
            const id = refText(one)
            const toggle = () => setLeft((before) => {
              const after = new Set(before)
              if (!after.delete(id)) after.add(id)
              return after
            })
            return <Checkbox key={id} checked={!left.has(id)} onChange={toggle} label={<span>{one.kind} <b>{one.name}</b> <span className="quiet">{one.namespace} · {one.status}</span></span>} />
          })}
        </div>
      </Fold>
      <Section title={t.syncing.preview}>
        {manifests.error ? <Trouble error={manifests.error} what={t.syncing.noPreview} /> : managed.error ? <p className="quiet">{messageOf(managed.error)}</p> : <PlanView tasks={plan} isLoading={!manifests.data || !managed.data} isPruning={flags.prune} isApplyOnly={flags.applyOnly} />}
      </Section>
      <div className={css.foot}>
        <Button size="sm" loading={isBusy} disabled={chosen.length === 0 && resources.length > 0} onClick={run}>{flags.dryRun ? t.syncing.runDry : t.syncing.run}</Button>
      </div>
    </div>
  )
}

function Fold({ title, count, children }: { title: string; count?: number; children: React.ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section>
      <button type="button" className={css.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} {title} {!!count && <span className="pill">{count}</span>}
      </button>
      <Collapse expanded={isOpen}><div className={css.folded}>{children}</div></Collapse>
    </section>
  )
}
