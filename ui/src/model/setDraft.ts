/** An ApplicationSet as people write it. */

import type { ApplicationSet } from '../api/types'
import { own } from './draft'
import { mergePatch, patched, tidied } from './patch'
import { CONFIRM } from './sets'

type Json = Record<string, unknown>

const HEAD = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet' }

export const emptySet = (namespace = 'argocd'): Json => ({
  ...HEAD,
  metadata: { name: '', namespace },
  spec: {
    goTemplate: true,
    goTemplateOptions: ['missingkey=error'],
    generators: [{ git: { repoURL: '', revision: 'HEAD', directories: [{ path: 'apps/*' }] } }],
    template: {
      metadata: { name: '{{.path.basename}}' },
      spec: {
        project: 'default',
        source: { repoURL: '', targetRevision: 'HEAD', path: '{{.path.path}}' },
        destination: { server: 'https://kubernetes.default.svc', namespace: '{{.path.basename}}' },
        syncPolicy: { syncOptions: ['CreateNamespace=true'] },
      },
    },
  },
})

export function setManifestOf(set: ApplicationSet): Json {
  const { name, namespace, labels, annotations, finalizers } = set.metadata
  return { ...HEAD, metadata: tidied({ name, namespace, labels, annotations: own(annotations), finalizers }), spec: set.spec }
}

/** What was changed, put on the set as it is by now: what others changed meanwhile stays. None where nothing was changed. */
export function changedSet(before: Json, after: Json, now: ApplicationSet): Json | undefined {
  const patch = mergePatch(before, after)
  return patch && patched(setManifestOf(now), patch)
}

/** Labels and annotations that were taken out of a text; Argo CD's API adds them and takes none away. */
export function takenAway(before: Json, after: Json): string[] {
  const keys = (manifest: Json, field: string) => Object.keys(((manifest.metadata as Json | undefined)?.[field] as Json | undefined) ?? {})
  return ['labels', 'annotations'].flatMap((field) => keys(before, field).filter((key) => !keys(after, field).includes(key)).map((key) => `metadata.${field}.${key}`))
}

/** A set with the word that lets deletions go on. */
export function confirmed(set: ApplicationSet, token: string): Json {
  const manifest = setManifestOf(set)
  const metadata = manifest.metadata as Json
  return { ...manifest, metadata: { ...metadata, annotations: { ...set.metadata.annotations, [CONFIRM]: token } } }
}
