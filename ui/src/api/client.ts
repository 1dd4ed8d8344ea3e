/** The one door to the server: every request goes through `call`, so that refusals mean the same everywhere. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
    this.name = 'ApiError'
  }

  get isRefusal(): boolean {
    return this.status === 403
  }

  get isMissing(): boolean {
    return this.status === 404
  }
}

type Query = Record<string, string | number | boolean | undefined>

export interface Asked {
  query?: Query
  body?: unknown
  signal?: AbortSignal | undefined
}

let loggedOut: () => void = () => undefined

/** Says what to do when the server no longer knows who we are. */
export function onLoggedOut(then: () => void): void {
  loggedOut = then
}

export function address(path: string, query: Query = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') words.set(name, String(value))
  }
  const text = words.toString()
  return text === '' ? path : `${path}?${text}`
}

export async function call<T>(method: string, path: string, asked: Asked = {}): Promise<T> {
  const init: RequestInit = { method, credentials: 'same-origin', headers: { Accept: 'application/json' } }
  if (asked.signal) init.signal = asked.signal
  if (method !== 'GET') {
    // The server takes changes only with this header: a form of another site cannot send it.
    init.headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
    init.body = JSON.stringify(asked.body ?? {})
  }
  const answer = await fetch(address(path, asked.query), init)
  if (!answer.ok) throw await refusal(answer, path)
  const text = await answer.text()
  return (text === '' ? {} : JSON.parse(text)) as T
}

/** Reads what an answer that is not well says of itself. */
export async function refusal(answer: Response, path: string): Promise<ApiError> {
  if (answer.status === 401 && !path.endsWith('/session')) loggedOut()
  const text = await answer.text().catch(() => '')
  return new ApiError(answer.status, message(text) || answer.statusText || `HTTP ${answer.status}`)
}

function message(text: string): string {
  try {
    const said = JSON.parse(text) as { message?: unknown; error?: unknown }
    const words = said.message ?? said.error
    return typeof words === 'string' ? words : ''
  } catch {
    return text.length < 300 && !text.includes('<') ? text.trim() : ''
  }
}
