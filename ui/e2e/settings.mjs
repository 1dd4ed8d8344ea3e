// What the installation knows: shown, added, tried, changed and removed.
import { base, looked, picture } from './browser.mjs'
import { addTokens, hasCluster } from './cluster.mjs'
import { need, skip, step } from './steps.mjs'

const demo = process.env.UI_TEST_DEMO

export async function settings(page) {
  for (const [tab, text] of [['repos', /git|No repositories/], ['clusters', /in-cluster/], ['projects', /default/], ['accounts', /admin/], ['user', /admin/]]) {
    await step(page, `settings: ${tab}`, async () => {
      await page.goto(`${base}/settings/${tab}`)
      await page.getByRole('tabpanel').getByText(text).first().waitFor()
      await picture(page, `settings-${tab}`)
    })
  }
  await repositories(page)
  await clusters(page)
  await projects(page)
  if (hasCluster) await accounts(page)
  else skip('tokens of an account', 'no cluster to give an account the right to have one')
  await step(page, 'a wrong password changes nothing, and is said so', async () => {
    await page.goto(`${base}/settings/user`)
    await page.getByRole('button', { name: 'Change password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change password' })
    await dialog.getByRole('textbox', { name: 'Password now' }).fill('not it')
    await dialog.getByRole('textbox', { name: 'New password', exact: true }).fill('another one')
    await dialog.getByRole('textbox', { name: 'New password again' }).fill('another two')
    need(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'two different ones are taken')
    await dialog.getByRole('textbox', { name: 'New password again' }).fill('another one')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('current password does not match').waitFor()
    await looked(page, 'password')
    await page.keyboard.press('Escape')
  })
}

async function remove(page, name) {
  await page.getByRole('button', { name: `To do: ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText(`${name} is removed`).waitFor()
}

async function repositories(page) {
  await step(page, 'a repository that does not answer is refused in words', async () => {
    await page.goto(`${base}/settings/repos`)
    await page.getByRole('button', { name: 'Add a repository' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a repository' })
    await dialog.getByLabel('Address').fill('https://127.0.0.1:1/none.git')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(/cannot reach 127\.0\.0\.1:1/).waitFor()
    await looked(page, 'repository-refused')
    await page.keyboard.press('Escape')
  })
  if (!demo) return
  await step(page, 'a repository is added, tried and removed', async () => {
    const address = `file://${demo}`
    await page.getByRole('button', { name: 'Add a repository' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a repository' })
    await dialog.getByLabel('Address').fill(address)
    await dialog.getByLabel('Name', { exact: true }).fill('<b onmouseover=alert(1)>demo</b>')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('table').getByText('<b onmouseover=alert(1)>demo</b>').waitFor()
    await page.getByRole('button', { name: `To do: ${address}` }).click()
    await page.getByRole('menuitem', { name: 'Try again' }).click()
    await page.getByText(`${address} answers`).last().waitFor()
    await picture(page, 'repository')
    await remove(page, address)
  })
}

async function clusters(page) {
  await step(page, 'a cluster that does not answer is refused in words', async () => {
    await page.goto(`${base}/settings/clusters`)
    await page.getByRole('button', { name: 'Add a cluster' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a cluster' })
    await dialog.getByLabel('Address').fill('https://127.0.0.1:1')
    await dialog.getByRole('textbox', { name: 'Bearer token' }).fill('very-secret-token')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(/cannot (be used|reach)/).first().waitFor()
    need(!(await dialog.getByRole('alert').innerText()).includes('very-secret-token'), 'the token is in the answer')
    await looked(page, 'cluster-refused')
    await page.keyboard.press('Escape')
  })
}

async function projects(page) {
  await step(page, 'a project is written as YAML, with what the server says of it', async () => {
    await page.goto(`${base}/settings/projects`)
    await page.getByRole('button', { name: 'New project' }).click()
    const drawer = page.getByRole('dialog', { name: 'New project' })
    const text = drawer.getByRole('textbox', { name: 'The project as YAML' })
    const good = (await text.inputValue()).replaceAll('team', 'written')
    await text.fill(good.replace('p, proj:written:ci, applications, sync, written/*, allow', 'p, nothing'))
    await drawer.getByRole('button', { name: 'Create' }).click()
    await drawer.getByRole('alert').getByText(/invalid policy rule/).first().waitFor()
    await looked(page, 'project-refused')
    await text.fill(good)
    await drawer.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'written' }).waitFor()
  })
  await step(page, 'a token of a role is made, shown once, and revoked', async () => {
    await page.getByRole('button', { name: 'To do: written' }).click()
    await page.getByRole('menuitem', { name: 'Tokens' }).click()
    await token(page, 'Tokens of written')
    await remove(page, 'written')
  })
}

async function token(page, title) {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.getByRole('button', { name: 'New token' }).click()
  const making = page.getByRole('dialog', { name: 'New token' })
  await making.getByLabel('Name of the token').fill('e2e')
  await making.getByLabel('How long it holds').fill('soon')
  need(await making.getByRole('button', { name: 'Create' }).isDisabled(), 'a lifetime that is none is taken')
  await making.getByLabel('How long it holds').fill('2h')
  await making.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('The token is shown this once').waitFor()
  need(/^eyJ/.test(await dialog.locator('code').innerText()), 'there is no token')
  await dialog.getByText('e2e', { exact: true }).waitFor()
  await looked(page, 'tokens')
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog', { name: 'Revoke e2e?' }).getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByText('There are no tokens').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

async function accounts(page) {
  await step(page, 'a token of an account is made and revoked', async () => {
    await addTokens()
    // The server reads accounts anew within a moment.
    await page.waitForFunction(async () => (await (await fetch('/api/v1/account')).json()).items?.some((one) => one.capabilities?.includes('apiKey')))
    await page.goto(`${base}/settings/accounts`)
    await page.getByRole('button', { name: 'To do: robot' }).click()
    await page.getByRole('menuitem', { name: 'Tokens' }).click()
    await token(page, 'Tokens of robot')
  })
}
