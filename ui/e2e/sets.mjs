// ApplicationSets: written, looked at before they are made, followed step by step, and kept from deleting too much.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { base, looked, picture } from './browser.mjs'
import { annotateSet, followSteps, hasCluster } from './cluster.mjs'
import { need, skip, step } from './steps.mjs'

const demo = process.env.UI_TEST_DEMO
const at = (name, words = '') => `${base}/applicationsets/argocd/${name}${words}`
const api = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path)
/** Sets of these names stay: the looks of their views are tested later. */
export const LASTING = ['rolling', 'mistaken']

export async function sets(page) {
  if (!demo || !hasCluster) {
    skip('ApplicationSets', 'no working tree to commit to, or no cluster to switch steps on in')
    return
  }
  await followSteps()
  commit()
  await creating(page)
  await steps(page)
  await changing(page)
  await guard(page)
  await mistakes(page)
  await list(page)
  await removing(page)
}

/** Two folders: what is in the first never becomes healthy, because no node is like that. */
function commit() {
  const write = (path, text) => {
    mkdirSync(join(demo, path, '..'), { recursive: true })
    writeFileSync(join(demo, path), text)
  }
  write('stages/first/front.yaml', `apiVersion: apps/v1
kind: Deployment
metadata: {name: front}
spec:
  selector: {matchLabels: {app: front}}
  template:
    metadata: {labels: {app: front}}
    spec: {nodeSelector: {kind: none}, containers: [{name: front, image: registry.example/front:1}]}
`)
  write('stages/second/words.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\n')
  const git = (...words) => execFileSync('git', ['-C', demo, '-c', 'user.name=e2e', '-c', 'user.email=e2e@example.org', ...words])
  git('add', 'stages')
  git('commit', '-qm', 'Add stages')
}

const rolling = (label) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: rolling
  namespace: argocd
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
    - git:
        repoURL: file://${demo}
        revision: HEAD
        directories:
          - path: stages/*
  strategy:
    type: RollingSync
    rollingSync:
      steps:
        - matchExpressions: [{key: stage, operator: In, values: [first]}]
        - matchExpressions: [{key: stage, operator: In, values: [second]}]
          maxUpdate: 50%
  template:
    metadata:
      name: rolling-{{.path.basename}}
      labels:
        stage: '${label}'
      annotations:
        words: <img src=x onerror=alert(1)>
    spec:
      project: default
      source:
        repoURL: file://${demo}
        path: '{{.path.path}}'
        targetRevision: HEAD
      destination:
        server: https://kubernetes.default.svc
        namespace: rolling-{{.path.basename}}
      syncPolicy:
        automated: {}
        syncOptions: [CreateNamespace=true]
`

/** A set of that many applications that have nothing to deliver. */
const plain = (name, count) => ({
  metadata: { name, namespace: 'argocd' },
  spec: {
    goTemplate: true,
    generators: [{ list: { elements: Array.from({ length: count }, (_, index) => ({ name: `${'abcdefgh'[index]}` })) } }],
    template: { metadata: { name: `${name}-{{.name}}` }, spec: { project: 'default', source: { repoURL: `file://${demo}`, path: 'stages/second', targetRevision: 'HEAD' }, destination: { server: 'https://kubernetes.default.svc', namespace: name } } },
  },
})

