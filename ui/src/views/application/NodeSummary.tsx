/** The facts about an object, with why it is not healthy in front. */

import { Link } from 'react-router'

import type { Application, ManagedResource, TreeNode } from '../../api/types'
import { changeOf, parse, refText } from '../../model/manifest'
import { pageOf } from '../../model/owner'
import { HealthMark, SyncMark } from '../../parts/Status'
import { Ago } from '../../parts/Time'
import { Facts } from '../../parts/Toolbar'
import { t } from '../../texts'
import css from './application.module.css'

interface Props {
  app: Application
  node: TreeNode
  managed: ManagedResource | undefined
  isThere: boolean
  isWanted: boolean
}

export function NodeSummary({ app, node, managed, isThere, isWanted }: Props) {
  const status = app.status?.resources?.find((one) => refText(one) === refText(node))
  const result = app.status?.operationState?.syncResult?.resources?.find((one) => refText(one) === refText(node))
  const health = node.health ?? status?.health
  const live = parse(managed?.liveState)
  const page = pageOf(node)
  const labels = Object.entries(live?.metadata?.labels ?? node.networkingInfo?.labels ?? {})
  return (
    <div className={css.sideBody}>
      {!isThere && <p className={css.note}>{isWanted || status ? t.node.notThere : t.node.gone}</p>}
      {health?.message && <p className={css.note} data-bad={health.status !== 'Healthy' || undefined}>{health.message}</p>}
      <Facts
        facts={[
          [t.columns.health, health?.status && <HealthMark status={health.status} />],
          [t.columns.sync, status?.status && <SyncMark status={status.status} />],
          [t.node.page, page && <Link className="link" to={page}>{node.name}</Link>],
          [t.node.change, managed && t.changes[changeOf(managed)]],
          [t.columns.wave, status?.syncWave],
          [t.node.hook, status?.hook ? t.common.yes : undefined],
          [t.node.lastResult, result?.message],
          [t.node.version, [node.group, node.version].filter(Boolean).join('/')],
          [t.columns.namespace, node.namespace],
          [t.node.created, node.createdAt && <><Ago time={node.createdAt} /> {t.common.ago}</>],
          ...(node.info ?? []).map((one): [string, string] => [one.name, one.value]),
          [t.node.images, node.images?.length ? <span className="mono">{node.images.join(', ')}</span> : undefined],
          [t.node.owners, node.parentRefs?.length ? node.parentRefs.map((one) => `${one.kind} ${one.name}`).join(', ') : undefined],
          [t.node.labels, labels.length > 0 ? <span className={css.labels}>{labels.map(([name, value]) => <span key={name} className="pill">{name}={value}</span>)}</span> : undefined],
        ]}
      />
    </div>
  )
}
