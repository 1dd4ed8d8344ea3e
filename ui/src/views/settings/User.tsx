import { useUser, useVersion } from '../../api/hooks'
import { Loading, Trouble } from '../../parts/Feedback'
import { Facts } from '../../parts/Toolbar'
import { t } from '../../texts'

export function User() {
  const user = useUser()
  const version = useVersion()
  if (user.error) return <Trouble error={user.error} />
  if (!user.data) return <Loading />
  return (
    <div className="card" style={{ padding: '8px 16px', maxWidth: 560 }}>
      <Facts
        facts={[
          [t.login.username, user.data.username ?? t.nav.anonymous],
          [t.settings.issuer, user.data.iss],
          [t.settings.groups, user.data.groups?.join(', ')],
          [t.settings.server, version.data?.Version],
        ]}
      />
    </div>
  )
}
