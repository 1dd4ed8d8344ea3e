// Two thousand applications and a tree of a thousand objects, served in place of the real ones, with changes all the time. What it takes to
// show them is printed and never judged: it says as much of the machine as of the page.
import { createServer, request } from 'node:http'
import { gzipSync } from 'node:zlib'

import { base, picture } from './browser.mjs'
import { need, step } from './steps.mjs'

const COUNT = 2000
const NODES = 1000
/** How many applications change in a second. */
const CHANGES = 50
const WATCHED = 5000

const HEALTH = ['Healthy', 'Healthy', 'Healthy', 'Healthy', 'Healthy', 'Progressing', 'Degraded', 'Missing', 'Suspended', 'Unknown']
const number = (index) => String(index).padStart(4, '0')

function application(index, version) {
  const health = HEALTH[(index + version) % HEALTH.length]
  return {
    metadata: { name: `crowd-${number(index)}`, namespace: 'argocd', resourceVersion: String(version), creationTimestamp: '2026-01-01T00:00:00Z', labels: { team: `team-${index % 17}`, tier: index % 3 ? 'web' : 'batch' } },
    spec: { project: `project-${index % 9}`, destination: { server: 'https://kubernetes.default.svc', namespace: `ns-${index % 40}` }, source: { repoURL: 'https://git.example.com/team/deploy.git', path: `apps/${index}`, targetRevision: 'HEAD' }, syncPolicy: { automated: {} } },
    status: { sync: { status: index % 7 === 0 ? 'OutOfSync' : 'Synced', revision: 'a'.repeat(40) }, health: { status: health }, operationState: { phase: 'Succeeded', finishedAt: '2026-01-01T00:00:00Z' } },
  }
}

/** Forty workloads with two dozen pods each, and what else there is. */
function tree(version) {
  const node = (kind, name, group, parent, health) => ({ group, version: 'v1', kind, namespace: 'crowd', name, uid: `${kind}-${name}`, resourceVersion: String(version), createdAt: '2026-01-01T00:00:00Z', ...(parent && { parentRefs: [parent] }), ...(health && { health: { status: health } }) })
  const nodes = []
  for (let index = 0; nodes.length < NODES; index++) {
    const deployment = node('Deployment', `work-${index}`, 'apps', undefined, index % 11 === 3 ? 'Degraded' : 'Healthy')
    const set = node('ReplicaSet', `work-${index}-5d8`, 'apps', { ...deployment }, 'Healthy')
    nodes.push(deployment, set, node('Service', `work-${index}`, '', undefined, 'Healthy'), node('ConfigMap', `work-${index}`, ''))
    for (let pod = 0; pod < 21 && nodes.length < NODES; pod++) nodes.push(node('Pod', `work-${index}-5d8-${pod}`, '', { ...set }, (index + pod + version) % 40 === 0 ? 'Progressing' : 'Healthy'))
  }
  return { nodes }
}

function whole() {
  const app = application(0, 1)
  const resources = tree(0).nodes.filter((one) => !one.parentRefs).map(({ group, version, kind, namespace, name, health }) => ({ group, version, kind, namespace, name, health, status: 'Synced' }))
  return { ...app, metadata: { ...app.metadata, name: 'crowd' }, status: { ...app.status, resources, health: { status: 'Degraded' } } }
}

function stream(answer, every, message) {
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  let version = 1
  const timer = setInterval(() => answer.write(message(++version).map((result) => `data: ${JSON.stringify({ result })}\n\n`).join('')), every)
  answer.on('close', () => clearInterval(timer))
}

function json(asked, answer, value) {
  const isPacked = /gzip/.test(asked.headers['accept-encoding'] ?? '')
  const text = JSON.stringify(value)
  answer.writeHead(200, { 'content-type': 'application/json', ...(isPacked && { 'content-encoding': 'gzip' }) })
  answer.end(isPacked ? gzipSync(text, { level: 1 }) : text)
}

function passOn(asked, answer) {
  const url = new URL(asked.url, base)
  const sent = request(url, { method: asked.method, headers: { ...asked.headers, host: url.host } }, (said) => {
    answer.writeHead(said.statusCode, said.headers)
    said.pipe(answer)
  })
  sent.on('error', () => answer.destroy())
  answer.on('close', () => sent.destroy())
  asked.pipe(sent)
}

