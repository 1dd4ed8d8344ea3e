/** Reasons beside the Application that they are about. */

import type { Reason } from '../api/ours'
import type { Application } from '../api/types'

const isRunning = (app: Application) => app.operation !== undefined || ['Running', 'Terminating'].includes(app.status?.operationState?.phase ?? '')

/** What cannot be so as long as the Application itself says otherwise. */
const GONE: Record<string, (app: Application) => boolean> = {
  SyncWaits: (app) => !isRunning(app),
  DeletionWaits: (app) => app.metadata.deletionTimestamp === undefined,
  OutOfSync: (app) => app.status?.sync?.status === 'Synced',
}

/**
 * Reasons come after the Application: until they do, those of before are shown, so that nothing blinks with every change. What is over by
 * now would be wrong, and is left out: a sync that has ended waits for nothing.
 */
export function stillSo(reasons: Reason[], app: Application): Reason[] {
  return reasons.filter((reason) => !GONE[reason.code]?.(app))
}
