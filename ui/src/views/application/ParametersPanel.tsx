/** What the application is made from: sources, values, images, policies. */

import { Button, Switch } from '@mantine/core'
import { IconCode, IconPencil } from '@tabler/icons-react'
import { lazy, Suspense, useState, type ReactNode } from 'react'

import { patchApplication, type AppKey } from '../../api/applications'
import type { Application, Source, SyncPolicy } from '../../api/types'
import { webAddress } from '../../model/links'
import { clusterOf, isAutomated, sourcesOf } from '../../model/source'
import { toYaml } from '../../model/yaml'
import { Anchor } from '../../parts/Anchor'
import { Loading, tellTrouble } from '../../parts/Feedback'
import { Facts, Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import css from './panels.module.css'
import type { PanelProps } from './Panels'

const EditSources = lazy(async () => ({ default: (await import('./EditSources')).EditSources }))

export function ParametersPanel(props: PanelProps) {
  const { app, appKey, words } = props
  const sources = sourcesOf(app.spec)
  const isEditing = words.get('edit') === 'true'
  if (isEditing) return <Suspense fallback={<Loading />}><EditSources {...props} /></Suspense>
  const automated = app.spec.syncPolicy?.automated
  const labels = Object.entries(app.metadata.labels ?? {}).map(([name, value]) => <span key={name} className="pill">{name}={value}</span>)
  return (
    <div className={css.panel}>
      <div className="row">
        <Button leftSection={<IconPencil size={14} />} onClick={() => words.set({ edit: 'true' }, true)}>{t.edit.edit}</Button>
        <Button variant="default" leftSection={<IconCode size={14} />} onClick={() => words.set({ panel: 'spec' }, true)}>{t.edit.asYaml}</Button>
      </div>
      <Facts
        facts={[
          [t.facets.project, app.spec.project],
          [t.columns.destination, `${clusterOf(app.spec.destination)} / ${app.spec.destination.namespace ?? ''}`],
          [t.parameters.policy, isAutomated(app) ? [t.app.automatic, automated?.prune && t.parameters.prunes, automated?.selfHeal && t.parameters.heals].filter(Boolean).join(', ') : t.app.manual],
          [t.syncing.options, app.spec.syncPolicy?.syncOptions?.join(', ')],
          [t.parameters.retries, app.spec.syncPolicy?.retry?.limit],
          [t.node.labels, labels.length > 0 ? <span className="row wrap">{labels}</span> : undefined],
          [t.node.images, app.status?.summary?.images?.length ? <ul className={css.plain}>{app.status.summary.images.map((image) => <li key={image} className="mono">{image}</li>)}</ul> : undefined],
          ...(app.spec.info ?? []).map((one): [string, ReactNode] => [one.name, <Anchor key={one.name} url={one.value}>{one.value}</Anchor>]),
        ]}
      />
      <Automation app={app} appKey={appKey} />
      {sources.map((source, index) => <OneSource key={index} source={source} title={sources.length > 1 ? t.parameters.sourceOf(index + 1, sources.length) : t.parameters.source} type={app.status?.sourceType} />)}
      {(app.spec.ignoreDifferences ?? []).length > 0 && <Section title={t.parameters.ignored}><pre className={css.yaml} tabIndex={0}>{toYaml(app.spec.ignoreDifferences)}</pre></Section>}
    </div>
  )
}

type Automated = NonNullable<SyncPolicy['automated']>

/** Whether it syncs by itself, and how far. Git may say otherwise, and then has the last word. */
function Automation({ app, appKey }: { app: Application; appKey: AppKey }) {
  const [isBusy, setBusy] = useState(false)
  const now: Automated = app.spec.syncPolicy?.automated ?? {}
  const isOn = isAutomated(app)
  const change = (automated: Automated | null) => {
    setBusy(true)
    patchApplication(appKey, { spec: { syncPolicy: { automated } } })
      .catch(tellTrouble)
      .finally(() => setBusy(false))
  }
  return (
    <Section title={t.parameters.automation}>
      <div className="row wrap" style={{ gap: 20 }}>
        <Switch label={t.parameters.syncs} checked={isOn} disabled={isBusy} onChange={() => change(isOn ? null : { enabled: true })} />
        <Switch label={t.syncing.flags.prune} checked={isOn && (now.prune ?? false)} disabled={isBusy || !isOn} onChange={() => change({ prune: !now.prune })} />
        <Switch label={t.parameters.selfHeal} checked={isOn && (now.selfHeal ?? false)} disabled={isBusy || !isOn} onChange={() => change({ selfHeal: !now.selfHeal })} />
      </div>
    </Section>
  )
}

function OneSource({ source, title, type }: { source: Source; title: string; type: string | undefined }) {
  const { helm, kustomize } = source
  return (
    <Section title={title} side={type && <span className="pill">{type}</span>}>
      <Facts
        facts={[
          [t.parameters.repository, <Anchor key="repository" url={webAddress(source.repoURL)}>{source.repoURL}</Anchor>],
          [t.parameters.path, source.path],
          [t.parameters.chart, source.chart],
          [t.columns.revision, source.targetRevision ?? 'HEAD'],
          [t.parameters.ref, source.ref],
          [t.parameters.release, helm?.releaseName],
          [t.parameters.valueFiles, helm?.valueFiles?.join(', ')],
          [t.parameters.prefix, kustomize?.namePrefix],
          [t.parameters.suffix, kustomize?.nameSuffix],
          [t.columns.namespace, kustomize?.namespace],
          [t.parameters.components, kustomize?.components?.join(', ')],
          [t.node.images, kustomize?.images?.length ? <span className="mono">{kustomize.images.join(', ')}</span> : undefined],
        ]}
      />
      {(helm?.parameters ?? []).length > 0 && (
        <table className="plain-table">
          <thead><tr><th>{t.parameters.parameter}</th><th>{t.parameters.value}</th></tr></thead>
          <tbody>{helm?.parameters?.map((one) => <tr key={one.name}><td className="mono">{one.name}</td><td className="mono">{one.value}</td></tr>)}</tbody>
        </table>
      )}
      {(kustomize?.replicas ?? []).length > 0 && <p>{kustomize?.replicas?.map((one) => `${one.name} ×${one.count}`).join(', ')}</p>}
      {helm?.values && <pre className={css.yaml} tabIndex={0}>{helm.values}</pre>}
      {helm?.valuesObject !== undefined && <pre className={css.yaml} tabIndex={0}>{toYaml(helm.valuesObject)}</pre>}
      {(source.directory ?? source.plugin) && <pre className={css.yaml} tabIndex={0}>{toYaml(source.directory ?? source.plugin)}</pre>}
    </Section>
  )
}
