import { describe, expect, test } from 'vitest'

import { logsStream } from '../../api/applications'
import type { LogEntry } from '../../api/types'
import { addLines, containersOf, hasLogs, savedLine } from '../log'

const line = (podName: string, timeStampStr: string, content = ''): LogEntry => ({ podName, timeStampStr, content })

describe('logs', () => {
  test('are of pods and of what runs pods', () => {
    const kinds = ['/Pod', 'apps/Deployment', 'apps/StatefulSet', 'apps/ReplicaSet', 'apps/DaemonSet', 'batch/Job', '/Service', 'example.com/Pod', 'example.com/Deployment']
    const having = kinds.filter((one) => {
      const [group, kind] = one.split('/') as [string, string]
      return hasLogs({ group, kind, name: 'web' })
    })
    expect(having).toEqual(['/Pod', 'apps/Deployment', 'apps/StatefulSet', 'apps/ReplicaSet', 'apps/DaemonSet', 'batch/Job'])
  })

  test('are asked for by the pod, or by the object that the pods are of', () => {
    const app = { name: 'shop', namespace: 'argocd' }
    const options = { follow: true, tailLines: 10, previous: false }
    const asked = (ref: { group?: string; kind: string; namespace: string; name: string }) => new URL(logsStream(app, ref, 'main', options), 'http://x').searchParams
    const pod = asked({ kind: 'Pod', namespace: 'shop', name: 'web-1' })
    expect([pod.get('podName'), pod.get('resourceName'), pod.get('container')]).toEqual(['web-1', null, 'main'])
    const all = asked({ group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' })
    expect([all.get('podName'), all.get('group'), all.get('kind'), all.get('resourceName'), all.get('namespace')]).toEqual([null, 'apps', 'Deployment', 'web', 'shop'])
  })

  test('have the containers of the pod, or of the template that pods are made by', () => {
    const spec = { initContainers: [{ name: 'setup' }], containers: [{ name: 'main' }, { name: 'proxy' }] }
    expect(containersOf({ spec })).toEqual(['main', 'proxy', 'setup'])
    expect(containersOf({ spec: { replicas: 2, template: { spec } } })).toEqual(['main', 'proxy', 'setup'])
    expect(containersOf(undefined)).toEqual([])
  })

  test('of several pods are in the order of their times', () => {
    const first = [line('a', '2026-01-01T00:00:01Z'), line('a', '2026-01-01T00:00:03.5Z')]
    const second = [line('b', '2026-01-01T00:00:02Z'), line('b', '2026-01-01T00:00:03.25Z'), line('b', '2026-01-01T00:00:03.55Z')]
    expect(addLines(first, second, true).map((one) => one.podName).join('')).toBe('abbab')
    expect(addLines(first, second).map((one) => one.podName).join('')).toBe('aabbb')
  })

  test('are saved with the names of the pods where there are several', () => {
    const one = line('web-1', '', 'hello')
    expect([savedLine(one, false), savedLine(one, true)]).toEqual(['hello', 'web-1 hello'])
  })
})
