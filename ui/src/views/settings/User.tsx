/** Who one is, and one's password. */

import { Button, PasswordInput } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'

import { useUser, useVersion } from '../../api/hooks'
import { changePassword } from '../../api/others'
import { Loading, tell, Trouble } from '../../parts/Feedback'
import { FormDialog, useSending } from '../../parts/Form'
import { Facts } from '../../parts/Toolbar'
import { t } from '../../texts'

/** Who issues the sessions of local accounts; others keep their passwords elsewhere. */
const OURS = 'argocd'

export function User() {
  const user = useUser()
  const version = useVersion()
  const [isChanging, setChanging] = useState(false)
  if (user.error) return <Trouble error={user.error} />
  if (!user.data) return <Loading />
  const { username, iss, groups, loggedIn } = user.data
  return (
    <div className="stack" style={{ maxWidth: 560 }}>
      <div className="card" style={{ padding: '8px 16px' }}>
        <Facts
          facts={[
            [t.login.username, username ?? t.nav.anonymous],
            [t.settings.issuer, iss],
            [t.settings.groups, groups?.join(', ')],
            [t.settings.server, version.data?.Version],
          ]}
        />
      </div>
      {loggedIn && username && (iss ?? OURS) === OURS && <div><Button variant="default" leftSection={<IconKey size={14} />} onClick={() => setChanging(true)}>{t.settings.password}</Button></div>}
      {isChanging && username && <Password name={username} close={() => setChanging(false)} />}
    </div>
  )
}

function Password({ name, close }: { name: string; close: () => void }) {
  const sending = useSending()
  const [now, setNow] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const isOther = again !== '' && next !== again
  const submit = () => {
    sending.send(() => changePassword(name, now, next), () => {
      tell(t.settings.passwordChanged)
      close()
    })
  }
  return (
    <FormDialog title={t.settings.password} label={t.edit.save} close={close} submit={submit} sending={sending} isReady={now !== '' && next !== '' && next === again}>
      <PasswordInput size="xs" label={t.settings.currentPassword} value={now} onChange={(event) => setNow(event.target.value)} autoComplete="current-password" required />
      <PasswordInput size="xs" label={t.settings.newPassword} value={next} onChange={(event) => setNext(event.target.value)} autoComplete="new-password" required />
      <PasswordInput size="xs" label={t.settings.repeatPassword} value={again} onChange={(event) => setAgain(event.target.value)} autoComplete="new-password" required error={isOther ? t.settings.notSame : undefined} />
    </FormDialog>
  )
}
