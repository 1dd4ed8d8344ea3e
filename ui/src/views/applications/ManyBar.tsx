/** What can be done with several applications at once, and what came of it for each. */

import { Button, Checkbox, Modal, Radio, Stack, TextInput } from '@mantine/core'
import { IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled, IconRefresh, IconRotateClockwise, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'

import { deleteApplication, getApplication, sync, type AppKey } from '../../api/applications'
import type { Application } from '../../api/types'
import { keyOf } from '../../model/live'
import { each } from '../../model/pool'
import { messageOf } from '../../parts/Feedback'
import { t } from '../../texts'
import { HOW, type How } from '../application/ways'
import css from './many.module.css'

/** As many as a browser opens to one server, less the two streams. */
const AT_ONCE = 4

type Doing = 'sync' | 'refresh' | 'hard' | 'delete'

export function ManyBar({ chosen, clear }: { chosen: Application[]; clear: () => void }) {
  const [doing, setDoing] = useState<{ what: Doing; apps: Application[] }>()
  const begin = (what: Doing) => setDoing({ what, apps: chosen })
  return (
    <>
      {chosen.length > 0 && (
        <div className={css.bar} role="toolbar" aria-label={t.many.bar}>
          <strong>{t.many.chosen(chosen.length)}</strong>
          <button type="button" className="link" onClick={clear}>{t.many.clear}</button>
          <div className="grow" />
          <Button leftSection={<IconRotateClockwise size={14} />} onClick={() => begin('sync')}>{t.many.sync}</Button>
          <Button variant="default" leftSection={<IconRefresh size={14} />} onClick={() => begin('refresh')}>{t.many.refresh}</Button>
          <Button variant="default" onClick={() => begin('hard')}>{t.many.hard}</Button>
          <Button variant="default" leftSection={<IconTrash size={14} />} onClick={() => begin('delete')}>{t.many.delete}</Button>
        </div>
      )}
      {doing && <Dialog {...doing} close={() => setDoing(undefined)} done={clear} />}
    </>
  )
}

type State = 'asked' | Error

function Dialog({ what, apps, close, done }: { what: Doing; apps: Application[]; close: () => void; done: () => void }) {
  const [states, setStates] = useState<Map<string, State>>()
  const [isPruning, setPruning] = useState(false)
  const [isDry, setDry] = useState(false)
  const [how, setHow] = useState<How>('foreground')
  const [word, setWord] = useState('')
  const isReady = what !== 'delete' || word.trim() === String(apps.length)
  const request = (key: AppKey): Promise<unknown> => {
    if (what === 'sync') return sync(key, { prune: isPruning, dryRun: isDry })
    if (what === 'delete') return deleteApplication(key, HOW[how])
    return getApplication(key, what === 'hard' ? 'hard' : 'normal')
  }
  const run = () => {
    const seen = new Map<string, State>()
    setStates(seen)
    void each(apps, AT_ONCE, (app) => request({ namespace: app.metadata.namespace ?? 'argocd', name: app.metadata.name }), ({ item, error }) => {
      seen.set(keyOf(item), error === undefined ? 'asked' : error instanceof Error ? error : new Error(messageOf(error)))
      setStates(new Map(seen))
    })
  }
  const end = () => {
    if (states && [...states.values()].every((one) => one === 'asked')) done()
    close()
  }
  return (
    <Modal opened onClose={end} size={520} title={<strong>{t.many.title[what](apps.length)}</strong>} closeButtonProps={{ 'aria-label': t.common.close }}>
      <div className="stack">
        {!states && what === 'sync' && (
          <>
            <Checkbox label={t.syncing.flags.prune} description={t.syncing.flagHints.prune} checked={isPruning} onChange={() => setPruning(!isPruning)} />
            <Checkbox label={t.syncing.flags.dryRun} description={t.syncing.flagHints.dryRun} checked={isDry} onChange={() => setDry(!isDry)} />
          </>
        )}
        {!states && what === 'delete' && (
          <>
            <Radio.Group value={how} onChange={(value) => setHow(value as How)} label={t.remove.how}>
              <Stack gap={6} mt={6}>{(Object.keys(HOW) as How[]).map((one) => <Radio key={one} size="xs" value={one} label={t.remove.ways[one]} />)}</Stack>
            </Radio.Group>
            <TextInput label={t.many.confirm(apps.length)} value={word} onChange={(event) => setWord(event.target.value)} autoComplete="off" />
          </>
        )}
        <ul className={css.apps} aria-live="polite">{apps.map((app) => <One key={keyOf(app)} app={app} state={states?.get(keyOf(app))} isBegun={!!states} />)}</ul>
        <div className="row" style={{ justifyContent: 'flex-end' }}>
          {states && <span className="quiet grow">{t.many.progress(states.size, apps.length)}</span>}
          {states ? <Button variant="default" onClick={end}>{t.many.close}</Button> : <Button {...(what === 'delete' && { color: 'red' })} disabled={!isReady} onClick={run}>{t.many[what]}</Button>}
        </div>
      </div>
    </Modal>
  )
}

function One({ app, state, isBegun }: { app: Application; state: State | undefined; isBegun: boolean }) {
  const Shape = state === undefined ? IconCircleDashed : state === 'asked' ? IconCircleCheckFilled : IconCircleXFilled
  const tone = state === undefined ? 'none' : state === 'asked' ? 'good' : 'bad'
  return (
    <li>
      <div className="row">
        {isBegun && <span className={`row tone-${tone}`} role="img" aria-label={state === undefined ? t.many.waits : state === 'asked' ? t.many.asked : t.operation.states.failed}><Shape size={14} /></span>}
        <span className="cut grow">{app.metadata.name}</span>
      </div>
      {state instanceof Error && <div className={css.message}>{state.message}</div>}
    </li>
  )
}
