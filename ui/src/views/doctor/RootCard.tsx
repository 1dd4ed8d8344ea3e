/** One root cause: what it is, how that was seen, what waits for it, and what would mend it. */

import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { Link } from 'react-router'

import type { Evidence, MendedFix, Root, Severity } from '../../api/ours'
import { isHealed, objectName } from '../../model/causes'
import { Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import { ChainTree } from './ChainTree'
import css from './doctor.module.css'
import { FixView } from './FixView'

const TONE: Record<Severity, string> = { P0: 'bad', P1: 'warn', P2: 'busy', P3: 'none' }

interface Props {
  root: Root
  number: number
  isOpen: boolean
  toggle: (isOpen: boolean) => void
  explain: (code: string) => void
}

export function RootCard({ root, number, isOpen, toggle, explain }: Props) {
  const { finding } = root
  const best = finding.fixes[0]
  const isVerified = useIsVerified(root) || best?.proof.state === 'verified'
  return (
    <article className={css.root} data-open={isOpen || undefined}>
      <button type="button" className={css.rootHead} aria-expanded={isOpen} onClick={() => toggle(!isOpen)}>
        {isOpen ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
        <span className={`pill tone-${TONE[root.severity]}`} title={t.severity[root.severity]}>{root.severity}</span>
        <span className={css.cause}><span className="quiet">{number}.</span> {finding.cause}</span>
        {isVerified && <span className="pill tone-good">{t.doctor.proof.verified}</span>}
        <span className="pill">{t.doctor.apps(root.applications.length)}</span>
      </button>
      {isOpen && (
        <div className={css.rootBody}>
          <div className="row wrap quiet">
            <button type="button" className={`link ${css.code}`} onClick={() => explain(finding.code)}>{finding.code}</button>
            <span className="mono cut">{root.id}</span>
          </div>
          <div className={css.columns}>
            <Section title={t.doctor.waits(root.symptoms)}><ChainTree chain={root.chain} /></Section>
            <Section title={t.doctor.seen}><ul className={css.evidence}>{finding.evidence.map((one, index) => <li key={index}><Seen evidence={one} /></li>)}</ul></Section>
          </div>
          {root.also && root.also.length > 0 && (
            <Section title={t.doctor.also}><ul className={css.unseen}>{root.also.map((one) => <li key={one.id}>{one.finding.cause} <span className="quiet mono">{one.id}</span></li>)}</ul></Section>
          )}
          <Section title={t.doctor.explainsApps}>
            <div className="row wrap">{root.applications.map((app) => <Link key={`${app.namespace}/${app.name}`} className="pill tone-accent" to={`/applications/${app.namespace}/${app.name}`}>{app.name}</Link>)}</div>
          </Section>
          {finding.fixes.length > 0 && (
            <Section title={t.doctor.fixes(finding.fixes.length)}>
              {finding.fixes.map((fix, index) => <FixView key={index} id={root.id} fix={fix} choice={index + 1} isBest={index === 0} />)}
            </Section>
          )}
        </div>
      )}
    </article>
  )
}

/** Whether any of its fixes was tried here and helped. */
function useIsVerified(root: Root): boolean {
  const client = useQueryClient()
  return useSyncExternalStore(
    (changed) => client.getQueryCache().subscribe(changed),
    () => root.finding.fixes.some((_, index) => isHealed(client.getQueryData<MendedFix>(['fix', root.id, index + 1]))),
  )
}

function Seen({ evidence }: { evidence: Evidence }) {
  switch (evidence.seen) {
    case 'field':
      return <><Where text={`${evidence.object.kind} ${objectName(evidence.object)}`} at={evidence.path} /><div>{evidence.value || t.doctor.nothingThere}</div></>
    case 'event':
      return <><Where text={`${evidence.object.kind} ${objectName(evidence.object)}`} at={`${evidence.reason}${evidence.count > 1 ? ` ×${evidence.count}` : ''}`} /><div>{evidence.message}</div></>
    case 'file':
      return <><Where text={evidence.span.file} at={evidence.span.line > 0 ? t.doctor.line(evidence.span.line) : ''} /><pre className={css.snippet}>{evidence.text}</pre></>
    case 'status':
      return <><Where text={t.doctor.statusOf(evidence.application.name)} at="" /><div>{evidence.text}</div></>
    case 'seen':
      return <div>{evidence.text}</div>
  }
}

function Where({ text, at }: { text: string; at: string }) {
  return <div className="quiet">{text} {at && <span className="mono">{at}</span>}</div>
}
