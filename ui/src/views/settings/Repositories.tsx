/** Repositories that are kept, whether they answer, and new ones. */

import { Checkbox, PasswordInput, SegmentedControl } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useState } from 'react'

import { queries, useRepositories } from '../../api/hooks'
import { addRepository, removeRepository, tryRepository } from '../../api/others'
import type { Repository, RepositorySecret } from '../../api/types'
import { webAddress } from '../../model/links'
import { tidied } from '../../model/patch'
import { Anchor } from '../../parts/Anchor'
import { tell, tellTrouble } from '../../parts/Feedback'
import { Area, Field, FormDialog, useSending } from '../../parts/Form'
import { t } from '../../texts'
import { Connection } from './Connection'
import { Listed } from './Listed'
import { RowMenu } from './RowMenu'

const KEY = ['repositories']

export function Repositories() {
  const query = useRepositories()
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <Listed
        query={query} none={t.settings.noRepositories} head={[t.parameters.repository, t.settings.type, t.facets.project, t.settings.connection, t.settings.actions]} add={[t.settings.addRepository, () => setAdding(true)]}
        row={(one) => (
          <tr key={`${one.repo} ${one.project ?? ''}`}>
            <td><Anchor url={webAddress(one.repo)}>{one.repo}</Anchor>{one.name && <div className="quiet">{one.name}</div>}</td>
            <td>{one.type ?? 'git'}{one.enableOCI ? ' (OCI)' : ''}</td>
            <td>{one.project}</td>
            <td><Connection state={one.connectionState} /></td>
            <td>
              <RowMenu
                name={one.repo} items={[{ text: t.settings.try, icon: <IconPlugConnected size={14} />, run: () => tried(one) }]}
                remove={{ words: t.settings.removeRepository, run: () => removeRepository(one), key: 'repositories' }}
              />
            </td>
          </tr>
        )}
      />
      {isAdding && <AddRepository close={() => setAdding(false)} />}
    </>
  )
}

function tried(one: Repository): void {
  tryRepository(one)
    .then((answer) => (answer.connectionState?.status === 'Failed' ? tellTrouble(new Error(answer.connectionState.message)) : tell(t.settings.answered(one.repo))))
    .catch(tellTrouble)
    .finally(() => void queries.invalidateQueries({ queryKey: KEY }))
}

const TYPES = ['git', 'helm', 'oci'] as const

function AddRepository({ close }: { close: () => void }) {
  const sending = useSending()
  const [one, setOne] = useState<RepositorySecret>({ repo: '', type: 'git' })
  const change = (part: Partial<RepositorySecret>) => setOne({ ...one, ...part })
  const isSsh = one.type === 'git' && (one.repo.startsWith('ssh://') || /^[\w.-]+@[\w.-]+:/.test(one.repo))
  const submit = () => {
    sending.send(() => addRepository(tidied(one)), () => {
      tell(t.settings.answered(one.repo))
      void queries.invalidateQueries({ queryKey: KEY })
      close()
    })
  }
  return (
    <FormDialog title={t.settings.addRepository} label={t.edit.create} close={close} submit={submit} sending={sending} isReady={one.repo !== ''}>
      <SegmentedControl aria-label={t.settings.repositoryType} value={one.type ?? 'git'} onChange={(type) => change({ type })} data={TYPES.map((value) => ({ value, label: t.settings.types[value] }))} />
      <Field label={t.settings.address} value={one.repo} set={(repo) => change({ repo })} isRequired isMono placeholder={one.type === 'oci' ? 'oci://registry.example/charts' : 'https://git.example.com/team/repo.git'} />
      <Field label={t.settings.label} value={one.name} set={(name) => change({ name })} />
      <Field label={t.facets.project} value={one.project} set={(project) => change({ project })} />
      {isSsh ? <Area label={t.settings.sshKey} value={one.sshPrivateKey} set={(sshPrivateKey) => change({ sshPrivateKey })} rows={5} /> : (
        <>
          <Field label={t.settings.user} value={one.username} set={(username) => change({ username })} />
          <PasswordInput size="xs" label={t.settings.secret} value={one.password ?? ''} onChange={(event) => change({ password: event.target.value })} autoComplete="new-password" />
        </>
      )}
      <Checkbox label={t.settings.insecure} checked={one.insecure ?? false} onChange={() => change({ insecure: !one.insecure })} />
      <p className="quiet">{t.settings.tried}</p>
    </FormDialog>
  )
}