const list = Array.from({ length: COUNT }, (_, index) => application(index, 1))

function serve(asked, answer) {
  const { pathname, searchParams } = new URL(asked.url, base)
  if (pathname === '/api/v1/applications') return json(asked, answer, { items: list, metadata: { resourceVersion: '1' } })
  if (pathname === '/api/v1/applications/crowd') return json(asked, answer, whole())
  if (pathname === '/api/v1/applications/crowd/resource-tree') return json(asked, answer, tree(1))
  if (pathname.startsWith('/api/v1/applications/crowd/')) return json(asked, answer, { items: [] })
  if (pathname === '/api/v1/doctor') return json(asked, answer, { version: 1, totals: { applications: COUNT, fine: 0, health: {}, sync: {} }, roots: [], consequences: [], unexplained: [], unseen: [] })
  if (pathname === '/api/v1/stream/applications/crowd/resource-tree') return stream(answer, 1000, (version) => [tree(version)])
  if (pathname === '/api/v1/stream/applications' && searchParams.get('name')) return stream(answer, 60_000, () => [])
  if (pathname === '/api/v1/stream/applications') return stream(answer, 1000 / CHANGES, (version) => [{ type: 'MODIFIED', application: application((version * 37) % COUNT, version) }])
  return passOn(asked, answer)
}

/** Notes when what is looked for is first drawn, and everything that kept the page busy for longer than it should be. */
function watch() {
  window.noted = { drawn: undefined, long: [] }
  new PerformanceObserver((seen) => window.noted.long.push(...seen.getEntries().map((one) => one.duration))).observe({ type: 'longtask', buffered: true })
  const look = () => {
    if (document.querySelector('main a[href^="/applications/argocd/"], main .react-flow__node')) requestAnimationFrame(() => (window.noted.drawn = performance.now()))
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

const told = (long) => `${long.filter((one) => one > 100).length} tasks over 100 ms, longest ${Math.round(Math.max(0, ...long))} ms`

async function measured(page, address, what) {
  await page.goto(address)
  await page.waitForFunction(() => window.noted?.drawn !== undefined)
  const first = await page.evaluate(() => Math.round(window.noted.drawn))
  const opening = await page.evaluate(() => window.noted.long.splice(0))
  console.log(`        ${what}: first view after ${first} ms; ${told(opening)}`)
}

/** Scrolls as people do while changes come in. */
async function live(page, what) {
  const ends = Date.now() + WATCHED
  await page.mouse.move(800, 500)
  while (Date.now() < ends) {
    await page.mouse.wheel(0, 400)
    await page.waitForTimeout(50)
  }
  console.log(`        ${what}: ${told(await page.evaluate(() => window.noted.long.splice(0)))} in ${WATCHED / 1000} s of scrolling with ${CHANGES} changes a second`)
}

export async function crowd(first) {
  const server = createServer(serve)
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
  const address = `http://127.0.0.1:${server.address().port}`
  const page = await first.context().newPage()
  page.setDefaultTimeout(60_000)
  await page.addInitScript(watch)
  await step(page, `${COUNT} applications are shown and kept up to date`, async () => {
    for (const view of ['tiles', 'table', 'map']) {
      await measured(page, `${address}/applications?view=${view}`, view)
      await live(page, view)
    }
    need((await page.getByText(String(COUNT)).count()) > 0, 'not all are counted')
    await picture(page, 'crowd')
  })
  await step(page, `a tree of ${NODES} objects is shown, searched and unfolded`, async () => {
    await measured(page, `${address}/applications/argocd/crowd`, 'tree')
    await page.waitForTimeout(WATCHED)
    console.log(`        tree: ${told(await page.evaluate(() => window.noted.long.splice(0)))} in ${WATCHED / 1000} s with a new tree each second`)
    await picture(page, 'crowd-tree')
    await page.keyboard.press('/')
    await page.keyboard.type('work-7-5d8-1')
    await page.getByText(/^\d+ of \d+$/).waitFor()
    await picture(page, 'crowd-found')
    await page.goto(`${address}/applications/argocd/crowd?open=*`)
    await page.locator('.react-flow__node').first().waitFor()
    console.log(`        tree, all unfolded: ${told(await page.evaluate(() => window.noted.long.splice(0)))}`)
    await picture(page, 'crowd-unfolded')

  })
  await page.close()
  server.closeAllConnections()
  server.close()
}
