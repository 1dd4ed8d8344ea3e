/** Puts the events of a stream into a list, many at a time, so that a busy stream does not redraw the page for each. */

import type { Application, WatchEvent } from '../api/types'

export function keyOf(app: Application): string {
  return `${app.metadata.namespace ?? ''}/${app.metadata.name}`
}

/** The list with the events in it. What did not change keeps its identity, so that it is not drawn again. */
export function merge(list: Application[], events: WatchEvent[]): Application[] {
  const changed = new Map<string, WatchEvent>()
  for (const event of events) changed.set(keyOf(event.application), event)
  const merged: Application[] = []
  for (const app of list) {
    const event = changed.get(keyOf(app))
    changed.delete(keyOf(app))
    if (!event) merged.push(app)
    else if (event.type !== 'DELETED') merged.push(event.application)
  }
  for (const event of changed.values()) if (event.type !== 'DELETED') merged.push(event.application)
  return merged
}

const PAUSE = 200

type Change = (list: Application[]) => Application[]

/** Collects events for a moment and hands them on together. */
export class Batch {
  private events: WatchEvent[] = []
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly flush: (change: Change) => void) {}

  add(event: WatchEvent): void {
    this.events.push(event)
    this.timer ??= setTimeout(() => this.hand(), PAUSE)
  }

  stop(): void {
    clearTimeout(this.timer)
  }

  private hand(): void {
    const events = this.events
    this.events = []
    this.timer = undefined
    this.flush((list) => merge(list, events))
  }
}
