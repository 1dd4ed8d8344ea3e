/** The object as it is, and as Git wants it. */

import { CopyButton, ActionIcon, SegmentedControl, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useMemo, useState } from 'react'

import type { AppKey } from '../../api/applications'
import { useResource } from '../../api/hooks'
import type { ManagedResource, TreeNode } from '../../api/types'
import { managedFields, parse, readable } from '../../model/manifest'
import { writerOf } from '../../model/writers'
import { toLines } from '../../model/yaml'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { t } from '../../texts'
import css from './application.module.css'

interface Props {
  appKey: AppKey
  node: TreeNode
  managed: ManagedResource | undefined
  isThere: boolean
}

export function NodeManifest({ appKey, node, managed, isThere }: Props) {
  const [side, setSide] = useState(isThere ? 'live' : 'desired')
  const resource = useResource(appKey, node, node.resourceVersion, isThere && side === 'live')
  const text = side === 'live' ? (resource.data ?? managed?.liveState) : managed?.targetState
  const manifest = useMemo(() => parse(text), [text])
  const lines = useMemo(() => (manifest ? toLines(readable(manifest)) : []), [manifest])
  const writers = useMemo(() => lines.map((line) => (side === 'live' ? writerOf(manifest, line.path, managedFields(manifest))?.manager : undefined)), [lines, manifest, side])
  return (
    <div className={css.sideBody}>
      <div className="row">
        {managed && <SegmentedControl aria-label={t.node.side} value={side} onChange={setSide} data={[{ value: 'live', label: t.node.live, disabled: !isThere }, { value: 'desired', label: t.node.desired }]} />}
        <div className="grow" />
        <CopyButton value={lines.map((line) => line.text).join('\n')}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? t.common.copied : t.common.copy}><ActionIcon aria-label={t.common.copy} onClick={copy}>{copied ? <IconCheck size={15} /> : <IconCopy size={15} />}</ActionIcon></Tooltip>
          )}
        </CopyButton>
      </div>
      {resource.error && side === 'live' && <Trouble error={resource.error} />}
      {!manifest && resource.isFetching && <Loading />}
      {!manifest && !resource.isFetching && !resource.error && <Empty title={t.node.noManifest} />}
      {lines.length > 0 && (
        <div className={css.code} tabIndex={0} role="region" aria-label={t.node.tabs.manifest}>
          {lines.map((line, index) => (
            <div key={index} className={css.codeLine}>
              <span className={css.codeNumber} aria-hidden>{index + 1}</span>
              <span className={css.codeText}>{line.text}</span>
              {writers[index] && writers[index] !== writers[index - 1] && <span className={css.codeWriter} title={t.diff.writtenBy}>{writers[index]}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  )
}
