/** Projects: what they allow, to write as YAML, and the tokens of their roles. */

import { IconCode, IconKey } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'react-router'

import { queries, useProjects } from '../../api/hooks'
import { createRoleToken, removeProject, removeRoleToken } from '../../api/others'
import type { Project } from '../../api/types'
import { clusterOf } from '../../model/source'
import { t } from '../../texts'
import { Listed } from './Listed'
import { RowMenu } from './RowMenu'
import css from './settings.module.css'
import { Tokens } from './Tokens'

const ProjectDrawer = lazy(async () => ({ default: (await import('./ProjectDrawer')).ProjectDrawer }))

type Open = { what: 'new' } | { what: 'yaml' | 'tokens'; name: string }

export function Projects() {
  const query = useProjects()
  const [open, setOpen] = useState<Open>()
  const chosen = open && 'name' in open ? query.data?.find((one) => one.metadata.name === open.name) : undefined
  const close = () => setOpen(undefined)
  return (
    <>
      <Listed
        query={query} none={t.settings.noProjects} head={[t.facets.project, t.settings.sources, t.settings.destinations, t.settings.roles, t.settings.windows, t.settings.actions]} add={[t.settings.newProject, () => setOpen({ what: 'new' })]}
        row={(one) => (
          <tr key={one.metadata.name}>
            <td><Link className="link" to={`/applications?project=${encodeURIComponent(one.metadata.name)}`}>{one.metadata.name}</Link><div className="quiet">{one.spec.description}</div></td>
            <td><Few items={one.spec.sourceRepos ?? []} /></td>
            <td><Few items={(one.spec.destinations ?? []).map(destination)} /></td>
            <td><Few items={(one.spec.roles ?? []).map((role) => role.name)} /></td>
            <td><Few items={(one.spec.syncWindows ?? []).map((window) => `${window.kind ?? ''} ${window.schedule ?? ''} ${window.duration ?? ''}`)} /></td>
            <td>
              <RowMenu
                name={one.metadata.name}
                items={[
                  { text: t.edit.asYaml, icon: <IconCode size={14} />, run: () => setOpen({ what: 'yaml', name: one.metadata.name }) },
                  { text: t.settings.tokens, icon: <IconKey size={14} />, run: () => setOpen({ what: 'tokens', name: one.metadata.name }) },
                ]}
                remove={one.metadata.name === 'default' ? undefined : { words: t.settings.removeProject, run: () => removeProject(one.metadata.name), key: 'projects' }}
              />
            </td>
          </tr>
        )}
      />
      {(open?.what === 'new' || (open?.what === 'yaml' && chosen)) && <Suspense fallback={null}><ProjectDrawer project={chosen} close={close} /></Suspense>}
      {open?.what === 'tokens' && chosen && <RoleTokens project={chosen} close={close} />}
    </>
  )
}

function RoleTokens({ project, close }: { project: Project; close: () => void }) {
  const name = project.metadata.name
  const roles = project.spec.roles ?? []
  const tokens = roles.flatMap((role) => (role.jwtTokens ?? []).map((token) => ({ id: token.id ?? String(token.iat), role: role.name, expires: token.exp, revoke: () => removeRoleToken(name, role.name, token) })))
  return (
    <Tokens
      owner={name} tokens={tokens} roles={roles.map((role) => role.name)} close={close} none={roles.length === 0 ? t.settings.noRoles : undefined} changed={() => void queries.invalidateQueries({ queryKey: ['projects'] })}
      create={(id, seconds, role) => createRoleToken(name, role, id, seconds)}
    />
  )
}

function destination(one: NonNullable<Project['spec']['destinations']>[number]): string {
  return `${one.server === '*' ? '*' : clusterOf(one)} / ${one.namespace ?? '*'}`
}

const SHOWN = 4

function Few({ items }: { items: string[] }) {
  return (
    <ul className={css.few}>
      {items.slice(0, SHOWN).map((item, index) => <li key={index}>{item}</li>)}
      {items.length > SHOWN && <li className="quiet" title={items.slice(SHOWN).join('\n')}>{t.settings.more(items.length - SHOWN)}</li>}
    </ul>
  )
}
