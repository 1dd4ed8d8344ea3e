/** What the installation knows: repositories, clusters, projects, accounts, and who one is. */

import { Tabs } from '@mantine/core'
import { useNavigate, useParams } from 'react-router'

import { Head } from '../../parts/Toolbar'
import { t } from '../../texts'
import { Accounts } from './Accounts'
import { Clusters } from './Clusters'
import { Projects } from './Projects'
import { Repositories } from './Repositories'
import css from './settings.module.css'
import { User } from './User'

const TABS = { repos: Repositories, clusters: Clusters, projects: Projects, accounts: Accounts, user: User }

export function Settings() {
  const { tab = 'repos' } = useParams()
  const navigate = useNavigate()
  const name = (tab in TABS ? tab : 'repos') as keyof typeof TABS
  const Shown = TABS[name]
  return (
    <>
      <Head title={t.settings.title} />
      <Tabs value={name} onChange={(value) => void navigate(`/settings/${value ?? 'repos'}`)} className={css.tabs}>
        <Tabs.List>{(Object.keys(TABS) as (keyof typeof TABS)[]).map((one) => <Tabs.Tab key={one} value={one}>{t.settings.tabs[one]}</Tabs.Tab>)}</Tabs.List>
        <Tabs.Panel value={name}><div className={css.page}><Shown /></div></Tabs.Panel>
      </Tabs>
    </>
  )
}
