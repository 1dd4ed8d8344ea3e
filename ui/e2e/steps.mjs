// Steps that are told as they pass; one that fails does not keep the others from being tried.
import { picture } from './browser.mjs'

const failed = []
let count = 0

export function need(isSo, what) {
  if (!isSo) throw new Error(what)
}

export async function step(page, name, run) {
  count += 1
  const began = Date.now()
  try {
    await run()
    console.log(`ok      ${name} (${Date.now() - began} ms)`)
  } catch (error) {
    failed.push(name)
    console.log(`FAILED  ${name}: ${String(error?.message ?? error).split('\n').slice(0, 6).join('\n        ')}`)
    await picture(page, `failed-${count}`).catch(() => undefined)
  }
}

export function skip(name, why) {
  console.log(`skipped ${name}: ${why}`)
}

export function end() {
  console.log(failed.length === 0 ? `\n${count} steps, all passed` : `\n${count} steps, ${failed.length} failed: ${failed.join('; ')}`)
  return failed.length === 0 ? 0 : 1
}
