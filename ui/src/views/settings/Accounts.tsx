import { useAccounts } from '../../api/hooks'
import { t } from '../../texts'
import { Listed } from './Listed'

export function Accounts() {
  const query = useAccounts()
  return (
    <Listed
      query={query} none={t.settings.noAccounts} head={[t.settings.account, t.settings.state, t.settings.capabilities, t.settings.tokens]}
      row={(one) => (
        <tr key={one.name}>
          <td><b>{one.name}</b></td>
          <td>{one.enabled === false ? <span className="pill">{t.settings.disabled}</span> : <span className="pill tone-good">{t.settings.enabled}</span>}</td>
          <td>{one.capabilities?.join(', ')}</td>
          <td>{one.tokens?.map((token) => token.id).join(', ')}</td>
        </tr>
      )}
    />
  )
}
