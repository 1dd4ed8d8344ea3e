/** The words of health, sync and operations, and their order from the worst on. */

export const HEALTH = ['Degraded', 'Missing', 'Progressing', 'Suspended', 'Unknown', 'Healthy'] as const
export const SYNC = ['OutOfSync', 'Unknown', 'Synced'] as const

export type HealthWord = (typeof HEALTH)[number]
export type SyncWord = (typeof SYNC)[number]

export function healthWord(text: string | undefined): HealthWord {
  return HEALTH.find((word) => word === text) ?? 'Unknown'
}

export function syncWord(text: string | undefined): SyncWord {
  return SYNC.find((word) => word === text) ?? 'Unknown'
}

/** The name of the colour of a status; styles/tokens.css says what each looks like. */
export type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'calm' | 'none'

const HEALTH_TONE: Record<HealthWord, Tone> = { Healthy: 'good', Degraded: 'bad', Progressing: 'busy', Missing: 'warn', Suspended: 'calm', Unknown: 'none' }
const SYNC_TONE: Record<SyncWord, Tone> = { Synced: 'good', OutOfSync: 'warn', Unknown: 'none' }
const PHASE_TONE: Record<string, Tone> = { Succeeded: 'good', Running: 'busy', Failed: 'bad', Error: 'bad', Terminating: 'warn' }

export const healthTone = (word: HealthWord): Tone => HEALTH_TONE[word]
export const syncTone = (word: SyncWord): Tone => SYNC_TONE[word]
export const phaseTone = (phase: string | undefined): Tone => PHASE_TONE[phase ?? ''] ?? 'none'

/** How bad something is, to sort by: 0 is the worst. */
export function rank(health: string | undefined, sync?: string): number {
  return HEALTH.indexOf(healthWord(health)) * SYNC.length + (sync === undefined ? 0 : SYNC.indexOf(syncWord(sync)))
}

/** `Synced Degraded`, as the doctor writes it, taken apart. */
export function stateWords(state: string): { sync?: string; health?: string } {
  const words = state.split(' ')
  const sync = words.find((word) => (SYNC as readonly string[]).includes(word) && word !== 'Unknown')
  const health = words.find((word) => (HEALTH as readonly string[]).includes(word) && word !== 'Unknown')
  return { ...(sync && { sync }), ...(health && { health }) }
}
