/** Where an application comes from and goes to, in a few words. */

import type { Application, ApplicationSpec, Destination, Source } from '../api/types'

export function sourcesOf(spec: ApplicationSpec): Source[] {
  return spec.sources && spec.sources.length > 0 ? spec.sources : spec.source ? [spec.source] : []
}

/** The last part of a repository's address. */
export function repositoryName(address: string): string {
  const parts = address.replace(/\.git$/, '').split(/[/:]/).filter((part) => part !== '')
  return parts.slice(-2).join('/') || address
}

export function sourceText(source: Source | undefined): string {
  if (!source) return ''
  const what = source.chart ?? source.path ?? ''
  return what === '' ? repositoryName(source.repoURL) : what
}

const HOME = 'https://kubernetes.default.svc'

export function clusterOf(destination: Destination | undefined): string {
  if (destination?.name) return destination.name
  const server = destination?.server ?? ''
  return server === HOME || server === '' ? 'in-cluster' : server.replace(/^https?:\/\//, '')
}

/** A commit is long; anything else is shown as it is. */
export function shortRevision(revision: string | undefined): string {
  if (!revision) return ''
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 7) : revision
}

export function revisionOf(app: Application): string | undefined {
  return app.status?.sync?.revision || app.status?.sync?.revisions?.[0]
}

export function isAutomated(app: Application): boolean {
  const automated = app.spec.syncPolicy?.automated
  return automated !== undefined && automated !== null && automated.enabled !== false
}
