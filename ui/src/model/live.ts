/** Puts the events of a stream into a list, many at a time, so that a busy stream does not redraw the page for each. */

import type { Metadata } from '../api/types'

/** Anything that the cluster keeps. */
interface Kept {
  metadata: Pick<Metadata, 'name' | 'namespace'>
}

export interface Event<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  item: T
}

export function keyOf(one: Kept): string {
  return `${one.metadata.namespace ?? ''}/${one.metadata.name}`
}

/** The list with the events in it. What did not change keeps its identity, so that it is not drawn again. */
export function merge<T extends Kept>(list: T[], events: Event<T>[]): T[] {
  const changed = new Map<string, Event<T>>()
  for (const event of events) changed.set(keyOf(event.item), event)
  const merged: T[] = []
  for (const one of list) {
    const event = changed.get(keyOf(one))
    changed.delete(keyOf(one))
    if (!event) merged.push(one)
    else if (event.type !== 'DELETED') merged.push(event.item)
  }
  for (const event of changed.values()) if (event.type !== 'DELETED') merged.push(event.item)
  return merged
}

const PAUSE = 200

/** Collects events for a moment and hands them on together. */
export class Batch<T extends Kept> {
  private events: Event<T>[] = []
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly flush: (change: (list: T[]) => T[]) => void) {}

  add(event: Event<T>): void {
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
