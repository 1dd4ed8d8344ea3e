/** The panels that come over an application: sync, the operation, history, parameters, the Application as YAML, deletion. */

import { Drawer } from '@mantine/core'
import { lazy, Suspense } from 'react'

import type { AppKey } from '../../api/applications'
import type { Reason } from '../../api/ours'
import type { Application } from '../../api/types'
import { Loading } from '../../parts/Feedback'
import type { Words } from '../../parts/useWords'
import { t } from '../../texts'
import { DeleteDialog } from './DeleteDialog'

const SyncPanel = lazy(async () => ({ default: (await import('./SyncPanel')).SyncPanel }))
const OperationPanel = lazy(async () => ({ default: (await import('./OperationPanel')).OperationPanel }))
const HistoryPanel = lazy(async () => ({ default: (await import('./HistoryPanel')).HistoryPanel }))
const ParametersPanel = lazy(async () => ({ default: (await import('./ParametersPanel')).ParametersPanel }))
const SpecPanel = lazy(async () => ({ default: (await import('./SpecPanel')).SpecPanel }))

export interface PanelProps {
  app: Application
  appKey: AppKey
  reasons: Reason[]
  words: Words
  close: () => void
}

const PANELS = { sync: SyncPanel, operation: OperationPanel, history: HistoryPanel, parameters: ParametersPanel, spec: SpecPanel }

export function Panels({ panel, ...props }: PanelProps & { panel: string }) {
  if (panel === 'delete') return <DeleteDialog {...props} />
  if (!(panel in PANELS)) return null
  const name = panel as keyof typeof PANELS
  const Inner = PANELS[name]
  return (
    <Drawer opened onClose={props.close} position="right" size={name === 'spec' ? 760 : 600} title={<strong>{t.panels[name](props.app.metadata.name)}</strong>} closeButtonProps={{ 'aria-label': t.common.close }} transitionProps={{ duration: 120 }}>
      <Suspense fallback={<Loading />}>
        <Inner {...props} />
      </Suspense>
    </Drawer>
  )
}
