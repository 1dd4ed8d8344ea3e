/** A new application, in a form or as YAML; both show the same draft. */

import { Button, Checkbox, Drawer, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { useNavigate } from 'react-router'

import { createApplication } from '../../api/applications'
import { useClusters, useProjects } from '../../api/hooks'
import type { Application } from '../../api/types'
import { readDocument, written } from '../../model/document'
import { emptyDraft, isName, manifestOf } from '../../model/draft'
import { faultOf } from '../../model/fields'
import { sourcesOf } from '../../model/source'
import { tell, Trouble } from '../../parts/Feedback'
import { Field, useSending, type Sending } from '../../parts/Form'
import css from '../../parts/form.module.css'
import { Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import { appPath } from '../applications/useMoving'
import { Chosen } from './Chosen'
import { DocumentForm } from './DocumentForm'
import edit from './edit.module.css'
import { Sources } from './Sources'

export function NewApplication({ close }: { close: () => void }) {
  const navigate = useNavigate()
  const sending = useSending()
  const [draft, setDraft] = useState<Application>(emptyDraft)
  const [text, setText] = useState<string>()
  const create = (manifest: Record<string, unknown>) => {
    let made: Application | undefined
    sending.send(
      async () => (made = await createApplication(manifest)),
      () => {
        if (!made) return
        tell(t.edit.created(made.metadata.name))
        void navigate(appPath(made))
      },
    )
  }
  const show = (how: string) => {
    if (how === 'yaml') return setText(written(manifestOf(draft)))
    const read = readDocument(text ?? '')
    if ('value' in read) setDraft(asDraft(read.value))
    setText(undefined)
  }
  return (
    <Drawer opened onClose={close} position="right" size={640} title={<strong>{t.creating.title}</strong>} closeButtonProps={{ 'aria-label': t.common.close }} transitionProps={{ duration: 120 }}>
      <div className={edit.form}>
        <SegmentedControl aria-label={t.edit.how} className={edit.switch} value={text === undefined ? 'form' : 'yaml'} onChange={show} data={[{ value: 'form', label: t.edit.form }, { value: 'yaml', label: t.edit.yaml }]} />
        {text === undefined
          ? <DraftForm draft={draft} set={setDraft} sending={sending} create={() => create(manifestOf(draft))} />
          : <DocumentForm label={t.creating.yamlLabel} text={text} setText={setText} sending={sending} save={create} button={t.edit.create} />}
      </div>
    </Drawer>
  )
}

/** What was written as YAML, with what the form cannot do without. */
function asDraft(value: Record<string, unknown>): Application {
  const empty = emptyDraft()
  const read = value as Partial<Application>
  const spec = { ...empty.spec, ...read.spec }
  return { ...read, metadata: { ...empty.metadata, ...read.metadata }, spec: { ...spec, destination: { ...read.spec?.destination } } }
}

function DraftForm({ draft, set, sending, create }: { draft: Application; set: (draft: Application) => void; sending: Sending; create: () => void }) {
  const projects = useProjects()
  const clusters = useClusters()
  const { spec, metadata } = draft
  const change = (part: Partial<Application['spec']>) => set({ ...draft, spec: { ...spec, ...part } })
  const fault = (path: string) => faultOf(sending.faults, path)
  const isNameBad = metadata.name !== '' && !isName(metadata.name)
  const isMany = (spec.sources ?? []).length > 0
  const automated = spec.syncPolicy?.automated
  const sync = (part: Record<string, unknown>) => change({ syncPolicy: { ...spec.syncPolicy, ...part } })
  const options = spec.syncPolicy?.syncOptions ?? []
  const makesNamespace = options.includes('CreateNamespace=true')
  return (
    <form
      className={edit.form}
      onSubmit={(event) => {
        event.preventDefault()
        create()
      }}
    >
      <Section title={t.creating.general}>
        <div className={css.grid}>
          <Field label={t.creating.name} value={metadata.name} set={(name) => set({ ...draft, metadata: { ...metadata, name } })} error={isNameBad ? t.creating.badName : fault('metadata.name')} isRequired />
          <Chosen label={t.facets.project} value={spec.project} set={(project) => change({ project })} choices={(projects.data ?? []).map((one) => ({ value: one.metadata.name, label: one.metadata.name }))} error={fault('spec.project')} />
          <Chosen
            label={t.creating.cluster} value={spec.destination.name ?? spec.destination.server ?? ''} error={fault('spec.destination.server') ?? fault('spec.destination')}
            choices={(clusters.data ?? []).map((one) => ({ value: one.server, label: one.name ?? one.server }))} set={(server) => change({ destination: { namespace: spec.destination.namespace ?? '', server } })}
          />
          <Field label={t.columns.namespace} value={spec.destination.namespace} set={(namespace) => change({ destination: { ...spec.destination, namespace } })} error={fault('spec.destination.namespace')} />
        </div>
      </Section>
      <Sources sources={sourcesOf(spec)} set={(sources) => change(isMany ? { sources } : sources[0] ? { source: sources[0] } : {})} isMany={isMany} faults={sending.faults} />
      <Section title={t.creating.policy}>
        <div className="row wrap" style={{ gap: 20 }}>
          <Checkbox label={t.parameters.syncs} checked={!!automated} onChange={() => sync({ automated: automated ? undefined : {} })} />
          <Checkbox label={t.syncing.flags.prune} disabled={!automated} checked={automated?.prune ?? false} onChange={() => sync({ automated: { ...automated, prune: !automated?.prune } })} />
          <Checkbox label={t.parameters.selfHeal} disabled={!automated} checked={automated?.selfHeal ?? false} onChange={() => sync({ automated: { ...automated, selfHeal: !automated?.selfHeal } })} />
          <Checkbox label={t.syncing.optionNames['CreateNamespace=true']} checked={makesNamespace} onChange={() => sync({ syncOptions: makesNamespace ? options.filter((one) => one !== 'CreateNamespace=true') : [...options, 'CreateNamespace=true'] })} />
        </div>
      </Section>
      {sending.error !== undefined && <Trouble error={sending.error} what={t.edit.refused} />}
      <div className={edit.foot}><Button type="submit" loading={sending.isBusy} disabled={isNameBad}>{t.edit.create}</Button></div>
    </form>
  )
}
