/** Streams of the server (text/event-stream), opened again with growing pauses when they are cut. */

import { refusal } from './client'

export type StreamState = 'opening' | 'open' | 'waiting' | 'refused'

export interface Listener<T> {
  message: (value: T) => void
  state?: (state: StreamState) => void
  /** Called before each attempt after the first: what was missed has to be asked for. */
  again?: () => void
  /** Whether a stream that the server ends is over; otherwise it is opened again. */
  ends?: boolean
}

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000

/** Follows a stream until the function that it gives back is called. */
export function follow<T>(path: string, listener: Listener<T>): () => void {
  const stop = new AbortController()
  void keepOpen(path, listener, stop.signal)
  return () => stop.abort()
}

async function keepOpen<T>(path: string, listener: Listener<T>, signal: AbortSignal): Promise<void> {
  let pause = FIRST_PAUSE
  for (let attempt = 0; !signal.aborted; attempt++) {
    if (attempt > 0) listener.again?.()
    listener.state?.('opening')
    const ending = await once<T>(path, listener, signal, () => (pause = FIRST_PAUSE))
    if (signal.aborted) return
    if (ending === 'refused' || (ending === 'ended' && listener.ends)) {
      listener.state?.('refused')
      return
    }
    listener.state?.('waiting')
    await sleep(pause * (0.75 + Math.random() / 2), signal)
    pause = Math.min(pause * 2, LONGEST_PAUSE)
  }
}

async function once<T>(path: string, listener: Listener<T>, signal: AbortSignal, opened: () => void): Promise<'cut' | 'ended' | 'refused'> {
  try {
    const answer = await fetch(path, { signal, credentials: 'same-origin', headers: { Accept: 'text/event-stream' } })
    if (!answer.ok || !answer.body) {
      await refusal(answer, path)
      return answer.status >= 400 && answer.status < 500 && answer.status !== 429 ? 'refused' : 'cut'
    }
    listener.state?.('open')
    const lines = new Lines()
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return 'ended'
      opened()
      for (const result of lines.read<T>(value)) listener.message(result)
    }
  } catch {
    return 'cut'
  }
}

/** Puts together the lines of a stream from pieces that end anywhere. */
export class Lines {
  private rest = ''

  read<T>(piece: string): T[] {
    const lines = (this.rest + piece).split(/\r?\n/)
    this.rest = lines.pop() ?? ''
    return lines.map((line) => result<T>(line)).filter((value) => value !== undefined)
  }
}

function result<T>(line: string): T | undefined {
  const text = line.startsWith('data:') ? line.slice(5).trim() : line.trim()
  if (!text.startsWith('{')) return undefined
  try {
    return (JSON.parse(text) as { result?: T }).result
  } catch {
    return undefined
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
