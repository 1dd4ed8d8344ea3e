// Prepares dist/ for the binary: compresses what gets smaller, and writes a table of the files that build.rs turns into Rust.
// Here and not there, because Node has gzip and hashes at hand, and the build script needs no crates this way.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const KINDS = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
}

const dist = new URL('../dist/', import.meta.url).pathname

function files(folder) {
  const entries = readdirSync(join(dist, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.flatMap((entry) => (entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]))
}

const table = []
for (const file of files('')) {
  const kind = KINDS[file.split('.').pop()]
  if (!kind) continue
  const bytes = readFileSync(join(dist, file))
  const packed = gzipSync(bytes, { level: 9 })
  // The page itself is sent plain: it is small, and may then be read by anything.
  const isPacked = !file.endsWith('.html') && packed.length < bytes.length
  if (isPacked) writeFileSync(join(dist, file + '.gz'), packed)
  const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 32)
  table.push([file, kind, tag, isPacked ? 'gzip' : 'plain'].join('\t'))
}
writeFileSync(join(dist, 'table.txt'), table.join('\n') + '\n')
