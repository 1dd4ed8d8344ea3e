/** The sources of an application, to change: revision, path, values, parameters, images. */

import { Button } from '@mantine/core'
import { useState } from 'react'

import { patchApplication } from '../../api/applications'
import type { Source } from '../../api/types'
import { isSame, mergePatch, tidied } from '../../model/patch'
import { sourcesOf } from '../../model/source'
import { tell, Trouble } from '../../parts/Feedback'
import { useSending } from '../../parts/Form'
import { t } from '../../texts'
import { Sources } from '../edit/Sources'
import edit from '../edit/edit.module.css'
import type { PanelProps } from './Panels'

export function EditSources({ app, appKey, words }: PanelProps) {
  const sending = useSending()
  const [before] = useState(() => sourcesOf(app.spec))
  const [sources, setSources] = useState(before)
  const isMany = (app.spec.sources ?? []).length > 0
  const done = () => words.set({ edit: undefined })
  const after = sources.map(tidied)
  const save = () => {
    sending.send(
      () => patchApplication(appKey, { spec: isMany ? { sources: after } : { source: change(before[0], after[0]) } }),
      () => {
        tell(t.edit.saved(app.metadata.name))
        done()
      },
    )
  }
  return (
    <form
      className={edit.form}
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <Sources sources={sources} set={setSources} isMany={isMany} faults={sending.faults} found={app.status?.sourceType} />
      <p className="quiet">{t.edit.specHint}</p>
      {sending.error !== undefined && <Trouble error={sending.error} what={t.edit.refused} />}
      <div className={edit.foot}>
        <Button variant="default" onClick={done}>{t.edit.cancel}</Button>
        <Button type="submit" loading={sending.isBusy} disabled={isSame(before, after)}>{t.edit.save}</Button>
      </div>
    </form>
  )
}

function change(before: Source | undefined, after: Source | undefined): unknown {
  return mergePatch({ ...before }, { ...after }) ?? {}
}
