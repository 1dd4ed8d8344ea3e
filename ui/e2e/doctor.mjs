import { base, picture, readme } from './browser.mjs'
import { step } from './steps.mjs'

/** The doctor looks at everything, and rehearses; on a busy machine that takes a while. */
const LONG = { timeout: 600_000 }

export async function doctor(page) {
  await step(page, 'the doctor tells root causes with chains and evidence', async () => {
    await page.goto(`${base}/doctor`)
    await page.getByText(/root causes? explains? \d+ applications?/).last().waitFor(LONG)
    await page.getByRole('tree', { name: 'From the cause to what waits for it' }).waitFor()
    await page.getByText('How that was seen').waitFor()
    await picture(page, 'doctor')
  })
  await step(page, 'a fix is shown as a patch', async () => {
    await page.getByRole('button', { name: 'Show the patch and rehearse it' }).first().click()
    await page.getByRole('region', { name: 'Differences' }).first().waitFor(LONG)
    await page.getByText('tolerations:').first().waitFor()
    await picture(page, 'fix')
    await page.getByRole('main').getByText('Doctor').first().scrollIntoViewIfNeeded()
    await readme(page, 'doctor')
  })
  await step(page, 'a code is explained', async () => {
    await page.getByRole('button', { name: /^LYN\d{4}$/ }).first().click()
    await page.getByRole('dialog').locator('p').first().waitFor()
    await picture(page, 'code')
    await page.keyboard.press('Escape')
  })
  await step(page, 'causes are a picture', async () => {
    await page.goto(`${base}/doctor?view=picture`)
    await page.getByRole('region', { name: 'Picture' }).getByRole('button', { name: /vault/ }).first().waitFor(LONG)
    await picture(page, 'causes')
  })
}
