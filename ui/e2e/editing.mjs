// Writing: new applications, parameters, YAML, and several applications at once.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git } from './application.mjs'
import { base, looked, picture } from './browser.mjs'
import { need, step } from './steps.mjs'

const demo = process.env.UI_TEST_DEMO
const at = (name, words = '') => `${base}/applications/argocd/${name}${words}`
const api = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path)

export async function editing(page) {
  await creating(page)
  await parameters(page)
  await yaml(page)
  await many(page)
}

/** A folder that is manifests to one tool and a kustomization to another: the server tries a source before it takes it. */
function commitFolder() {
  const folder = join(demo, 'written')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'kustomization.yaml'), 'resources: [front.yaml]\n')
  const pods = '{metadata: {labels: {app: front}}, spec: {containers: [{name: one, image: one}, {name: two, image: two}]}}'
  writeFileSync(join(folder, 'front.yaml'), `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: front}\nspec: {selector: {matchLabels: {app: front}}, template: ${pods}}\n`)
  git('add', 'written')
  git('commit', '-qm', 'Write something')
}

async function creating(page) {
  if (demo) commitFolder()
  await step(page, 'what the server does not take of a new application is told at its field', async () => {
    await page.goto(`${base}/applications`)
    await page.getByRole('button', { name: 'New application' }).click()
    const panel = page.getByRole('dialog', { name: 'New application' })
    const name = panel.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('Not A Name')
    need((await name.getAttribute('aria-invalid')) === 'true', 'the name is not marked')
    need(await panel.getByRole('button', { name: 'Create', exact: true }).isDisabled(), 'a name that is none can be sent')
    await name.fill('written')
    const repository = panel.getByRole('textbox', { name: 'Repository' })
    await repository.fill(`file://${demo ?? '/nowhere'}`)
    await panel.getByRole('textbox', { name: 'Namespace' }).fill('written')
    await panel.getByRole('button', { name: 'Create', exact: true }).click()
    await panel.getByText(/spec\.source\.path or spec\.source\.chart are required/).first().waitFor()
    need((await repository.getAttribute('aria-invalid')) === 'true', 'the field is not marked')
    await looked(page, 'new-application-refused')
  })
  await step(page, 'the form and YAML are one draft, and make an application', async () => {
    const panel = page.getByRole('dialog', { name: 'New application' })
    await panel.getByRole('textbox', { name: 'Path' }).fill('written')
    await panel.getByText('Helm in Git').click()
    await panel.getByRole('button', { name: 'Add a parameter' }).click()
    await panel.getByLabel('Parameter 1').fill('<img src=x onerror=alert(1)>')
    await panel.getByLabel('Value 1').fill('javascript:alert(1)')
    await picture(page, 'new-application')
    await panel.getByText('YAML', { exact: true }).click()
    const text = panel.getByRole('textbox', { name: 'The application as YAML' })
    need((await text.inputValue()).includes('name: <img src=x onerror=alert(1)>'), 'the parameter is not in the YAML')
    await looked(page, 'new-application-yaml')
    await text.fill((await text.inputValue()).replace(/ {4}helm:[\s\S]*?(?=\n {2}\w)/, '    directory:\n      recurse: true'))
    await panel.getByText('Form', { exact: true }).click()
    need(await panel.getByLabel('Folders below it, too').isChecked(), 'what was written as YAML is not in the form')
    await panel.getByRole('button', { name: 'Create', exact: true }).click()
    await page.waitForURL('**/applications/argocd/written')
    await page.getByRole('heading', { name: 'written' }).waitFor()
  })
}

async function parameters(page) {
  await step(page, 'parameters of a source are changed', async () => {
    await page.goto(at('written', '?panel=parameters'))
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const panel = page.getByRole('dialog', { name: 'Parameters of written' })
    await panel.getByText('Kustomize', { exact: true }).click()
    await panel.getByLabel('Name prefix').fill('pre-')
    await panel.getByLabel('Images').fill('one=registry.example/one:2\ntwo:3')
    await panel.getByRole('button', { name: 'Add a workload' }).click()
    await panel.getByLabel('Workload 1').fill('front')
    await panel.getByLabel('Count 1').fill('3')
    await looked(page, 'parameters-edit')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('pre-').waitFor()
    const { spec } = await api(page, '/api/v1/applications/written?appNamespace=argocd')
    const { kustomize, directory } = spec.source
    need(JSON.stringify(kustomize) === JSON.stringify({ images: ['one=registry.example/one:2', 'two:3'], namePrefix: 'pre-', replicas: [{ count: 3, name: 'front' }] }), JSON.stringify(kustomize))
    need(directory === undefined, 'what belonged to the other tool is still there')
  })
}

async function yaml(page) {
  const editor = () => page.getByRole('textbox', { name: 'written as YAML' })
  await step(page, 'YAML that cannot be read is told with its line, and not sent', async () => {
    await page.goto(at('written', '?panel=spec'))
    const good = await editor().inputValue()
    await editor().fill(`${good}broken: [\n`)
    await page.getByRole('alert').getByRole('button', { name: /^Line \d+:$/ }).waitFor()
    need(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'it can be sent')
    await picture(page, 'yaml-broken')
    await editor().fill(good.replace('project: default', 'project: <b>none</b>'))
    await page.getByRole('button', { name: 'Save' }).click()
    const fault = page.getByRole('alert').getByRole('button', { name: /^Line \d+:$/ })
    await fault.waitFor()
    need(/project: <b>none/.test((await editor().inputValue()).split('\n')[Number(/\d+/.exec(await fault.innerText())?.[0]) - 1] ?? ''), 'the fault is at another line')
    await looked(page, 'yaml-refused')
  })
  await step(page, 'YAML is compared with what was there, and saved', async () => {
    const text = (await editor().inputValue()).replace('project: <b>none</b>', 'project: default').replace('targetRevision: HEAD', 'targetRevision: main')
    await editor().fill(text)
    await page.getByText('What changes').click()
    await page.getByRole('region', { name: 'Differences' }).getByText('targetRevision: main').waitFor()
    await picture(page, 'yaml-changes')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('written is saved').waitFor()
    need((await api(page, '/api/v1/applications/written?appNamespace=argocd')).spec.source.targetRevision === 'main', 'it is not saved')
  })
}

async function many(page) {
  await step(page, 'several applications are refreshed and synced at once', async () => {
    await page.goto(`${base}/applications?view=table&search=shop-`)
    await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check()
    const bar = page.getByRole('toolbar', { name: 'What to do with those that are chosen' })
    await bar.getByText(/^\d+ chosen$/).waitFor()
    await looked(page, 'many')
    await bar.getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('dialog').getByText('3 of 3').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('checkbox', { name: 'Choose shop-dev' }).check()
    await bar.getByRole('button', { name: 'Sync' }).click()
    await page.getByRole('dialog').getByLabel('Dry run').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Sync' }).click()
    await page.getByRole('dialog').getByRole('img', { name: 'asked for' }).waitFor()
    await looked(page, 'many-done')
    await page.keyboard.press('Escape')
  })
  await step(page, 'several are deleted only after their number is written', async () => {
    await page.goto(`${base}/applications?view=table&search=written`)
    await page.getByRole('checkbox', { name: 'Choose written' }).check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    need(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), 'the button is not held back')
    await dialog.getByLabel('Write 1 to go on').fill('1')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('img', { name: 'asked for' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('No application is like that').waitFor()
  })
}
