/** Clusters that are kept, whether they answer, and new ones. */

import { Checkbox, PasswordInput } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useState } from 'react'

import { queries, useClusters } from '../../api/hooks'
import { addCluster, removeCluster, tryCluster } from '../../api/others'
import type { Cluster } from '../../api/types'
import { tidied } from '../../model/patch'
import { tell, tellTrouble } from '../../parts/Feedback'
import { Area, Field, FormDialog, ListField, useSending } from '../../parts/Form'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import { Connection } from './Connection'
import { Listed } from './Listed'
import { RowMenu } from './RowMenu'

const KEY = ['clusters']
/** The one that Lynceus runs in is there without a record, and cannot be removed. */
const HOME = 'https://kubernetes.default.svc'

export function Clusters() {
  const query = useClusters()
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <Listed
        query={query} none={t.settings.noClusters} head={[t.facets.cluster, t.settings.version, t.apps.title, t.settings.objects, t.settings.connection, t.settings.actions]} add={[t.settings.addCluster, () => setAdding(true)]}
        row={(one) => (
          <tr key={one.server}>
            <td><b>{one.name ?? one.server}</b><div className="quiet">{one.server}</div></td>
            <td>{one.info?.serverVersion ?? one.serverVersion}</td>
            <td>{one.info?.applicationsCount}</td>
            <td>{one.info?.cacheInfo?.resourcesCount}{one.info?.cacheInfo?.lastCacheSyncTime && <div className="quiet"><Ago time={one.info.cacheInfo.lastCacheSyncTime} /> {t.common.ago}</div>}</td>
            <td><Connection state={one.info?.connectionState ?? one.connectionState} /></td>
            <td>
              <RowMenu
                name={one.name ?? one.server} items={[{ text: t.settings.try, icon: <IconPlugConnected size={14} />, run: () => tried(one) }]}
                remove={one.server === HOME ? undefined : { words: t.settings.removeCluster, run: () => removeCluster(one), key: 'clusters' }}
              />
            </td>
          </tr>
        )}
      />
      {isAdding && <AddCluster close={() => setAdding(false)} />}
    </>
  )
}

function tried(one: Cluster): void {
  tryCluster(one)
    .then((answer) => {
      const state = answer.info?.connectionState ?? answer.connectionState
      if (state?.status === 'Failed') tellTrouble(new Error(state.message))
      else tell(t.settings.answered(one.name ?? one.server))
    })
    .catch(tellTrouble)
    .finally(() => void queries.invalidateQueries({ queryKey: KEY }))
}

interface Written {
  name: string
  server: string
  project: string
  namespaces: string[]
  token: string
  ca: string
  isInsecure: boolean
}

/** As the server takes it: certificates are sent in base64. */
function recordOf(one: Written): unknown {
  const tlsClientConfig = { insecure: one.isInsecure || undefined, caData: one.ca.trim() === '' || one.isInsecure ? '' : btoa(one.ca) }
  return tidied({ name: one.name, server: one.server, project: one.project, namespaces: one.namespaces, config: { bearerToken: one.token, tlsClientConfig } })
}

function AddCluster({ close }: { close: () => void }) {
  const sending = useSending()
  const [one, setOne] = useState<Written>({ name: '', server: '', project: '', namespaces: [], token: '', ca: '', isInsecure: false })
  const change = (part: Partial<Written>) => setOne({ ...one, ...part })
  const submit = () => {
    sending.send(async () => addCluster(recordOf(one)), () => {
      tell(t.settings.answered(one.name || one.server))
      void queries.invalidateQueries({ queryKey: KEY })
      close()
    })
  }
  return (
    <FormDialog title={t.settings.addCluster} label={t.edit.create} close={close} submit={submit} sending={sending} isReady={one.server !== ''}>
      <Field label={t.settings.label} value={one.name} set={(name) => change({ name })} />
      <Field label={t.settings.address} value={one.server} set={(server) => change({ server })} placeholder="https://cluster.example.com:6443" isRequired isMono />
      <PasswordInput size="xs" label={t.settings.bearer} value={one.token} onChange={(event) => change({ token: event.target.value })} autoComplete="new-password" />
      {!one.isInsecure && <Area label={t.settings.ca} value={one.ca} set={(ca) => change({ ca })} rows={4} placeholder="-----BEGIN CERTIFICATE-----" />}
      <Checkbox label={t.settings.insecure} checked={one.isInsecure} onChange={() => change({ isInsecure: !one.isInsecure })} />
      <ListField label={t.settings.onlyNamespaces} items={one.namespaces} set={(namespaces) => change({ namespaces })} />
      <Field label={t.facets.project} value={one.project} set={(project) => change({ project })} />
      <p className="quiet">{t.settings.tried}</p>
    </FormDialog>
  )
}
