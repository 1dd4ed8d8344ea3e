/** What happened to an object. */

import type { AppKey } from '../../api/applications'
import { useEvents } from '../../api/hooks'
import type { TreeNode } from '../../api/types'
import { EventList } from '../../parts/EventList'

export function NodeEvents({ appKey, node }: { appKey: AppKey; node?: TreeNode }) {
  return <EventList query={useEvents(appKey, node)} />
}
