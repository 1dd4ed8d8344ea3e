// A browser without anything of anybody's, and the few things that every test needs of it.
import { createRequire } from 'node:module'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { reduced } from './palette.mjs'

// The modules are installed apart from the page's own, so that building the page does not fetch a browser's driver.
export const modules = createRequire(join(process.env.UI_TEST_MODULES ?? process.cwd(), 'package.json'))
const { chromium } = modules('playwright-core')
const AXE = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8')

const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

export const base = process.env.UI_TEST_PAGE ?? 'http://127.0.0.1:8080'
export const pictures = process.env.UI_TEST_PICTURES ?? 'pictures'

export async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'lynceus-ui-'))
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const context = await chromium.launchPersistentContext(folder, { executablePath, headless: true, args: FLAGS, viewport: { width: 1440, height: 900 } })
  const page = context.pages()[0] ?? (await context.newPage())
  const said = []
  page.on('pageerror', (error) => said.push(`error: ${error.message}`))
  page.on('console', (message) => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && said.push(`console: ${message.text()}`))
  page.on('dialog', (dialog) => {
    said.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const close = async () => {
    await context.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { context, page, said, close }
}

/** Takes a picture of what is shown. */
export async function picture(page, name) {
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

/** A picture for the README: smaller than a desk, so that its letters can be read there, and small in bytes. */
export async function readme(page, name) {
  const before = page.viewportSize()
  await page.setViewportSize({ width: 1200, height: 780 })
  await page.mouse.move(0, 0)
  // Graphs fit themselves to the room that they have.
  await page.getByRole('button', { name: 'Fit View' }).click({ timeout: 1000 }).catch(() => undefined)
  await page.evaluate(() => document.activeElement?.blur())
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity))
  const folder = join(pictures, 'readme')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.png`), reduced(await page.screenshot()))
  await page.setViewportSize(before)
}

/** What somebody who cannot see or use a mouse would stumble over. */
export async function stumbles(page) {
  // The driver's own channel is not held back by the page's security policy; a script element would be.
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }))
  return violations.map((one) => `${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 140)).join(' | ')}`)
}

/** Takes a picture of what is shown, and has axe look at it. */
export async function looked(page, name) {
  await picture(page, name)
  const found = await stumbles(page)
  if (found.length > 0) throw new Error(found.join('\n'))
}

export async function inScheme(page, scheme) {
  await page.evaluate((wanted) => {
    localStorage.setItem('lynceus-scheme', wanted)
    document.documentElement.setAttribute('data-mantine-color-scheme', wanted)
  }, scheme)
}
