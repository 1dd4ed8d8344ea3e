/** Where manifests come from and how they are made, to write. */

import { Checkbox, SegmentedControl } from '@mantine/core'

import type { HelmSource, KustomizeSource, Source } from '../../api/types'
import { TOOLS, toolOf, type Tool } from '../../model/draft'
import { faultOf, type Fault } from '../../model/fields'
import { Area, Field, ListField, Pairs } from '../../parts/Form'
import css from '../../parts/form.module.css'
import { t } from '../../texts'

interface Props {
  source: Source
  set: (source: Source) => void
  /** Where the source stands in the Application: `spec.source`, `spec.sources[0]`. */
  at: string
  faults: Fault[]
  /** Which tool the engine found, if it has looked. */
  found?: string | undefined
  tool: Tool | undefined
  setTool: (tool: Tool) => void
}

export function SourceForm({ source, set, at, faults, found, tool = toolOf(source, found), setTool }: Props) {
  const change = (part: Partial<Source>) => set({ ...source, ...part })
  const fault = (field: string) => faultOf(faults, `${at}.${field}`)
  const isChart = source.chart !== undefined && source.path === undefined
  return (
    <div className="stack">
      <Field label={t.parameters.repository} value={source.repoURL} set={(repoURL) => change({ repoURL })} error={fault('repoURL')} placeholder="https://git.example.com/team/repo.git" isRequired isMono />
      <div className={css.grid}>
        {isChart
          ? <Field label={t.parameters.chart} value={source.chart} set={(chart) => change({ chart })} error={fault('chart')} isMono />
          : <Field label={t.parameters.path} value={source.path} set={(path) => change({ path })} error={fault('path')} placeholder="environments/production" isMono />}
        <Field label={t.columns.revision} value={source.targetRevision} set={(targetRevision) => change({ targetRevision })} error={fault('targetRevision')} placeholder="HEAD" isMono />
      </div>
      {!source.ref && (
        <SegmentedControl
          aria-label={t.edit.tool} value={isChart ? 'chart' : tool} data={[...TOOLS.map((value) => ({ value, label: t.edit.tools[value] })), { value: 'chart', label: t.edit.tools.chart }]}
          onChange={(value) => pick(value as Tool | 'chart', source, set, setTool)}
        />
      )}
      {(tool === 'helm' || isChart) && <Helm helm={source.helm ?? {}} set={(helm) => change({ helm })} fault={(field) => fault(`helm.${field}`)} />}
      {tool === 'kustomize' && !isChart && <Kustomize kustomize={source.kustomize ?? {}} set={(kustomize) => change({ kustomize })} fault={(field) => fault(`kustomize.${field}`)} />}
      {tool === 'directory' && !isChart && <Directory directory={source.directory ?? {}} set={(directory) => change({ directory })} fault={(field) => fault(`directory.${field}`)} />}
    </div>
  )
}

/** What belongs to another tool goes: the server would refuse two in one source. */
function pick(value: Tool | 'chart', { path, chart, helm, kustomize, directory, ...rest }: Source, set: (source: Source) => void, setTool: (tool: Tool) => void): void {
  const where = path ?? chart ?? ''
  setTool(value === 'chart' ? 'helm' : value)
  set({
    ...rest,
    ...(value === 'chart' ? { chart: where } : { path: where }),
    ...((value === 'helm' || value === 'chart') && helm && { helm }),
    ...(value === 'kustomize' && kustomize && { kustomize }),
    ...(value === 'directory' && directory && { directory }),
  })
}

type FaultOf = (field: string) => string | undefined

function Helm({ helm, set, fault }: { helm: HelmSource; set: (helm: HelmSource) => void; fault: FaultOf }) {
  const change = (part: Partial<HelmSource>) => set({ ...helm, ...part })
  return (
    <>
      <Pairs
        label={t.edit.parameters} add={t.edit.addParameter} names={[t.parameters.parameter, t.parameters.value]} pairs={(helm.parameters ?? []).map(({ name, value }) => ({ name, value: value ?? '' }))}
        set={(pairs) => change({ parameters: pairs.map(({ name, value }) => ({ ...helm.parameters?.find((old) => old.name === name), name, value })) })}
      />
      {fault('parameters') && <p className="tone-bad">{fault('parameters')}</p>}
      <div className={css.grid}>
        <ListField label={t.parameters.valueFiles} items={helm.valueFiles} set={(valueFiles) => change({ valueFiles })} error={fault('valueFiles')} placeholder="values-production.yaml" />
        <Field label={t.parameters.release} value={helm.releaseName} set={(releaseName) => change({ releaseName })} error={fault('releaseName')} hint={t.edit.releaseHint} isMono />
      </div>
      {helm.valuesObject === undefined && <Area label={t.edit.values} hint={t.edit.valuesHint} value={helm.values} set={(values) => change({ values })} error={fault('values')} rows={8} />}
      {helm.valuesObject !== undefined && <p className="quiet">{t.edit.valuesObject}</p>}
    </>
  )
}

function Kustomize({ kustomize, set, fault }: { kustomize: KustomizeSource; set: (kustomize: KustomizeSource) => void; fault: FaultOf }) {
  const change = (part: Partial<KustomizeSource>) => set({ ...kustomize, ...part })
  return (
    <>
      <div className={css.grid}>
        <Field label={t.parameters.prefix} value={kustomize.namePrefix} set={(namePrefix) => change({ namePrefix })} error={fault('namePrefix')} isMono />
        <Field label={t.parameters.suffix} value={kustomize.nameSuffix} set={(nameSuffix) => change({ nameSuffix })} error={fault('nameSuffix')} isMono />
        <Field label={t.columns.namespace} value={kustomize.namespace} set={(namespace) => change({ namespace })} error={fault('namespace')} isMono />
        <ListField label={t.node.images} items={kustomize.images} set={(images) => change({ images })} error={fault('images')} placeholder="registry.example/shop:1.4.1" hint={t.edit.imagesHint} />
      </div>
      <Pairs
        label={t.edit.replicas} add={t.edit.addReplicas} names={[t.edit.workload, t.edit.count]} pairs={(kustomize.replicas ?? []).map(({ name, count }) => ({ name, value: String(count) }))}
        set={(pairs) => change({ replicas: pairs.map(({ name, value }) => ({ name, count: /^\d+$/.test(value) ? Number(value) : value })) })}
      />
      {fault('replicas') && <p className="tone-bad">{fault('replicas')}</p>}
    </>
  )
}

type Files = Record<string, unknown>

function Directory({ directory, set, fault }: { directory: Files; set: (directory: Files) => void; fault: FaultOf }) {
  const text = (field: string) => (typeof directory[field] === 'string' ? (directory[field] as string) : undefined)
  return (
    <>
      <Checkbox label={t.edit.recurse} checked={directory.recurse === true} onChange={() => set({ ...directory, recurse: directory.recurse === true ? undefined : true })} />
      <div className={css.grid}>
        <Field label={t.edit.include} value={text('include')} set={(include) => set({ ...directory, include })} error={fault('include')} placeholder="*.yaml" isMono />
        <Field label={t.edit.exclude} value={text('exclude')} set={(exclude) => set({ ...directory, exclude })} error={fault('exclude')} placeholder="{test/*,*.md}" isMono />
      </div>
    </>
  )
}
