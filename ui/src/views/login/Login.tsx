/** The way in: a local account, or whoever else the settings say. */

import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { useNavigate } from 'react-router'

import { useSettings } from '../../api/hooks'
import { login } from '../../api/others'
import { messageOf } from '../../parts/Feedback'
import { Logo } from '../../parts/Logo'
import { Scheme } from '../../parts/Shell'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import css from './login.module.css'
import { ownPath } from './path'

export function Login() {
  const words = useWords()
  const back = ownPath(words.get('return_url'))
  const settings = useSettings()
  const sso = ssoName(settings.data)
  const isLocal = !settings.data?.userLoginsDisabled
  return (
    <main className={css.page}>
      <div className={css.corner}><Scheme /></div>
      <div className={css.box}>
        <div className={css.brand}><Logo size={40} /></div>
        <h1 className={css.title}>{t.login.title}</h1>
        <p className="quiet">{t.login.words}</p>
        {words.get('has_sso_error') && <p role="alert" className="tone-bad">{t.login.ssoFailed}</p>}
        {sso && (
          <Button component="a" href={`/auth/login?return_url=${encodeURIComponent(window.location.origin + back)}`} size="sm" fullWidth>{t.login.sso(sso)}</Button>
        )}
        {sso && isLocal && <div className={css.or}>{t.login.or}</div>}
        {isLocal && <Local back={back} isSecond={!!sso} />}
      </div>
    </main>
  )
}

function ssoName(settings: ReturnType<typeof useSettings>['data']): string | undefined {
  if (settings?.oidcConfig?.name) return settings.oidcConfig.name
  const connectors = settings?.dexConfig?.connectors ?? []
  return connectors.length === 0 ? undefined : (connectors[0]?.name ?? 'SSO')
}

function Local({ back, isSecond }: { back: string; isSecond: boolean }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [trouble, setTrouble] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setTrouble('')
    login(username, password)
      .then(() => {
        client.clear()
        void navigate(back, { replace: true })
      })
      .catch((error: unknown) => {
        setTrouble(messageOf(error))
        setBusy(false)
      })
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <TextInput size="sm" label={t.login.username} autoComplete="username" autoFocus required value={username} onChange={(event) => setUsername(event.target.value)} />
      <PasswordInput label={t.login.password} autoComplete="current-password" required value={password} onChange={(event) => setPassword(event.target.value)} />
      {trouble !== '' && <p role="alert" className="tone-bad">{trouble}</p>}
      <Button type="submit" size="sm" loading={isBusy} fullWidth variant={isSecond ? 'default' : 'filled'}>{t.login.submit}</Button>
    </form>
  )
}
