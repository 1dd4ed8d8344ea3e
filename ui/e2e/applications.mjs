import { base, picture } from './browser.mjs'
import { need, step } from './steps.mjs'

export async function applications(page) {
  await step(page, 'applications are shown as tiles', async () => {
    await page.goto(`${base}/applications`)
    await page.getByRole('link', { name: /vault/ }).first().waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await picture(page, 'applications')
  })
  await step(page, 'a search is kept in the address', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('shop-dev')
    await page.waitForURL('**/applications?search=shop-dev')
    await page.getByText(/^1 of \d+$/).waitFor()
    await page.reload()
    await page.getByText(/^1 of \d+$/).waitFor()
  })
  await step(page, 'filters are counted and combined', async () => {
    await page.goto(`${base}/applications`)
    await page.getByRole('group', { name: 'By health and sync' }).getByRole('button', { name: /Degraded/ }).click()
    await page.waitForURL('**/applications?health=Degraded')
    need((await page.getByRole('link', { name: /Healthy/ }).count()) === 0, 'a healthy application is shown')
    await page.getByRole('button', { name: 'Project' }).click()
    await page.getByRole('checkbox', { name: /default/ }).check()
    await page.waitForURL('**health=Degraded&project=default')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL('**/applications')
  })
  await step(page, 'the table is sorted, and gone through with keys', async () => {
    await page.goto(`${base}/applications?view=table`)
    await page.getByRole('table', { name: 'Applications' }).waitFor()
    await page.getByRole('columnheader', { name: 'Application' }).getByRole('button').click()
    await page.waitForURL('**sort=name')
    await picture(page, 'table')
    await page.keyboard.press('Escape')
    await page.locator('body').click({ position: { x: 700, y: 5 } })
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/applications/argocd/**')
  })
  await step(page, 'the map shows all at once', async () => {
    await page.goto(`${base}/applications?view=map&by=health`)
    await page.getByRole('link', { name: /^vault: / }).waitFor()
    await picture(page, 'map')
  })
  await step(page, 'keys are explained', async () => {
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
  })
}
