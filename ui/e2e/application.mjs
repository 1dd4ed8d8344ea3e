import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { base, picture, readme } from './browser.mjs'
import { need, skip, step } from './steps.mjs'

const demo = process.env.UI_TEST_DEMO
const at = (name, words = '') => `${base}/applications/argocd/${name}${words}`

export async function application(page) {
  await views(page)
  await objects(page)
  await syncing(page)
  if (demo) await rollback(page)
  else skip('rollback', 'no working tree to commit to')
}

async function views(page) {
  await step(page, 'an application that is not well says why', async () => {
    await page.goto(at('vault'))
    const tree = page.getByRole('tree', { name: 'Why it is not Synced and Healthy' })
    await tree.getByText(/no node takes it|not scheduled|nodes are available/).first().waitFor()
    await page.getByRole('button', { name: /^vault Deployment/ }).waitFor()
    await picture(page, 'why')
    await readme(page, 'application')
  })
  await step(page, 'the tree is searched', async () => {
    await page.goto(at('shop-dev'))
    await page.getByRole('button', { name: /^front Deployment/ }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('front')
    await page.waitForURL('**find=front')
    await page.getByText(/^\d+ of \d+$/).waitFor()
    await picture(page, 'tree')
  })
  for (const [view, text] of [['list', /Deployment front/], ['pods', /^front-/], ['network', /^front Service/]]) {
    await step(page, `the view ${view}`, async () => {
      await page.goto(at('shop-dev', `?view=${view}`))
      await page.getByRole('button', { name: text }).or(page.getByText(text)).first().waitFor()
      await picture(page, view)
    })
  }
}

async function objects(page) {
  await step(page, 'an object has a summary, a manifest with its writers, a diff and events', async () => {
    await page.goto(at('shop-dev'))
    await page.getByRole('button', { name: /^front Deployment/ }).click()
    const side = page.getByRole('complementary', { name: 'Deployment front' })
    await side.getByText('registry.example', { exact: false }).or(side.getByText('Version')).first().waitFor()
    await side.getByRole('tab', { name: 'Manifest' }).click()
    await side.getByText('replicas:', { exact: false }).first().waitFor()
    await picture(page, 'manifest')
    await side.getByRole('tab', { name: 'Diff' }).click()
    await side.getByText('As Git wants it').or(side.getByRole('region', { name: 'Differences' })).first().waitFor()
    await side.getByRole('tab', { name: 'Events' }).click()
    await side.locator('li, strong').first().waitFor()
    await page.keyboard.press('Escape')
    await side.waitFor({ state: 'detached' })
  })
  await step(page, 'a pod has a log', async () => {
    await page.goto(at('shop-dev', '?view=pods'))
    await page.getByRole('button', { name: /front-/ }).first().click()
    await page.getByRole('tab', { name: 'Logs' }).click()
    await page.getByRole('log').waitFor()
    await picture(page, 'logs')
  })
  await step(page, 'an object that differs shows who wrote what differs', async () => {
    // Two applications want this object, and whichever came first has lost it.
    const loser = await page.evaluate(async () => {
      const list = await (await fetch('/api/v1/applications?fields=items.metadata.name,items.status.sync.status')).json()
      return list.items.find((app) => ['recommendations', 'search'].includes(app.metadata.name) && app.status.sync.status === 'OutOfSync')?.metadata.name
    })
    await page.goto(at(loser ?? 'recommendations', '?node=/ConfigMap/discovery/features&tab=diff'))
    await page.getByRole('region', { name: 'Differences' }).waitFor({ timeout: 60_000 })
    await picture(page, 'diff')
  })
}

async function syncing(page) {
  await step(page, 'a sync is previewed, run and followed', async () => {
    await page.goto(at('shop-dev'))
    await page.getByRole('button', { name: 'Sync', exact: true }).click()
    const panel = page.getByRole('dialog')
    await panel.getByText(/\d+ hooks?/).waitFor()
    await picture(page, 'sync')
    await panel.getByRole('button', { name: 'Sync', exact: true }).click()
    await page.waitForURL('**panel=operation')
    await picture(page, 'operation')
    await page.getByRole('dialog').getByText('Succeeded').waitFor({ timeout: 120_000 })
    await picture(page, 'operation-done')
  })
  await step(page, 'parameters and history are shown', async () => {
    await page.goto(at('shop-dev', '?panel=parameters'))
    await page.getByRole('dialog').getByText('environments/dev').waitFor()
    await picture(page, 'parameters')
    await page.goto(at('shop-dev', '?panel=history'))
    await page.getByRole('dialog').getByText('#0').waitFor()
    await picture(page, 'history')
  })
  await step(page, 'deleting is asked for twice', async () => {
    await page.goto(at('shop-dev', '?panel=delete'))
    const button = page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true })
    need(await button.isDisabled(), 'the button is not held back')
    await picture(page, 'delete')
    await page.keyboard.press('Escape')
  })
}