async function put(page, set) {
  const answer = await page.evaluate(async (body) => {
    const said = await fetch('/api/v1/applicationsets?upsert=true', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    return `${said.status} ${await said.text()}`
  }, set)
  need(answer.startsWith('200'), answer.slice(0, 300))
}

async function creating(page) {
  await step(page, 'where there are no sets it is said what they are', async () => {
    // The demo has one, so the page is told otherwise.
    const list = /\/api\/v1\/applicationsets(\?|$)/
    const stream = /\/api\/v1\/stream\/applicationsets(\?|$)/
    await page.route(list, (route) => route.fulfill({ json: { metadata: {}, items: [] } }))
    await page.route(stream, (route) => route.fulfill({ contentType: 'text/event-stream', body: '' }))
    await page.goto(`${base}/applications`)
    await page.getByRole('heading', { name: 'Applications' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.waitForURL('**/applicationsets')
    await page.getByText('No ApplicationSets yet').waitFor()
    await looked(page, 'sets-none')
    await page.unroute(list)
    await page.unroute(stream)
    await page.reload()
    await page.getByRole('heading', { name: 'ApplicationSets' }).waitFor()
  })
  const panel = page.getByRole('dialog', { name: 'New ApplicationSet' })
  const text = panel.getByRole('textbox', { name: 'The ApplicationSet as YAML' })
  await step(page, 'what the template lacks is told at its line before the set is made', async () => {
    await page.keyboard.press('n')
    await text.fill(rolling('{{.nothing}}'))
    await panel.getByText('Preview', { exact: true }).click()
    await panel.getByText('It cannot be generated').waitFor()
    await looked(page, 'set-not-generated')
    await panel.getByRole('button', { name: 'Show the place' }).click()
    const fault = panel.getByRole('alert').getByRole('button', { name: /^Line \d+:$/ })
    await fault.waitFor()
    const line = (await text.inputValue()).split('\n')[Number(/\d+/.exec(await fault.innerText())?.[0]) - 1]
    need(line.trim() === "stage: '{{.nothing}}'", `the fault is at “${line}”`)
    await looked(page, 'set-fault')
  })
  await step(page, 'what a set would create is shown, and then it is created', async () => {
    await text.fill(rolling('{{.path.basename}}'))
    await panel.getByText('Preview', { exact: true }).click()
    await panel.getByText('2 to create').waitFor()
    await panel.getByRole('button', { name: 'create rolling-first' }).click()
    const diff = panel.getByRole('region', { name: 'Differences' })
    await diff.getByText('path: stages/first').waitFor()
    await diff.getByText('<img src=x onerror=alert(1)>').waitFor()
    await looked(page, 'set-preview-new')
    await panel.getByRole('button', { name: 'Create', exact: true }).click()
    await page.waitForURL('**/applicationsets/argocd/rolling')
    await page.getByRole('heading', { name: 'rolling' }).waitFor()
  })
}

async function steps(page) {
  await step(page, 'applications of a set are shown with their steps, as they come', async () => {
    await page.getByRole('link', { name: 'rolling-second' }).waitFor()
    await page.getByRole('row', { name: /rolling-first .*Progressing Synced 1 Progressing/ }).waitFor()
    await looked(page, 'set')
  })
  await step(page, 'steps say what each application waits for', async () => {
    await page.keyboard.press('v')
    await page.waitForURL('**view=steps')
    await page.getByText('waits to be Synced and Healthy; it is Synced and Progressing').waitFor()
    await page.getByText('waits for step 1: rolling-first is not Healthy yet').waitFor()
    await page.getByText('applications with stage in (second)').waitFor()
    await looked(page, 'set-steps')
  })
  await step(page, 'an application leads to its set, and the set to its applications among all', async () => {
    await page.getByRole('link', { name: 'rolling-second' }).click()
    await page.getByRole('link', { name: 'Made by the ApplicationSet rolling' }).click()
    await page.waitForURL('**/applicationsets/argocd/rolling')
    await page.getByRole('link', { name: 'Among all applications' }).click()
    await page.waitForURL('**/applications?view=table&set=rolling')
    await page.getByText(/^2 of \d+$/).waitFor()
  })
  await step(page, 'conditions, events, generators and template are told', async () => {
    await page.goto(at('rolling', '?view=conditions'))
    await page.getByText('A progressive sync is under way').waitFor()
    await looked(page, 'set-conditions')
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByText('created Application "rolling-first"').waitFor()
    await page.getByRole('tab', { name: 'Generators and template' }).click()
    await page.getByText(/HEAD · stages\/\*/).waitFor()
    await looked(page, 'set-spec')
  })
}

async function changing(page) {
  const editor = page.getByRole('textbox', { name: 'rolling as YAML' })
  await step(page, 'a change of a set is shown as what it would do, and saved', async () => {
    await page.goto(at('rolling'))
    await page.getByRole('button', { name: 'Edit' }).click()
    const text = await editor.inputValue()
    await editor.fill(text.replace('project: default', 'project: none').replace('stages/*', 'stages/second'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByRole('button', { name: /^Line \d+:$/ }).waitFor()
    await editor.fill(text.replace('stages/*', 'stages/second').replace('targetRevision: HEAD', 'targetRevision: main'))
    const panel = page.getByRole('dialog', { name: 'rolling as YAML' })
    await panel.getByText('Preview', { exact: true }).click()
    await panel.getByText('1 to delete').waitFor()
    await panel.getByRole('button', { name: 'change rolling-second' }).click()
    await panel.getByRole('region', { name: 'Differences' }).getByText('targetRevision: main').waitFor()
    await looked(page, 'set-preview')
    await panel.getByText('Write', { exact: true }).click()
    await editor.fill(text.replace('maxUpdate: 50%', 'maxUpdate: 1'))
    await panel.getByText('What changes', { exact: true }).click()
    await panel.getByRole('region', { name: 'Differences' }).getByText('maxUpdate: 1').waitFor()
    await panel.getByRole('button', { name: 'Save' }).click()
    await page.getByText('rolling is saved').waitFor()
    const { spec } = await api(page, '/api/v1/applicationsets/rolling?appsetNamespace=argocd')
    need(spec.strategy.rollingSync.steps[1].maxUpdate === 1, 'it is not saved')
    need(spec.generators[0].git.directories[0].path === 'stages/*', 'more is saved than was to be')
  })
  await step(page, 'nothing is to be done where everything is as it should be', async () => {
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.waitForURL('**view=preview')
    await page.getByText('Nothing: all applications are as the set has them.').waitFor()
    await page.getByText('2 as they are').waitFor()
  })
  await step(page, 'what the API cannot do is said, not passed over', async () => {
    await page.goto(at('rolling', '?panel=spec'))
    await editor.fill((await editor.inputValue()).replace('name: rolling\n', 'name: other\n'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/Name and namespace cannot be changed/).waitFor()
    await page.keyboard.press('Escape')
  })
}

async function guard(page) {
  await step(page, 'deletions that wait are looked at, and go on when their number is written', async () => {
    await put(page, plain('tenants', 5))
    await page.goto(at('tenants'))
    await page.getByRole('link', { name: 'tenants-e' }).waitFor()
    await put(page, plain('tenants', 1))
    // Nobody has asked again: the set is followed.
    await page.getByText('4 of 5 applications wait to be deleted').waitFor()
    await looked(page, 'set-held')
    await page.getByRole('button', { name: 'Look and confirm' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 4 applications?' })
    const leaving = dialog.getByRole('list', { name: 'What would be deleted' })
    await leaving.getByText('tenants-b').waitFor()
    need((await leaving.innerText()).split(/\s+/).join() === 'tenants-b,tenants-c,tenants-d,tenants-e', await leaving.innerText())
    const button = dialog.getByRole('button', { name: 'Delete them' })
    need(await button.isDisabled(), 'the button is not held back')
    await dialog.getByLabel('Write 4 to go on').fill('4')
    await looked(page, 'set-confirm')
    const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/api/v1/applicationsets?upsert=true'))
    await button.click()
    const { metadata, spec } = (await sent).postDataJSON()
    const token = metadata.annotations['lynceus.dev/confirm-deletions']
    need(/^4-[0-9a-f]{8}$/.test(token) && spec.generators[0].list.elements.length === 1, JSON.stringify(metadata))
    // A server that passes over annotations where nothing else changes is told of, and kubectl is left.
    await page.getByText('The deletion of 4 applications is confirmed').or(dialog.getByText('Confirm with kubectl instead')).first().waitFor()
    if (await dialog.isVisible()) await annotateSet('tenants', { 'lynceus.dev/confirm-deletions': token })
    await page.getByText('4 of 5 applications wait to be deleted').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'tenants-b' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'tenants-a' }).waitFor()
  })
}

async function mistakes(page) {
  await step(page, 'what a generator cannot do is told by the set, and at its line', async () => {
    const set = plain('mistaken', 2)
    set.spec.generators.push({ git: { repoURL: 'file:///nowhere/<b>x</b>', revision: 'HEAD', directories: [{ path: '*' }] } })
    await put(page, set)
    await page.goto(at('mistaken'))
    const notice = page.getByRole('region', { name: /It could not do all of its work/ })
    await notice.getByText(/spec\.generators\[1\]\.git/).waitFor()
    await looked(page, 'set-mistaken')
    await notice.getByRole('button', { name: 'Show the place' }).click()
    const fault = page.getByRole('alert').getByRole('button', { name: /^Line \d+:$/ })
    const line = (await page.getByRole('textbox', { name: 'mistaken as YAML' }).inputValue()).split('\n')[Number(/\d+/.exec(await fault.innerText())?.[0]) - 1]
    need(line.trim() === '- git:', `the fault is at “${line}”`)
    await looked(page, 'set-mistaken-line')
    await page.goto(at('mistaken', '?view=preview'))
    await page.getByText('It cannot be generated').waitFor()
  })
  await step(page, 'a set that is not there is said to be missing', async () => {
    await page.goto(at('nobody'))
    await page.getByText(/applicationsets\.argoproj\.io "nobody" not found/).waitFor()
    await looked(page, 'set-missing')
  })
}

async function list(page) {
  await step(page, 'sets are searched and filtered, which the address keeps', async () => {
    await page.goto(`${base}/applicationsets`)
    await page.getByRole('row', { name: /^mistaken .*Degraded/ }).waitFor()
    await looked(page, 'sets')
    await page.getByRole('group', { name: 'By health' }).getByRole('button', { name: /Degraded/ }).click()
    await page.waitForURL('**/applicationsets?health=Degraded')
    await page.getByText('1 of 4').waitFor()
    await page.getByRole('button', { name: 'Generator' }).click()
    await page.getByRole('checkbox', { name: /git/ }).check()
    await page.waitForURL('**health=Degraded&generator=git')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.keyboard.press('/')
    await page.keyboard.type('tenants')
    await page.waitForURL('**/applicationsets?search=tenants')
    await page.reload()
    await page.getByText('1 of 4').waitFor()
  })
  await step(page, 'sets come and go by themselves, and are gone through with keys', async () => {
    await page.goto(`${base}/applicationsets?sort=name`)
    await page.getByRole('link', { name: 'mistaken', exact: true }).waitFor()
    await put(page, plain('late', 1))
    await page.getByRole('link', { name: 'late', exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/applicationsets/argocd/late')
  })
}

async function removing(page) {
  await step(page, 'a set is deleted only after its name is written', async () => {
    await page.goto(at('late'))
    await page.getByRole('button', { name: 'More to do' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete late?' })
    need(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled(), 'the button is not held back')
    await dialog.getByLabel('Write late to go on').fill('late')
    await looked(page, 'set-delete')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.waitForURL('**/applicationsets')
    await page.getByRole('link', { name: 'mistaken', exact: true }).waitFor()
    await page.getByRole('link', { name: 'late', exact: true }).waitFor({ state: 'detached' })
    await page.evaluate(() => fetch('/api/v1/applicationsets/tenants?appsetNamespace=argocd', { method: 'DELETE', headers: { 'content-type': 'application/json' } }))
    await page.getByRole('link', { name: 'tenants', exact: true }).waitFor({ state: 'detached' })
    await picture(page, 'sets-left')
  })
}
