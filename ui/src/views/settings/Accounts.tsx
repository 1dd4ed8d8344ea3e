/** Local accounts, and their tokens. */

import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'

import { queries, useAccounts } from '../../api/hooks'
import { createToken, removeToken } from '../../api/others'
import { t } from '../../texts'
import { Listed } from './Listed'
import { RowMenu } from './RowMenu'
import { Tokens } from './Tokens'

export function Accounts() {
  const query = useAccounts()
  const [name, setName] = useState<string>()
  const open = query.data?.find((one) => one.name === name)
  return (
    <>
      <Listed
        query={query} none={t.settings.noAccounts} head={[t.settings.account, t.settings.state, t.settings.capabilities, t.settings.tokens, t.settings.actions]}
        row={(one) => (
          <tr key={one.name}>
            <td><b>{one.name}</b></td>
            <td>{one.enabled === false ? <span className="pill">{t.settings.disabled}</span> : <span className="pill tone-good">{t.settings.enabled}</span>}</td>
            <td>{one.capabilities?.join(', ')}</td>
            <td>{one.tokens?.map((token) => token.id).join(', ')}</td>
            <td><RowMenu name={one.name} items={[{ text: t.settings.tokens, icon: <IconKey size={14} />, run: () => setName(one.name) }]} /></td>
          </tr>
        )}
      />
      {open && (
        <Tokens
          owner={open.name} close={() => setName(undefined)} changed={() => void queries.invalidateQueries({ queryKey: ['accounts'] })} none={open.capabilities?.includes('apiKey') ? undefined : t.settings.noApiKey}
          tokens={(open.tokens ?? []).map((token) => ({ id: token.id, expires: token.expiresAt, revoke: () => removeToken(open.name, token.id) }))} create={(id, seconds) => createToken(open.name, id, seconds)}
        />
      )}
    </>
  )
}
