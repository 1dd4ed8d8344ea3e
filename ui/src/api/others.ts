/** Requests about everything but applications. */

import { call } from './client'
import type { CodeText, DoctorReport, MendedFix, RehearsalReport } from './ours'
import type { Account, Cluster, Items, Project, Repository, Settings, UserInfo } from './types'

async function list<T>(path: string): Promise<T[]> {
  return (await call<Items<T>>('GET', path)).items ?? []
}

export const getRepositories = () => list<Repository>('/api/v1/repositories')
export const getClusters = () => list<Cluster>('/api/v1/clusters')
export const getProjects = () => list<Project>('/api/v1/projects')
export const getAccounts = () => list<Account>('/api/v1/account')
export const getUser = () => call<UserInfo>('GET', '/api/v1/session/userinfo')
export const getSettings = () => call<Settings>('GET', '/api/v1/settings')
export const getVersion = () => call<{ Version?: string }>('GET', '/api/version')

export function login(username: string, password: string): Promise<{ token: string }> {
  return call('POST', '/api/v1/session', { body: { username, password } })
}

export function logout(): Promise<unknown> {
  return call('DELETE', '/api/v1/session')
}

export const getDoctor = () => call<DoctorReport>('GET', '/api/v1/doctor')

export function getCode(code: string): Promise<CodeText> {
  return call('GET', `/api/v1/doctor/codes/${encodeURIComponent(code)}`)
}

export function mend(id: string, choice: number): Promise<MendedFix> {
  return call('POST', '/api/v1/fix', { body: { id, choice } })
}

/** Plays a repository; the one that most applications come from if none is named. */
export function rehearse(repository: string | undefined): Promise<RehearsalReport> {
  return call('POST', '/api/v1/rehearse', { body: repository ? { repository } : {} })
}
