import { useClusters } from '../../api/hooks'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import { Connection } from './Connection'
import { Listed } from './Listed'

export function Clusters() {
  const query = useClusters()
  return (
    <Listed
      query={query} none={t.settings.noClusters} head={[t.facets.cluster, t.settings.version, t.apps.title, t.settings.objects, t.settings.connection]}
      row={(one) => (
        <tr key={one.server}>
          <td><b>{one.name ?? one.server}</b><div className="quiet">{one.server}</div></td>
          <td>{one.info?.serverVersion ?? one.serverVersion}</td>
          <td>{one.info?.applicationsCount}</td>
          <td>{one.info?.cacheInfo?.resourcesCount}{one.info?.cacheInfo?.lastCacheSyncTime && <div className="quiet"><Ago time={one.info.cacheInfo.lastCacheSyncTime} /> {t.common.ago}</div>}</td>
          <td><Connection state={one.info?.connectionState ?? one.connectionState} /></td>
        </tr>
      )}
    />
  )
}
