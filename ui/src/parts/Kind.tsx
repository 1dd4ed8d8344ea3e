/** A kind as a small tile with letters: the same everywhere, and no two kinds that are often seen look alike. */

import css from './kind.module.css'

const SHORT: Record<string, string> = {
  image: 'Img', repository: 'Git', cluster: 'Clu', setting: 'Set', controller: 'Ctl', kind: 'Knd',
  Application: 'App', AppProject: 'Prj', ClusterRole: 'CR', ClusterRoleBinding: 'CRB', ConfigMap: 'CM', ControllerRevision: 'Rev', CronJob: 'CJ',
  CustomResourceDefinition: 'CRD', DaemonSet: 'DS', Deployment: 'Dep', EndpointSlice: 'EPS', Endpoints: 'EP', HorizontalPodAutoscaler: 'HPA', Ingress: 'Ing',
  Job: 'Job', Namespace: 'NS', NetworkPolicy: 'NP', Node: 'Nod', PersistentVolume: 'PV', PersistentVolumeClaim: 'PVC', Pod: 'Pod', PodDisruptionBudget: 'PDB',
  ReplicaSet: 'RS', Role: 'Rol', RoleBinding: 'RB', Secret: 'Sec', Service: 'Svc', ServiceAccount: 'SA', StatefulSet: 'Sts', StorageClass: 'SC',
}

const FAMILY: Record<string, string> = {
  Deployment: 'run', StatefulSet: 'run', DaemonSet: 'run', ReplicaSet: 'run', Pod: 'run', Job: 'run', CronJob: 'run', Application: 'app', ApplicationSet: 'app',
  Service: 'net', Ingress: 'net', EndpointSlice: 'net', Endpoints: 'net', NetworkPolicy: 'net', ConfigMap: 'keep', Secret: 'keep', PersistentVolumeClaim: 'keep', PersistentVolume: 'keep',
}

function short(kind: string): string {
  return SHORT[kind] ?? (kind.replace(/[a-z]/g, '').slice(0, 3) || kind.slice(0, 3))
}

export function Kind({ kind }: { kind: string }) {
  return <span className={css.kind} data-family={FAMILY[kind]} aria-hidden title={kind}>{short(kind)}</span>
}
