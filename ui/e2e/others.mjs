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
}
