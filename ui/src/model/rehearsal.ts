/** A rehearsal on its own clock: rows of a timeline, and the moments at which something happens. */

import type { RehearsalReport, RehearsedApplication, RehearsedStep } from '../api/ours'

export interface Moment {
  at: number
  steps: RehearsedStep[]
}

export interface TimelineRow {
  app: RehearsedApplication
  moments: Moment[]
  start: number
  end: number
  isStuck: boolean
}

/** Steps at the same second are one wave to look at. */
export function moments(steps: RehearsedStep[]): Moment[] {
  const found = new Map<number, RehearsedStep[]>()
  for (const step of steps) found.set(step.after, [...(found.get(step.after) ?? []), step])
  return [...found].map(([at, some]) => ({ at, steps: some })).sort((a, b) => a.at - b.at)
}

export function timeline(report: RehearsalReport): TimelineRow[] {
  const rows = report.applications.map((app): TimelineRow => {
    const all = moments(app.steps)
    const start = all[0]?.at ?? 0
    const isStuck = app.verdict === 'stuck'
    const last = all.at(-1)?.at ?? start
    return { app, moments: all, start, end: app.doneAfter ?? (isStuck ? report.seconds : last), isStuck }
  })
  return rows.sort((a, b) => a.start - b.start || a.end - b.end || (a.app.name < b.app.name ? -1 : 1))
}

/**
 * Where a second stands, from 0 to 1. Most of a rehearsal happens at its beginning and then it waits for ten minutes to see whether
 * anything moves, so the scale is a root, not a line.
 */
export function scale(second: number, end: number): number {
  return end <= 0 ? 0 : Math.sqrt(Math.max(0, Math.min(1, second / end)))
}

const NICE = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 43_200]

/** Seconds to write below the timeline, far enough from each other. */
export function ticks(end: number, apart = 0.09): number[] {
  const found = [0]
  for (const second of NICE) {
    const last = found.at(-1) ?? 0
    if (second < end && scale(second, end) - scale(last, end) >= apart && 1 - scale(second, end) >= apart) found.push(second)
  }
  return end > 0 ? [...found, end] : found
}

export interface Totals {
  created: number
  changed: number
  deleted: number
  refused: number
}

export function totals(apps: RehearsedApplication[]): Totals {
  const sum: Totals = { created: 0, changed: 0, deleted: 0, refused: 0 }
  for (const app of apps) for (const step of app.steps) sum[step.did] += 1
  return sum
}
