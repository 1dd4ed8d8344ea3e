// Pictures with at most 256 colours: a page has few, and the README's pictures are fetched by everybody who reads it.
import { deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
/** Colours that are nearer than this are one; edges of letters have hundreds of those. */
const NEAR = 7 * 7

function chunks(png) {
  const found = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return found
}

/** The colours of a browser's screenshot, one number each: eight bits a channel, not interlaced. */
function pixels(png) {
  const parts = chunks(png)
  const head = parts[0].data
  const [width, height, channels] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3]
  const raw = inflateSync(Buffer.concat(parts.filter((one) => one.type === 'IDAT').map((one) => one.data)))
  const stride = width * channels
  const bytes = Buffer.alloc(stride * height)
  for (let row = 0; row < height; row++) unfilter(raw, row * (stride + 1), bytes, row * stride, stride, channels)
  const colours = new Uint32Array(width * height)
  for (let index = 0; index < colours.length; index++) colours[index] = bytes.readUIntBE(index * channels, 3)
  return { width, height, colours }
}

function unfilter(raw, from, bytes, to, stride, step) {
  const sort = raw[from]
  for (let at = 0; at < stride; at++) {
    const left = at >= step ? bytes[to + at - step] : 0
    const up = to > 0 ? bytes[to + at - stride] : 0
    const corner = at >= step && to > 0 ? bytes[to + at - stride - step] : 0
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][sort]
    bytes[to + at] = raw[from + 1 + at] + guess
  }
}

function paeth(left, up, corner) {
  const guess = left + up - corner
  const [l, u, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return l <= u && l <= c ? left : u <= c ? up : corner
}

function distance(a, b) {
  const [r, g, blue] = [(a >> 16) - (b >> 16), ((a >> 8) & 255) - ((b >> 8) & 255), (a & 255) - (b & 255)]
  return r * r + g * g + blue * blue
}

/** The colours that are seen most, and which of them stands for each other one. */
function palette(colours) {
  const counts = new Map()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const chosen = []
  for (const [colour] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (chosen.length === 256) break
    if (chosen.every((other) => distance(colour, other) > NEAR)) chosen.push(colour)
  }
  const place = new Map()
  for (const colour of counts.keys()) place.set(colour, chosen.reduce((best, other, index) => (distance(colour, other) < distance(colour, chosen[best]) ? index : best), 0))
  return { chosen, place }
}

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value >>> 0
})

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE((body.reduce((sum, byte) => TABLE[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) ^ 0xffffffff) >>> 0, body.length + 4)
  return whole
}

export function reduced(png) {
  const { width, height, colours } = pixels(png)
  const { chosen, place } = palette(colours)
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const colourTable = Buffer.from(chosen.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let index = 0; index < colours.length; index++) rows[Math.floor(index / width) * (width + 1) + 1 + (index % width)] = place.get(colours[index])
  return Buffer.concat([SIGNATURE, chunk('IHDR', head), chunk('PLTE', colourTable), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))])
}
