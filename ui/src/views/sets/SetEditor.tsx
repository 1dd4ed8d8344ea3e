/** An ApplicationSet as YAML, new or to change, with what it would do before it is sent. */

import { Drawer } from '@mantine/core'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'

import { queries } from '../../api/hooks'
import { setKeyOf } from '../../api/setHooks'
import { createSet, getSet, replaceSet } from '../../api/sets'
import type { ApplicationSet } from '../../api/types'
import { written } from '../../model/document'
import type { Fault } from '../../model/fields'
import { setPath } from '../../model/owner'
import { isSame } from '../../model/patch'
import { changedSet, emptySet, setManifestOf, takenAway } from '../../model/setDraft'
import { setFaultsIn } from '../../model/setFaults'
import { keyOfSet, troublesOf } from '../../model/sets'
import { Loading, tell } from '../../parts/Feedback'
import { useSending } from '../../parts/Form'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import { DocumentForm } from '../edit/DocumentForm'
import css from '../edit/edit.module.css'

const Preview = lazy(async () => ({ default: (await import('./Preview')).Preview }))

type Json = Record<string, unknown>
const metadataOf = (value: Json) => (value.metadata ?? {}) as ApplicationSet['metadata']

export function SetEditor({ set, close }: { set?: ApplicationSet; close: () => void }) {
  const navigate = useNavigate()
  const sending = useSending(setFaultsIn)
  // What was there when somebody began to write: the live one goes on changing, and must not pull the text away.
  const [start] = useState(() => ({ set, manifest: set ? setManifestOf(set) : emptySet() }))
  const before = useMemo(() => written(start.manifest), [start])
  const [text, setText] = useState(before)
  // What is wrong with the set as it is stands at its line from the beginning.
  const [wrong, setWrong] = useState<{ text: string; faults: Fault[] }>(() => ({ text: before, faults: set ? troublesOf(set).flatMap((one) => setFaultsIn(one.text)) : [] }))
  const fail = useCallback((faults: Fault[]) => setWrong({ text, faults }), [text])
  const save = (value: Json) => {
    const old = start.set
    let made: ApplicationSet | undefined
    sending.send(
      async () => (made = await (old ? changed(old, start.manifest, value) : createSet(value))),
      () => {
        if (!made) return
        void queries.invalidateQueries({ queryKey: setKeyOf(keyOfSet(made)) })
        tell(old ? t.edit.saved(made.metadata.name) : t.edit.created(made.metadata.name))
        if (old) close()
        else void navigate(setPath(keyOfSet(made)))
      },
    )
  }
  const name = start.set?.metadata.name
  return (
    <Drawer opened onClose={close} position="right" size={860} title={<strong>{name === undefined ? s.new : s.editor.title(name)}</strong>} closeButtonProps={{ 'aria-label': t.common.close }} transitionProps={{ duration: 120 }}>
      <div className={css.form}>
        <p className="quiet">{name === undefined ? s.editor.newHint : s.editor.hint}</p>
        <DocumentForm
          label={name === undefined ? s.editor.newLabel : s.editor.title(name)} {...(name !== undefined && { before })} text={text} setText={setText} sending={sending} save={save} button={name === undefined ? t.edit.create : t.edit.save}
          told={wrong.text === text ? wrong.faults : []}
          preview={(value, write) => <Suspense fallback={<Loading />}><Preview namespace={metadataOf(value).namespace ?? 'argocd'} manifest={value} fail={fail} write={write} /></Suspense>}
        />
      </div>
    </Drawer>
  )
}

/** Sends what was changed, put on the set as it is by now. */
async function changed(old: ApplicationSet, before: Json, value: Json): Promise<ApplicationSet> {
  const key = keyOfSet(old)
  const { name, namespace } = metadataOf(value)
  if (name !== key.name || (namespace ?? key.namespace) !== key.namespace) throw new Error(`metadata.name: ${s.editor.renamed}`)
  const gone = takenAway(before, value)
  if (gone.length > 0) throw new Error(s.editor.takenAway(gone.join(', ')))
  const wanted = changedSet(before, value, await getSet(key))
  if (!wanted) throw new Error(t.edit.nothing)
  const answer = await replaceSet(wanted)
  const annotations = metadataOf(wanted).annotations ?? {}
  const taken = Object.fromEntries(Object.keys(annotations).map((one) => [one, answer.metadata.annotations?.[one]]))
  if (!isSame(taken, annotations)) throw new Error(`metadata.annotations: ${s.editor.notTaken}`)
  return answer
}
