/** What a sync would change in an object, and who wrote what it would change. */

import { SegmentedControl, Switch } from '@mantine/core'
import { useMemo, useState } from 'react'

import type { FieldChange, ManagedResource } from '../../api/types'
import { compare } from '../../model/diff'
import { comparable, managedFields, parse, readable } from '../../model/manifest'
import { writerOf } from '../../model/writers'
import { toLines, type Path } from '../../model/yaml'
import { DiffView } from '../../parts/DiffView'
import { Empty } from '../../parts/Feedback'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import css from './application.module.css'

export function NodeDiff({ managed }: { managed: ManagedResource }) {
  const [shape, setShape] = useState<'unified' | 'split'>('unified')
  const [isFull, setFull] = useState(false)
  const live = useMemo(() => parse(managed.normalizedLiveState) ?? parse(managed.liveState), [managed])
  const whole = useMemo(() => parse(managed.liveState), [managed])
  const rows = useMemo(() => {
    const wanted = parse(managed.targetState) ? (parse(managed.predictedLiveState) ?? parse(managed.targetState)) : undefined
    const shown = isFull ? readable : comparable
    const [left, right] = [shown(live), shown(wanted)]
    return compare(left ? toLines(left) : [], right ? toLines(right) : [])
  }, [managed, live, isFull])
  const isSame = rows.every((row) => row.sort === 'same')
  const writer = (path: Path) => {
    const by = writerOf(whole, path, managedFields(whole))
    return by && { name: by.manager, title: t.diff.writer(by.manager, by.operation, by.time) }
  }
  return (
    <div className={css.sideBody}>
      <div className="row wrap">
        <SegmentedControl aria-label={t.diff.shape} value={shape} onChange={(value) => setShape(value === 'split' ? 'split' : 'unified')} data={[{ value: 'unified', label: t.diff.unified }, { value: 'split', label: t.diff.split }]} />
        <Switch label={t.diff.full} checked={isFull} onChange={(event) => setFull(event.currentTarget.checked)} />
        <div className="grow" />
        <span className="quiet">{t.diff.sides}</span>
      </div>
      {(managed.fields ?? []).length > 0 && <Fields fields={managed.fields ?? []} />}
      {isSame ? <Empty title={t.diff.same}>{t.diff.sameHint}</Empty> : <DiffView rows={rows} isSplit={shape === 'split'} writer={writer} />}
    </div>
  )
}

/** The fields that differ, each with who wrote what is there now. */
function Fields({ fields }: { fields: FieldChange[] }) {
  return (
    <div className={`card ${css.fields}`}>
      <table className="plain-table">
        <thead><tr><th>{t.diff.field}</th><th>{t.node.live}</th><th>{t.node.desired}</th><th>{t.diff.writtenBy}</th></tr></thead>
        <tbody>
          {fields.map((field) => (
            <tr key={field.path}>
              <td className="mono">{field.path}</td>
              <td className="mono">{shown(field.live)}</td>
              <td className="mono">{shown(field.desired)}</td>
              <td>{field.writer?.manager ?? t.diff.origins[field.origin ?? ''] ?? field.origin} {field.writer?.time && <span className="quiet"><Ago time={field.writer.time} /></span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function shown(value: unknown): string {
  const text = value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
