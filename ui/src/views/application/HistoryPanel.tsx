/** What was deployed when, and the way back to it. */

import { Button, Checkbox, Modal } from '@mantine/core'
import { useState } from 'react'

import { rollback, type AppKey } from '../../api/applications'
import { useRevision } from '../../api/hooks'
import type { HistoryEntry } from '../../api/types'
import { commitLink } from '../../model/links'
import { isAutomated, shortRevision, sourceText } from '../../model/source'
import { fullTime, between } from '../../model/time'
import { Anchor } from '../../parts/Anchor'
import { Empty, tell, tellTrouble } from '../../parts/Feedback'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import css from './panels.module.css'
import type { PanelProps } from './Panels'

export function HistoryPanel({ app, appKey, words }: PanelProps) {
  const [chosen, setChosen] = useState<HistoryEntry>()
  const entries = [...(app.status?.history ?? [])].reverse()
  if (entries.length === 0) return <Empty title={t.history.none} />
  return (
    <div className={css.panel}>
      {isAutomated(app) && <p className="quiet">{t.history.automated}</p>}
      <ol className={css.history}>
        {entries.map((entry, index) => <Entry key={entry.id} entry={entry} appKey={appKey} isNow={index === 0} choose={() => setChosen(entry)} />)}
      </ol>
      {chosen && <Confirm entry={chosen} appKey={appKey} close={() => setChosen(undefined)} done={() => words.set({ panel: 'operation' })} />}
    </div>
  )
}

function Entry({ entry, appKey, isNow, choose }: { entry: HistoryEntry; appKey: AppKey; isNow: boolean; choose: () => void }) {
  const source = entry.source ?? entry.sources?.[0]
  const revision = entry.revision || entry.revisions?.[0] || ''
  const commit = useRevision(appKey, revision, !source?.chart)
  const [subject, ...rest] = (commit.data?.message ?? '').trim().split('\n')
  const by = entry.initiatedBy
  return (
    <li className={css.entry}>
      <div className="row">
        <span className="quiet">#{entry.id}</span>
        <span className="mono"><Anchor url={commitLink(source?.repoURL ?? '', revision)}>{shortRevision(revision)}</Anchor></span>
        {isNow && <span className="pill tone-good">{t.history.now}</span>}
        {commit.data?.tags?.map((tag) => <span key={tag} className="pill">{tag}</span>)}
        <div className="grow" />
        <span className="quiet" title={fullTime(entry.deployedAt)}><Ago time={entry.deployedAt} /> {t.common.ago}</span>
        {!isNow && <Button variant="default" onClick={choose}>{t.history.rollback}</Button>}
      </div>
      {subject && <p className={css.subject}>{subject}</p>}
      {rest.join('').trim() !== '' && <p className="soft">{rest.join('\n').trim()}</p>}
      <p className="quiet">
        {[commit.data?.author?.replace(/<.*/, '').trim(), sourceText(source), by?.automated ? t.operation.automatic : by?.username && t.history.by(by.username), t.history.took(between(entry.deployStartedAt, entry.deployedAt, 0))].filter(Boolean).join(' · ')}
      </p>
      {commit.data?.signatureInfo && <p className="quiet">{commit.data.signatureInfo}</p>}
    </li>
  )
}

function Confirm({ entry, appKey, close, done }: { entry: HistoryEntry; appKey: AppKey; close: () => void; done: () => void }) {
  const [isPruning, setPruning] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const go = () => {
    setBusy(true)
    rollback(appKey, entry, isPruning)
      .then(() => {
        tell(t.history.started(entry.id))
        close()
        done()
      })
      .catch((error: unknown) => {
        tellTrouble(error)
        close()
      })
  }
  return (
    <Modal opened onClose={close} title={<strong>{t.history.confirm(entry.id)}</strong>}>
      <div className="stack">
        <p>{t.history.words(shortRevision(entry.revision || entry.revisions?.[0]))}</p>
        <Checkbox label={t.syncing.flags.prune} description={t.syncing.flagHints.prune} checked={isPruning} onChange={() => setPruning(!isPruning)} />
        <Button loading={isBusy} onClick={go}>{t.history.rollback}</Button>
      </div>
    </Modal>
  )
}
