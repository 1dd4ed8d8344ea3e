/** What is known of one object: how it is and why, what Git wants of it, what happened to it, what it says. */

import { ActionIcon, Button, Menu, Modal, Tabs, TextInput } from '@mantine/core'
import { IconBolt, IconTrash, IconX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { deleteResource, runAction, type AppKey } from '../../api/applications'
import { useActions, useManaged } from '../../api/hooks'
import type { Application, ResourceAction, TreeNode } from '../../api/types'
import { hasLogs } from '../../model/log'
import { parse, sameRef } from '../../model/manifest'
import { Loading, tell, tellTrouble } from '../../parts/Feedback'
import { Kind } from '../../parts/Kind'
import type { Words } from '../../parts/useWords'
import { t } from '../../texts'
import css from './application.module.css'
import { NodeEvents } from './NodeEvents'
import { NodeSummary } from './NodeSummary'

const NodeDiff = lazy(async () => ({ default: (await import('./NodeDiff')).NodeDiff }))
const NodeManifest = lazy(async () => ({ default: (await import('./NodeManifest')).NodeManifest }))
const NodeLogs = lazy(async () => ({ default: (await import('./NodeLogs')).NodeLogs }))

interface Props {
  app: Application
  appKey: AppKey
  node: TreeNode
  isThere: boolean
  words: Words
  close: () => void
}

export function NodePanel({ app, appKey, node, isThere, words, close }: Props) {
  const managed = useManaged(appKey, app.metadata.resourceVersion)
  const own = managed.data?.find((one) => sameRef(one, node))
  const wanted = own && parse(own.targetState) !== undefined
  const tabs = ['summary', ...(own ? ['diff'] : []), 'manifest', 'events', ...(hasLogs(node) && isThere ? ['logs'] : [])]
  const tab = tabs.includes(words.get('tab') ?? '') ? (words.get('tab') ?? 'summary') : 'summary'
  return (
    <aside className={css.side} aria-label={t.node.panel(node.kind, node.name)}>
      <div className={css.sideHead}>
        <Kind kind={node.kind} />
        <div className="grow">
          <h2 className="cut" title={node.name}>{node.name}</h2>
          <div className="quiet cut">{node.kind}{node.group ? ` · ${node.group}` : ''}{node.namespace ? ` · ${node.namespace}` : ''}</div>
        </div>
        {isThere && <Actions appKey={appKey} node={node} close={close} />}
        <ActionIcon aria-label={t.common.close} onClick={close}><IconX size={16} /></ActionIcon>
      </div>
      <Tabs value={tab} onChange={(value) => words.set({ tab: value === 'summary' ? undefined : (value ?? undefined) })} className={css.tabs} keepMounted={false}>
        <Tabs.List>
          {tabs.map((one) => <Tabs.Tab key={one} value={one}>{t.node.tabs[one as keyof typeof t.node.tabs]}</Tabs.Tab>)}
        </Tabs.List>
        <Suspense fallback={<Loading />}>
          <Tabs.Panel value="summary"><NodeSummary app={app} node={node} managed={own} isThere={isThere} isWanted={wanted ?? false} /></Tabs.Panel>
          <Tabs.Panel value="diff">{own && <NodeDiff managed={own} />}</Tabs.Panel>
          <Tabs.Panel value="manifest"><NodeManifest appKey={appKey} node={node} managed={own} isThere={isThere} /></Tabs.Panel>
          <Tabs.Panel value="events"><NodeEvents appKey={appKey} node={node} /></Tabs.Panel>
          <Tabs.Panel value="logs"><NodeLogs appKey={appKey} node={node} words={words} /></Tabs.Panel>
        </Suspense>
      </Tabs>
    </aside>
  )
}

function Actions({ appKey, node, close }: { appKey: AppKey; node: TreeNode; close: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState<ResourceAction>()
  const [isDeleting, setDeleting] = useState(false)
  const actions = useActions(appKey, node, isOpen)
  const client = useQueryClient()
  const run = (action: ResourceAction, parameters: Record<string, string>) => {
    setChosen(undefined)
    runAction(appKey, node, action.name, parameters)
      .then(() => {
        tell(t.node.ran(action.displayName || action.name, node.name))
        void client.invalidateQueries({ queryKey: ['resource'] })
      })
      .catch(tellTrouble)
  }
  const remove = (force: boolean) => {
    setDeleting(false)
    deleteResource(appKey, node, { force, orphan: false })
      .then(() => {
        tell(t.node.deleted(node.kind, node.name))
        close()
      })
      .catch(tellTrouble)
  }
  return (
    <>
      <Menu opened={isOpen} onChange={setOpen}>
        <Menu.Target><ActionIcon aria-label={t.node.actions}><IconBolt size={16} /></ActionIcon></Menu.Target>
        <Menu.Dropdown>
          {actions.isFetching && !actions.data && <Menu.Label>{t.common.loading}</Menu.Label>}
          {actions.data?.length === 0 && <Menu.Label>{t.node.noActions}</Menu.Label>}
          {actions.data?.map((action) => (
            <Menu.Item key={action.name} disabled={action.disabled ?? false} onClick={() => ((action.params ?? []).length > 0 ? setChosen(action) : run(action, {}))}>{action.displayName || action.name}</Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => setDeleting(true)}>{t.app.delete}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {chosen && <Parameters action={chosen} close={() => setChosen(undefined)} run={(parameters) => run(chosen, parameters)} />}
      <Modal opened={isDeleting} onClose={() => setDeleting(false)} title={t.node.deleteTitle(node.kind, node.name)}>
        <p>{t.node.deleteWords}</p>
        <div className="row" style={{ marginTop: 16, justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={() => remove(true)}>{t.node.deleteForce}</Button>
          <Button color="red" onClick={() => remove(false)}>{t.app.delete}</Button>
        </div>
      </Modal>
    </>
  )
}

function Parameters({ action, close, run }: { action: ResourceAction; close: () => void; run: (parameters: Record<string, string>) => void }) {
  const [values, setValues] = useState<Record<string, string>>({})
  return (
    <Modal opened onClose={close} title={action.displayName || action.name} size="sm">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run(values)
        }}
      >
        {action.params?.map((one) => <TextInput key={one.name} label={one.name} required value={values[one.name] ?? ''} onChange={(event) => setValues({ ...values, [one.name]: event.target.value })} />)}
        <Button type="submit">{t.node.run}</Button>
      </form>
    </Modal>
  )
}
