/** The Application itself as YAML, to change. */

import { useState } from 'react'

import { patchApplication } from '../../api/applications'
import { written } from '../../model/document'
import { manifestOf } from '../../model/draft'
import { mergePatch } from '../../model/patch'
import { tell } from '../../parts/Feedback'
import { useSending } from '../../parts/Form'
import { t } from '../../texts'
import { DocumentForm } from '../edit/DocumentForm'
import css from './panels.module.css'
import type { PanelProps } from './Panels'

export function SpecPanel({ app, appKey, close }: PanelProps) {
  const sending = useSending()
  // What was there when somebody began to write: the live one goes on changing, and must not pull the text away.
  const [before] = useState(() => manifestOf(app))
  const [text, setText] = useState(() => written(before))
  const save = (value: Record<string, unknown>) => {
    sending.send(async () => {
      const { name, namespace } = (value.metadata ?? {}) as { name?: string; namespace?: string }
      if (name !== app.metadata.name || (namespace ?? appKey.namespace) !== appKey.namespace) throw new Error(`metadata.name: ${t.edit.renamed}`)
      const patch = mergePatch(before, value)
      if (!patch) throw new Error(t.edit.nothing)
      await patchApplication(appKey, patch)
    }, () => {
      tell(t.edit.saved(app.metadata.name))
      close()
    })
  }
  return (
    <div className={css.panel}>
      <p className="quiet">{t.edit.specHint}</p>
      <DocumentForm label={t.panels.spec(app.metadata.name)} before={written(before)} text={text} setText={setText} sending={sending} save={save} button={t.edit.save} />
    </div>
  )
}
