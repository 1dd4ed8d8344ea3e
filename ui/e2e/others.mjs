import { base, picture } from './browser.mjs'
import { step } from './steps.mjs'

export async function others(page) {
  await step(page, 'a rehearsal is a timeline', async () => {
    await page.goto(`${base}/rehearsal`)
    await page.getByRole('button', { name: 'Rehearse', exact: true }).click()
    await page.getByText('On the rehearsal’s clock').waitFor({ timeout: 600_000 })
    await page.getByRole('button', { name: /^shop-dev: / }).click()
    await picture(page, 'rehearsal')
  })
  for (const [tab, text] of [['repos', /git|No repositories/], ['clusters', /in-cluster/], ['projects', /default/], ['accounts', /admin/], ['user', /admin/]]) {
    await step(page, `settings: ${tab}`, async () => {
      await page.goto(`${base}/settings/${tab}`)
      await page.getByRole('tabpanel').getByText(text).first().waitFor()
      await picture(page, `settings-${tab}`)
    })
  }
}
