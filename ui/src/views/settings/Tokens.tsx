/** The tokens of an account or of a project's roles: made, shown once, and revoked. */

import { Button, CopyButton, Modal } from '@mantine/core'
import { useState } from 'react'

import { lifetime } from '../../model/draft'
import { fullTime } from '../../model/time'
import { Field, FormDialog, useSending } from '../../parts/Form'
import { t } from '../../texts'
import { Chosen } from '../edit/Chosen'
import css from './settings.module.css'

export interface Token {
  id: string
  /** The role that it belongs to, in a project. */
  role?: string
  expires?: number | string | undefined
  revoke: () => Promise<unknown>
}

interface Props {
  owner: string
  tokens: Token[]
  roles?: string[]
  create: (id: string, seconds: number, role: string) => Promise<{ token?: string }>
  changed: () => void
  close: () => void
  /** Why there can be none, if there cannot. */
  none?: string | undefined
}

export function Tokens({ owner, tokens, roles = [], create, changed, close, none }: Props) {
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<string>()
  const [going, setGoing] = useState<Token>()
  const sending = useSending()
  const revoke = (token: Token) => {
    sending.send(token.revoke, () => {
      setGoing(undefined)
      changed()
    })
  }
  return (
    <Modal opened onClose={close} size={520} title={<strong>{t.settings.tokenOf(owner)}</strong>} closeButtonProps={{ 'aria-label': t.common.close }}>
      <div className="stack">
        {made !== undefined && <Made token={made} />}
        {tokens.length === 0 && <p className="quiet">{none ?? t.settings.noTokens}</p>}
        {tokens.length > 0 && (
          <ul className={css.tokens}>
            {tokens.map((token) => (
              <li key={`${token.role ?? ''} ${token.id}`} className="row">
                <span className="cut grow"><b>{token.id}</b>{token.role && <span className="quiet"> · {token.role}</span>}</span>
                <span className="quiet">{Number(token.expires ?? 0) > 0 ? t.settings.until(fullTime(new Date(Number(token.expires) * 1000).toISOString())) : t.settings.forever}</span>
                <Button variant="default" onClick={() => setGoing(token)}>{t.settings.revoke}</Button>
              </li>
            ))}
          </ul>
        )}
        {!none && <div className="row" style={{ justifyContent: 'flex-end' }}><Button onClick={() => setMaking(true)}>{t.settings.newToken}</Button></div>}
      </div>
      {isMaking && <Make roles={roles} create={create} close={() => setMaking(false)} done={(token) => (setMade(token), setMaking(false), changed())} />}
      {going && (
        <FormDialog title={t.settings.revokeTitle(going.id)} label={t.settings.revoke} close={() => setGoing(undefined)} submit={() => revoke(going)} sending={sending} isDanger>
          <p>{t.settings.revokeWords}</p>
        </FormDialog>
      )}
    </Modal>
  )
}

/** The one time that a token is seen. */
function Made({ token }: { token: string }) {
  return (
    <div className={css.made} role="status">
      <p>{t.settings.tokenMade}</p>
      <div className="row">
        <code className={css.token}>{token}</code>
        <CopyButton value={token}>{({ copied, copy }) => <Button variant="default" onClick={copy}>{copied ? t.common.copied : t.common.copy}</Button>}</CopyButton>
      </div>
    </div>
  )
}

function Make({ roles, create, close, done }: { roles: string[]; create: Props['create']; close: () => void; done: (token: string) => void }) {
  const sending = useSending()
  const [id, setId] = useState('')
  const [time, setTime] = useState('30d')
  const [role, setRole] = useState(roles[0] ?? '')
  const seconds = lifetime(time)
  const submit = () => {
    let token = ''
    sending.send(async () => (token = (await create(id, seconds ?? 0, role)).token ?? ''), () => done(token))
  }
  return (
    <FormDialog title={t.settings.newToken} label={t.edit.create} close={close} submit={submit} sending={sending} isReady={seconds !== undefined}>
      {roles.length > 0 && <Chosen label={t.settings.role} value={role} set={setRole} choices={roles.map((value) => ({ value, label: value }))} />}
      <Field label={t.settings.tokenId} hint={t.settings.tokenIdHint} value={id} set={setId} />
      <Field label={t.settings.lifetime} hint={t.settings.lifetimeHint} value={time} set={setTime} error={seconds === undefined ? t.settings.badLifetime : undefined} />
    </FormDialog>
  )
}
