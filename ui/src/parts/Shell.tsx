/** The frame around all views: where one can go, who one is, and whether the page is live. */

import { ActionIcon, Menu, Modal, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconApps, IconKeyboard, IconLogout, IconMoon, IconPlayerTrackNext, IconSettings, IconStack2, IconStethoscope, IconSun, IconUserCircle, type Icon } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { NavLink, Outlet, useLocation, useNavigate } from 'react-router'

import { onLoggedOut } from '../api/client'
import { queries, useApplications, useApplicationsLive, useDoctor, useSettings, useUser, useVersion } from '../api/hooks'
import { logout } from '../api/others'
import type { StreamState } from '../api/stream'
import { safeLink } from '../model/links'
import { t } from '../texts'
import { Anchor } from './Anchor'
import { Notices, tellTrouble } from './Feedback'
import { Logo } from './Logo'
import css from './shell.module.css'
import { useKeys } from './useKeys'

export function Shell() {
  const navigate = useNavigate()
  const location = useLocation()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const live = useApplicationsLive(true)
  useEffect(() => {
    onLoggedOut(() => {
      const back = window.location.pathname + window.location.search
      if (!back.startsWith('/login')) void navigate(`/login?return_url=${encodeURIComponent(back)}`, { replace: true })
    })
  }, [navigate])
  useKeys({
    '?': () => setHelpOpen(true),
    'g a': () => void navigate('/applications'),
    'g e': () => void navigate('/applicationsets'),
    'g d': () => void navigate('/doctor'),
    'g r': () => void navigate('/rehearsal'),
    'g s': () => void navigate('/settings'),
  })
  return (
    <div className={css.shell}>
      <a className="skip" href="#main">{t.nav.skip}</a>
      <nav className={css.rail} aria-label={t.nav.main}>
        <NavLink to="/applications" className={css.brand} aria-label={t.nav.home}>
          <Logo />
          <span>{t.nav.brand}</span>
        </NavLink>
        <Places />
        <div className={css.space} />
        <Live state={live} />
        <Foot openHelp={() => setHelpOpen(true)} />
      </nav>
      <main id="main" className={css.main} key={location.pathname.split('/')[1]}>
        <Banner />
        <Outlet />
      </main>
      <Notices />
      <Help isOpen={isHelpOpen} close={() => setHelpOpen(false)} />
    </div>
  )
}

function Places() {
  const apps = useApplications()
  const isSomethingWrong = apps.items?.some((app) => app.status?.health?.status !== 'Healthy' || app.status?.sync?.status !== 'Synced') ?? false
  const doctor = useDoctor(isSomethingWrong)
  return (
    <div className={css.places}>
      <Place to="/applications" icon={IconApps} text={t.nav.applications} count={apps.items?.length} />
      <Place to="/applicationsets" icon={IconStack2} text={t.nav.sets} short={t.nav.setsShort} />
      <Place to="/doctor" icon={IconStethoscope} text={t.nav.doctor} count={doctor.data?.roots.length} isBad />
      <Place to="/rehearsal" icon={IconPlayerTrackNext} text={t.nav.rehearsal} />
      <Place to="/settings" icon={IconSettings} text={t.nav.settings} />
    </div>
  )
}

/** `short` is what a phone has room for. */
function Place({ to, icon: Shape, text, short, count, isBad }: { to: string; icon: Icon; text: string; short?: string; count?: number | undefined; isBad?: boolean }) {
  return (
    <NavLink to={to} className={css.place}>
      <Shape size={17} stroke={1.7} aria-hidden />
      <span className={css.placeText} data-long={short !== undefined || undefined}>{text}</span>
      {short !== undefined && <span className={css.placeShort}>{short}</span>}
      {!!count && <span className={css.count} data-bad={isBad || undefined}>{count}</span>}
    </NavLink>
  )
}

function Live({ state }: { state: StreamState }) {
  return (
    <div className={css.live} data-state={state} role="status">
      <span className={css.dot} aria-hidden />
      <span>{t.live[state]}</span>
    </div>
  )
}

function Foot({ openHelp }: { openHelp: () => void }) {
  const user = useUser()
  const version = useVersion()
  const navigate = useNavigate()
  const leave = () => {
    logout()
      .then(() => {
        queries.clear()
        void navigate('/login')
      })
      .catch(tellTrouble)
  }
  return (
    <div className={css.foot}>
      <Menu position="top-start" width={200}>
        <Menu.Target>
          <button type="button" className={css.user}>
            <IconUserCircle size={17} stroke={1.7} aria-hidden />
            <span className="cut">{user.data?.username ?? t.nav.anonymous}</span>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{version.data?.Version ?? ''}</Menu.Label>
          <Menu.Item leftSection={<IconUserCircle size={14} />} onClick={() => void navigate('/settings/user')}>{t.nav.user}</Menu.Item>
          <Menu.Item leftSection={<IconKeyboard size={14} />} onClick={openHelp}>{t.nav.keys}</Menu.Item>
          <Menu.Item leftSection={<IconLogout size={14} />} onClick={leave}>{t.nav.logout}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Scheme />
    </div>
  )
}

export function Scheme() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const next = scheme === 'dark' ? 'light' : 'dark'
  return (
    <Tooltip label={t.nav.scheme[next]}>
      <ActionIcon aria-label={t.nav.scheme[next]} onClick={() => setColorScheme(next)}>
        {scheme === 'dark' ? <IconSun size={16} /> : <IconMoon size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}

function Banner() {
  const settings = useSettings()
  const { uiBannerContent: text, uiBannerURL: url } = settings.data ?? {}
  if (!text) return null
  return <div className={css.banner}>{safeLink(url) ? <Anchor url={url}>{text}</Anchor> : text}</div>
}

function Help({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  return (
    <Modal opened={isOpen} onClose={close} title={t.nav.keys} size="sm">
      <table className="plain-table">
        <tbody>
          {t.keys.map(([key, what]) => (
            <tr key={key}>
              <td><kbd>{key}</kbd></td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Modal>
  )
}
