import { base, picture } from './browser.mjs'
import { addViewer, hasCluster } from './cluster.mjs'
import { need, skip, step } from './steps.mjs'

const password = process.env.UI_TEST_PASSWORD ?? ''

async function enter(page, name, word) {
  await page.getByLabel('User name').fill(name)
  await page.getByRole('textbox', { name: 'Password' }).fill(word)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

export async function login(page) {
  await step(page, 'who is not logged in is led to the login', async () => {
    await page.goto(`${base}/applications?view=table`)
    await page.waitForURL('**/login?**')
    await picture(page, 'login')
  })
  await step(page, 'a wrong password is refused in words', async () => {
    await page.goto(`${base}/login`)
    await enter(page, 'admin', 'not the password')
    await page.getByRole('alert').waitFor()
  })
  await step(page, 'a way back that leads elsewhere is not followed', async () => {
    for (const elsewhere of ['https://evil.example/', '//evil.example/', '/\\evil.example/', 'javascript:alert(1)']) {
      await page.goto(`${base}/login?return_url=${encodeURIComponent(elsewhere)}`)
      await enter(page, 'admin', password)
      await page.waitForURL(`${base}/applications`)
      await page.context().clearCookies()
    }
  })
  await step(page, 'the right one leads back to where one wanted to go', async () => {
    await page.goto(`${base}/login?return_url=${encodeURIComponent('/applications?view=table')}`)
    await enter(page, 'admin', password)
    await page.waitForURL('**/applications?view=table')
    await page.getByRole('table', { name: 'Applications' }).waitFor()
  })
}

export async function refusal(page) {
  if (!hasCluster && !process.env.UI_TEST_VIEWER) {
    skip('what the rights do not allow', 'no cluster to add an account to')
    return
  }
  await step(page, 'what the rights do not allow is refused, and said so', async () => {
    if (hasCluster) await addViewer()
    await page.context().clearCookies()
    await page.goto(`${base}/login`)
    // The server reads accounts anew within a moment.
    for (let attempt = 0; attempt < 10 && page.url().includes('/login'); attempt++) {
      await enter(page, 'viewer', process.env.UI_TEST_VIEWER ?? 'viewer-password')
      await page.waitForURL('**/applications', { timeout: 2000 }).catch(() => undefined)
    }
    await page.goto(`${base}/applications/argocd/shop-dev?panel=sync`)
    await page.getByRole('dialog').getByRole('button', { name: 'Sync', exact: true }).click()
    const notice = page.getByText('You do not have the right to do this').first()
    await notice.waitFor()
    need(await page.getByText(/permission denied/).first().isVisible(), 'the server’s own words are not shown')
    await picture(page, 'refusal')
  })
  await step(page, 'what the rights do not allow of sets is refused in its place', async () => {
    await page.goto(`${base}/applicationsets?new=true`)
    const panel = page.getByRole('dialog', { name: 'New ApplicationSet' })
    const text = panel.getByRole('textbox')
    await text.fill((await text.inputValue()).replace('name: ""', 'name: refused'))
    await panel.getByText('Preview', { exact: true }).click()
    await panel.getByText('You do not have the right to do this').waitFor()
    await picture(page, 'refusal-set')
    await panel.getByText('Write', { exact: true }).click()
    await panel.getByRole('button', { name: 'Create', exact: true }).click()
    await panel.getByText('You do not have the right to do this').waitFor()
  })
}
