/** Requests about everything but applications. */

import { call } from './client'
import type { CodeText, DoctorReport, MendedFix, RehearsalReport } from './ours'
import type { Account, Cluster, Items, Project, Repository, RepositorySecret, Settings, UserInfo } from './types'

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

const part = encodeURIComponent
const repository = (one: Repository) => `/api/v1/repositories/${part(one.repo)}`
const cluster = (one: Cluster) => `/api/v1/clusters/${part(one.server)}`

/** Keeps a repository. The server tries it first, and refuses what does not answer. */
export const addRepository = (one: RepositorySecret) => call<Repository>('POST', '/api/v1/repositories', { body: one })
export const tryRepository = (one: Repository) => call<Repository>('GET', repository(one), { query: { forceRefresh: true, appProject: one.project } })
export const removeRepository = (one: Repository) => call('DELETE', repository(one), { query: { appProject: one.project } })

export const addCluster = (one: unknown) => call<Cluster>('POST', '/api/v1/clusters', { body: one })
export const changeCluster = (one: Cluster, change: unknown, updatedFields: string) => call<Cluster>('PUT', cluster(one), { query: { updatedFields }, body: { ...(change as object), server: one.server } })
export const tryCluster = (one: Cluster) => call<Cluster>('POST', `${cluster(one)}/invalidate-cache`)
export const removeCluster = (one: Cluster) => call('DELETE', cluster(one))

export const createProject = (project: unknown) => call<Project>('POST', '/api/v1/projects', { body: { project } })
export const updateProject = (name: string, project: unknown) => call<Project>('PUT', `/api/v1/projects/${part(name)}`, { body: { project } })
export const removeProject = (name: string) => call('DELETE', `/api/v1/projects/${part(name)}`)

const role = (project: string, name: string) => `/api/v1/projects/${part(project)}/roles/${part(name)}/token`

export const createRoleToken = (project: string, name: string, id: string, expiresIn: number) => call<{ token?: string }>('POST', role(project, name), { body: { project, role: name, id, expiresIn } })
export const removeRoleToken = (project: string, name: string, token: { iat: number | string; id?: string }) => call('DELETE', `${role(project, name)}/${part(String(token.iat))}`, { query: { id: token.id } })

export const createToken = (name: string, id: string, expiresIn: number) => call<{ token?: string }>('POST', `/api/v1/account/${part(name)}/token`, { body: { name, id, expiresIn } })
export const removeToken = (name: string, id: string) => call('DELETE', `/api/v1/account/${part(name)}/token/${part(id)}`)

export function changePassword(name: string, currentPassword: string, newPassword: string): Promise<unknown> {
  return call('PUT', '/api/v1/account/password', { body: { name, currentPassword, newPassword } })
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
