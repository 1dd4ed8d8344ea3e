/** The head of an ApplicationSet: its name, its state, how it works, and what can be done. */

import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconChevronRight, IconCode, IconDots, IconEye, IconTrash } from '@tabler/icons-react'
import { Link } from 'react-router'

import type { Application, ApplicationSet } from '../../api/types'
import { projectOf, setHealth, sizeOf } from '../../model/sets'
import { rollingSteps } from '../../model/steps'
import { HealthMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import head from '../application/application.module.css'
import { AppCounts } from './AppCounts'

interface Props {
  set: ApplicationSet
  own: Application[]
  open: (panel: string) => void
  preview: () => void
}

export function SetHeader({ set, own, open, preview }: Props) {
  return (
    <header className={head.head}>
      <div className="row wrap">
        <nav className="row" aria-label={s.where}>
          <Link to="/applicationsets" className="quiet">{s.title}</Link>
          <IconChevronRight size={13} aria-hidden className="quiet" />
          <h1>{set.metadata.name}</h1>
        </nav>
        {set.metadata.deletionTimestamp && <span className="pill tone-bad">{s.deleting}</span>}
        <div className="grow" />
        <div className="row">
          <Button onClick={preview} leftSection={<IconEye size={14} />}>{s.preview}</Button>
          <Button variant="default" onClick={() => open('spec')} leftSection={<IconCode size={14} />}>{s.edit}</Button>
          <Menu>
            <Menu.Target><ActionIcon variant="default" size={30} aria-label={s.more}><IconDots size={16} /></ActionIcon></Menu.Target>
            <Menu.Dropdown><Menu.Item color="red" leftSection={<IconTrash size={14} />} onClick={() => open('delete')}>{t.app.delete}</Menu.Item></Menu.Dropdown>
          </Menu>
        </div>
      </div>
      <div className={head.facts}>
        <div className={head.fact}>
          <div className={head.factName}>{s.columns.health}</div>
          <div className={head.factMain}><HealthMark status={setHealth(set)} size={17} /></div>
          <div className="quiet cut">{set.status?.health?.lastTransitionTime && <>{s.since} <Ago time={set.status.health.lastTransitionTime} /></>}</div>
        </div>
        <div className={head.fact}>
          <div className={head.factName}>{s.columns.applications}</div>
          <div className={head.factMain}>{sizeOf(set, own)}</div>
          <AppCounts apps={own} size={sizeOf(set, own)} />
        </div>
        <Policy set={set} />
        <div className={head.fact}>
          <div className={head.factName}>{s.columns.project}</div>
          <div className={head.factMain}>{projectOf(set) || 'default'}</div>
          <div className="quiet cut">{set.metadata.namespace}</div>
        </div>
      </div>
    </header>
  )
}

function Policy({ set }: { set: ApplicationSet }) {
  const policy = set.spec.syncPolicy
  const steps = rollingSteps(set).length
  return (
    <div className={head.fact}>
      <div className={head.factName}>{s.policy}</div>
      <div className={head.factMain}>{s.policies[policy?.applicationsSync ?? 'sync'] ?? policy?.applicationsSync}</div>
      <div className="quiet cut">{[steps > 0 ? s.strategy(steps) : s.allAtOnce, ...(policy?.preserveResourcesOnDeletion ? [s.keepsObjects] : [])].join(' · ')}</div>
    </div>
  )
}