/** Runs git in the repository of the demo. */
export const git = (...words) => execFileSync('git', ['-C', demo, '-c', 'user.name=e2e', '-c', 'user.email=e2e@example.org', ...words])

function commit(value) {
  mkdirSync(join(demo, 'e2e'), { recursive: true })
  writeFileSync(join(demo, 'e2e/words.yaml'), `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\ndata: {word: ${value}}\n`)
  git('add', 'e2e')
  git('commit', '-qm', `Say ${value}`)
}

async function synced(page) {
  await page.goto(at('e2e', '?panel=sync'))
  await page.getByRole('dialog').getByRole('button', { name: 'Sync', exact: true }).click()
  await page.waitForURL('**panel=operation')
  await page.getByRole('dialog').getByText('Succeeded').waitFor({ timeout: 60_000 })
}

async function rollback(page) {
  await step(page, 'two commits are synced, and gone back over', async () => {
    commit('first')
    await page.goto(`${base}/applications?search=e2e`)
    await page.getByText('No application is like that').waitFor()
    await create(page)
    // It comes by the stream: nobody has asked again.
    await page.getByRole('link', { name: /^e2e/ }).waitFor()
    await synced(page)
    commit('second')
    await page.evaluate(() => fetch('/api/v1/applications/e2e?appNamespace=argocd&refresh=normal'))
    await synced(page)
    await page.goto(at('e2e', '?panel=history'))
    await page.getByRole('button', { name: 'Go back to this' }).first().click()
    await page.getByRole('dialog', { name: /Go back to deployment/ }).getByRole('button', { name: 'Go back to this' }).click()
    await page.waitForURL('**panel=operation')
    await page.getByRole('dialog').getByText('Succeeded').waitFor({ timeout: 60_000 })
    await page.goto(at('e2e', '?node=/ConfigMap/e2e/words&tab=diff'))
    await page.getByRole('region', { name: 'Differences' }).getByText('word: second').first().waitFor()
    await picture(page, 'rolled-back')
  })
  await step(page, 'a link that would run a script is only text', async () => {
    await page.goto(at('e2e'))
    await page.getByText('evil', { exact: true }).first().waitFor()
    need((await page.locator('a[href^="javascript" i]').count()) === 0, 'there is a link that runs a script')
  })
}

async function create(page) {
  const app = {
    metadata: { name: 'e2e', namespace: 'argocd', annotations: { 'link.argocd.argoproj.io/evil': 'javascript:alert(1)' }, labels: { html: 'x' } },
    spec: { project: 'default', destination: { server: 'https://kubernetes.default.svc', namespace: 'e2e' }, source: { repoURL: `file://${demo}`, path: 'e2e', targetRevision: 'HEAD' }, syncPolicy: { syncOptions: ['CreateNamespace=true'] } },
  }
  const answer = await page.evaluate(async (body) => {
    const said = await fetch('/api/v1/applications', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    return `${said.status} ${await said.text()}`
  }, app)
  need(answer.startsWith('200'), answer.slice(0, 300))
}
