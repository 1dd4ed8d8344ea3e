import { useRepositories } from '../../api/hooks'
import { webAddress } from '../../model/links'
import { Anchor } from '../../parts/Anchor'
import { t } from '../../texts'
import { Connection } from './Connection'
import { Listed } from './Listed'

export function Repositories() {
  const query = useRepositories()
  return (
    <Listed
      query={query} none={t.settings.noRepositories} head={[t.parameters.repository, t.settings.type, t.facets.project, t.settings.connection]}
      row={(one) => (
        <tr key={`${one.repo} ${one.project ?? ''}`}>
          <td><Anchor url={webAddress(one.repo)}>{one.repo}</Anchor>{one.name && <div className="quiet">{one.name}</div>}</td>
          <td>{one.type ?? 'git'}{one.enableOCI ? ' (OCI)' : ''}</td>
          <td>{one.project}</td>
          <td><Connection state={one.connectionState} /></td>
        </tr>
      )}
    />
  )
}
