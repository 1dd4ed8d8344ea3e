import { Link } from 'react-router'

import { useProjects } from '../../api/hooks'
import type { Project } from '../../api/types'
import { clusterOf } from '../../model/source'
import { t } from '../../texts'
import { Listed } from './Listed'
import css from './settings.module.css'

export function Projects() {
  const query = useProjects()
  return (
    <Listed
      query={query} none={t.settings.noProjects} head={[t.facets.project, t.settings.sources, t.settings.destinations, t.settings.roles, t.settings.windows]}
      row={(one) => (
        <tr key={one.metadata.name}>
          <td><Link className="link" to={`/applications?project=${encodeURIComponent(one.metadata.name)}`}>{one.metadata.name}</Link><div className="quiet">{one.spec.description}</div></td>
          <td><Few items={one.spec.sourceRepos ?? []} /></td>
          <td><Few items={(one.spec.destinations ?? []).map(destination)} /></td>
          <td><Few items={(one.spec.roles ?? []).map((role) => role.name)} /></td>
          <td><Few items={(one.spec.syncWindows ?? []).map((window) => `${window.kind ?? ''} ${window.schedule ?? ''} ${window.duration ?? ''}`)} /></td>
        </tr>
      )}
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
