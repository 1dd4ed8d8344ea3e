/** An Application that is being written, in a form or as YAML. */

import type { Application, Source } from '../api/types'
import { tidied } from './patch'

export const TOOLS = ['directory', 'helm', 'kustomize'] as const
export type Tool = (typeof TOOLS)[number]

export function emptyDraft(namespace = 'argocd'): Application {
  return {
    metadata: { name: '', namespace },
    spec: { project: 'default', destination: { server: 'https://kubernetes.default.svc', namespace: '' }, source: { repoURL: '', path: '', targetRevision: 'HEAD' }, syncPolicy: { syncOptions: ['CreateNamespace=true'] } },
  }
}

/** A draft as the server takes it. */
export function manifestOf(app: Application): Record<string, unknown> {
  const { name, namespace, labels, annotations, finalizers } = app.metadata
  const kept = { name, namespace, labels, annotations: own(annotations), finalizers }
  return { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: tidied(kept), spec: tidied(app.spec) }
}

/** Annotations that a person may have written; the engine's own would only be in the way. */
export function own(annotations: Record<string, string> | undefined): Record<string, string> | undefined {
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !name.startsWith('lynceus.dev/') && name !== 'kubectl.kubernetes.io/last-applied-configuration')
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** Which tool makes the manifests: what the source says, what was found there, or plain files. */
export function toolOf(source: Source, found: string | undefined): Tool {
  if (source.chart || source.helm || found === 'Helm') return 'helm'
  if (source.kustomize || found === 'Kustomize') return 'kustomize'
  return 'directory'
}

/** One item for each line that has something on it. */
export function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '')
}

/** Seconds of `12h`, `30d` or a number of days; 0, which never ends, for nothing. */
export function lifetime(text: string): number | undefined {
  if (text.trim() === '') return 0
  const [, count, unit] = /^\s*(\d{1,6})\s*([smhd]?)\s*$/.exec(text) ?? []
  if (count === undefined) return undefined
  return Number(count) * { s: 1, m: 60, h: 3600, d: 86_400 }[(unit || 'd') as 's' | 'm' | 'h' | 'd']
}

/** Whether Kubernetes takes it as a name: it is told while it is written, not after it was sent. */
export function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
}
