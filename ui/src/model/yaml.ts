/** Objects as YAML to read, line by line, each line with the path of the field that it shows. A library would not tell the paths. */

export type Path = readonly (string | number)[]

export interface Line {
  text: string
  path: Path
}

/** Shows a value. Keys come in the order in which people write them: apiVersion, kind, metadata, spec. */
export function toLines(value: unknown): Line[] {
  const lines: Line[] = []
  write(value, [], 0, '', lines)
  return lines
}

export function toYaml(value: unknown): string {
  return toLines(value).map((line) => line.text).join('\n')
}

const FIRST = ['apiVersion', 'kind', 'metadata', 'name', 'namespace', 'spec', 'data']

function keysOf(value: Record<string, unknown>): string[] {
  const place = (key: string) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length)
  return Object.keys(value).sort((a, b) => place(a) - place(b) || (a < b ? -1 : a > b ? 1 : 0))
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Writes a value at an indentation; `head` is what stands before it on its first line. */
function write(value: unknown, path: Path, indent: number, head: string, lines: Line[]): void {
  const pad = ' '.repeat(indent)
  if (Array.isArray(value) && value.length > 0) {
    if (head !== '') lines.push({ text: head.trimEnd(), path })
    value.forEach((item, index) => writeItem(item, [...path, index], indent, lines))
  } else if (isMap(value) && Object.keys(value).length > 0) {
    if (head !== '') lines.push({ text: head.trimEnd(), path })
    for (const key of keysOf(value)) writeField(key, value[key], path, indent, `${pad}${scalar(key)}:`, lines)
  } else if (typeof value === 'string' && value.includes('\n')) {
    writeBlock(value, path, indent, head, lines)
  } else {
    lines.push({ text: `${head === '' ? pad : head}${head === '' || head.endsWith(' ') ? '' : ' '}${plain(value)}`, path })
  }
}

function writeField(key: string, value: unknown, path: Path, indent: number, head: string, lines: Line[]): void {
  // A list stands below its key without being moved in, as kubectl prints it.
  const isNested = isMap(value) || typeof value === 'string'
  write(value, [...path, key], indent + (isNested ? 2 : 0), head, lines)
}

function writeItem(item: unknown, path: Path, indent: number, lines: Line[]): void {
  const inner: Line[] = []
  write(item, path, indent + 2, '', inner)
  inner.forEach((line, index) => lines.push(index === 0 ? { text: `${' '.repeat(indent)}- ${line.text.trimStart()}`, path: line.path } : line))
}

function writeBlock(text: string, path: Path, indent: number, head: string, lines: Line[]): void {
  const pad = ' '.repeat(indent)
  const chomp = text.endsWith('\n') ? (text.endsWith('\n\n') ? '+' : '') : '-'
  lines.push({ text: `${head === '' ? '' : head + ' '}|${chomp}`, path })
  for (const line of text.replace(/\n$/, '').split('\n')) lines.push({ text: line === '' ? '' : pad + line, path })
}

function plain(value: unknown): string {
  if (typeof value === 'string') return scalar(value)
  if (Array.isArray(value)) return '[]'
  if (isMap(value)) return '{}'
  return value === undefined ? 'null' : JSON.stringify(value)
}

const MEANS_MORE = /^(?:[-+.0-9].*|true|false|yes|no|on|off|null|y|n|~|)$/i
const NEEDS_QUOTES = /^[\s&*!|>'"%@`#{}[\],?:-]|[:#]\s|\s#|:$|\s$|[\u0000-\u001f]/

function scalar(text: string): string {
  return MEANS_MORE.test(text) || NEEDS_QUOTES.test(text) ? JSON.stringify(text) : text
}
