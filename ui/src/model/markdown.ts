/** The little Markdown that the explanations of findings use, as data. Nothing of it ever becomes HTML by itself. */

export type Inline = { sort: 'text' | 'code' | 'strong' | 'em'; text: string } | { sort: 'link'; text: string; url: string }

export type Block =
  | { sort: 'heading'; level: number; inline: Inline[] }
  | { sort: 'paragraph'; inline: Inline[] }
  | { sort: 'list'; isOrdered: boolean; items: Inline[][] }
  | { sort: 'code'; text: string }
  | { sort: 'table'; head: Inline[][]; rows: Inline[][][] }

export function blocks(text: string): Block[] {
  const found: Block[] = []
  const lines = text.split(/\r?\n/)
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? ''
    const heading = /^(#{1,6})\s+(.*)$/.exec(line)
    if (line.trim() === '') i++
    else if (line.startsWith('```')) {
      const end = lines.findIndex((other, at) => at > i && other.startsWith('```'))
      const stop = end < 0 ? lines.length : end
      found.push({ sort: 'code', text: lines.slice(i + 1, stop).join('\n') })
      i = stop + 1
    } else if (heading) {
      found.push({ sort: 'heading', level: heading[1]?.length ?? 1, inline: inline(heading[2] ?? '') })
      i++
    } else if (isItem(line)) i = list(lines, i, found)
    else if (line.startsWith('|')) i = table(lines, i, found)
    else i = paragraph(lines, i, found)
  }
  return found
}

const isItem = (line: string) => /^\s*(?:[-*]|\d+\.)\s+/.test(line)

function list(lines: string[], from: number, found: Block[]): number {
  const items: string[] = []
  let i = from
  for (; i < lines.length && (lines[i] ?? '').trim() !== ''; i++) {
    const line = lines[i] ?? ''
    if (isItem(line)) items.push(line.replace(/^\s*(?:[-*]|\d+\.)\s+/, ''))
    else items[items.length - 1] += ` ${line.trim()}`
  }
  found.push({ sort: 'list', isOrdered: /^\s*\d/.test(lines[from] ?? ''), items: items.map(inline) })
  return i
}

function table(lines: string[], from: number, found: Block[]): number {
  let end = from
  while ((lines[end] ?? '').startsWith('|')) end++
  const cells = (line: string) => line.replace(/^\||\|$/g, '').split('|').map((cell) => inline(cell.trim()))
  const [head = '', , ...rows] = lines.slice(from, end)
  found.push({ sort: 'table', head: cells(head), rows: rows.map(cells) })
  return end
}

function paragraph(lines: string[], from: number, found: Block[]): number {
  let i = from
  while (i < lines.length && (lines[i] ?? '').trim() !== '' && !(lines[i] ?? '').startsWith('```') && (i === from || !isItem(lines[i] ?? ''))) i++
  found.push({ sort: 'paragraph', inline: inline(lines.slice(from, i).join(' ')) })
  return i
}

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)\s]+)\)/g

export function inline(text: string): Inline[] {
  const parts: Inline[] = []
  let last = 0
  for (const match of text.matchAll(MARKS)) {
    if (match.index > last) parts.push({ sort: 'text', text: text.slice(last, match.index) })
    const [whole, code, strong, em, title, url] = match
    if (code !== undefined) parts.push({ sort: 'code', text: code })
    else if (strong !== undefined) parts.push({ sort: 'strong', text: strong })
    else if (em !== undefined) parts.push({ sort: 'em', text: em })
    else parts.push({ sort: 'link', text: title ?? '', url: url ?? '' })
    last = match.index + whole.length
  }
  if (last < text.length) parts.push({ sort: 'text', text: text.slice(last) })
  return parts
}
