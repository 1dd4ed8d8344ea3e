/** What comes over an ApplicationSet: the editor, its deletion, and the deletions that wait for a confirmation. */

import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useNavigate } from 'react-router'

import { queries } from '../../api/hooks'
import { setKeyOf, usePreview } from '../../api/setHooks'
import { deleteSet, getSet, replaceSet } from '../../api/sets'
import type { ApplicationSet } from '../../api/types'
import type { SetKey } from '../../model/owner'
import { confirmed, setManifestOf } from '../../model/setDraft'
import { planOfSet } from '../../model/setPlan'
import { CONFIRM, heldOf, sizeOf, type HeldDeletions, type Member } from '../../model/sets'
import { Empty, Loading, tell, Trouble } from '../../parts/Feedback'
import { FormDialog, useSending } from '../../parts/Form'
import { s } from '../../texts.sets'
import css from './set.module.css'
import { SetEditor } from './SetEditor'

interface Props {
  panel: string
  set: ApplicationSet
  setKey: SetKey
  members: Member[]
  close: () => void
}

export function SetPanels({ panel, ...props }: Props) {
  const held = heldOf(props.set)
  if (panel === 'spec') return <SetEditor set={props.set} close={props.close} />
  if (panel === 'delete') return <Delete {...props} />
  if (panel === 'confirm' && held) return <Confirm {...props} held={held} />
  return null
}

type DialogProps = Omit<Props, 'panel'>

/** Deleting is asked for twice: by the button, and by writing the name. */
function Delete({ set, setKey, members, close }: DialogProps) {
  const navigate = useNavigate()
  const sending = useSending()
  const [name, setName] = useState('')
  const count = Math.max(members.length, sizeOf(set, []))
  const words = set.spec.syncPolicy?.preserveResourcesOnDeletion ? s.remove.keepWords(count) : s.remove.words(count)
  const remove = () => {
    sending.send(() => deleteSet(setKey), () => {
      tell(s.remove.done(setKey.name))
      void navigate('/applicationsets')
    })
  }
  return (
    <FormDialog title={s.remove.title(setKey.name)} label={s.remove.button} close={close} submit={remove} sending={sending} isReady={name === setKey.name} isDanger>
      <p>{count === 0 ? s.remove.none : words}</p>
      <TextInput label={s.remove.confirm(setKey.name)} value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />
    </FormDialog>
  )
}

/** Deletions that wait are confirmed by writing how many they are; the token says to the server which. */
function Confirm({ set, setKey, held, close }: DialogProps & { held: HeldDeletions }) {
  const sending = useSending()
  const [word, setWord] = useState('')
  const confirm = () => {
    sending.send(async () => {
      const answer = await replaceSet(confirmed(await getSet(setKey), held.token))
      if (answer.metadata.annotations?.[CONFIRM] !== held.token) throw new Error(s.held.notTaken)
    }, () => {
      tell(s.held.done(held.count))
      void queries.invalidateQueries({ queryKey: setKeyOf(setKey) })
      close()
    })
  }
  return (
    <FormDialog title={s.held.dialog(held.count)} label={s.held.button} close={close} submit={confirm} sending={sending} isReady={word.trim() === String(held.count)} isDanger size={560}>
      <p>{set.spec.syncPolicy?.preserveResourcesOnDeletion ? s.held.keepWords : s.held.words}</p>
      <Leaving set={set} setKey={setKey} count={held.count} />
      <TextInput label={s.held.confirm(held.count)} value={word} onChange={(event) => setWord(event.target.value)} autoComplete="off" />
      <details className={css.kubectl}>
        <summary>{s.held.kubectl}</summary>
        <code>kubectl annotate applicationset -n {setKey.namespace} {setKey.name} --overwrite {CONFIRM}={held.token}</code>
      </details>
    </FormDialog>
  )
}

/** Which those are: the condition tells only how many. */
function Leaving({ set, setKey, count }: { set: ApplicationSet; setKey: SetKey; count: number }) {
  const { data, error } = usePreview(setKey.namespace, setManifestOf(set))
  if (error) return <Trouble error={error} what={s.plan.failed} />
  if (!data) return <Loading text={s.plan.running} />
  const leaving = planOfSet(set, data.generated, data.existing).filter((one) => one.act === 'delete')
  if (leaving.length === 0) return <Empty title={s.held.others(0, count)} />
  return (
    <>
      {leaving.length !== count && <p className={css.hint}>{s.held.others(leaving.length, count)}</p>}
      <ul className={css.leaving} aria-label={s.held.list} tabIndex={0}>{leaving.map((one) => <li key={one.name}>{one.name}</li>)}</ul>
    </>
  )
}
