/** Applications in a few words, for tests. */

import type { Application } from '../../api/types'

/** `payments Degraded OutOfSync project=shop team=a`. */
export function app(text: string): Application {
  const [name = '', health = 'Healthy', sync = 'Synced', ...rest] = text.split(' ')
  const given = Object.fromEntries(rest.map((word) => word.split('=') as [string, string]))
  const { project = 'default', namespace = 'shop', server = 'https://kubernetes.default.svc', repo = 'https://git.example/shop.git', ...labels } = given
  return {
    metadata: { name, namespace: 'argocd', labels },
    spec: { project, destination: { server, namespace }, source: { repoURL: repo, path: 'apps' } },
    status: { health: { status: health }, sync: { status: sync } },
  }
}
