import { base, inScheme, picture, stumbles } from './browser.mjs'
import { LASTING } from './sets.mjs'
import { need, step } from './steps.mjs'

const VIEWS = {
  applications: '/applications',
  table: '/applications?view=table',
  map: '/applications?view=map',
  application: '/applications/argocd/vault',
  list: '/applications/argocd/shop-dev?view=list',
  pods: '/applications/argocd/shop-dev?view=pods',
  object: '/applications/argocd/shop-dev?node=apps/Deployment/shop-dev/front&tab=manifest',
  sync: '/applications/argocd/shop-dev?panel=sync',
  operation: '/applications/argocd/shop-dev?panel=operation',
  history: '/applications/argocd/shop-dev?panel=history',
  new: '/applications?new=true',
  parameters: '/applications/argocd/shop-dev?panel=parameters&edit=true',
  yaml: '/applications/argocd/shop-dev?panel=spec',
  network: '/applications/argocd/shop-dev?view=network',
  sets: '/applicationsets',
  'set-new': '/applicationsets?new=true',
  ...Object.fromEntries(LASTING.map((name) => [`set-${name}`, `/applicationsets/argocd/${name}`])),
  'set-steps': '/applicationsets/argocd/rolling?view=steps',
  'set-preview': '/applicationsets/argocd/rolling?view=preview',
  'set-conditions': '/applicationsets/argocd/mistaken?view=conditions',
  'set-yaml': '/applicationsets/argocd/mistaken?panel=spec',
  'set-spec': '/applicationsets/argocd/rolling?view=spec',
  'set-events': '/applicationsets/argocd/rolling?view=events',
  doctor: '/doctor',
  causes: '/doctor?view=picture',
  rehearsal: '/rehearsal',
  repositories: '/settings/repos',
  clusters: '/settings/clusters',
  projects: '/settings/projects',
  accounts: '/settings/accounts',
  user: '/settings/user',
}

/** Every view in both schemes and on a phone, with what would keep somebody from using it. */
export async function looks(page) {
  for (const scheme of ['light', 'dark']) {
    for (const [name, path] of Object.entries(VIEWS)) {
      await step(page, `${name} can be used by all, ${scheme}`, async () => {
        await inScheme(page, scheme)
        await page.goto(base + path)
        await settled(page)
        await picture(page, `${name}-${scheme}`)
        const found = await stumbles(page)
        need(found.length === 0, found.join('\n'))
      })
    }
  }
  await inScheme(page, 'light')
  await page.setViewportSize({ width: 390, height: 844 })
  for (const [name, path] of Object.entries(VIEWS)) {
    await step(page, `${name} fits a phone`, async () => {
      await page.goto(base + path)
      await settled(page)
      await picture(page, `${name}-phone`)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      need(wide <= 0, `it is ${wide} pixels too wide`)
    })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Waits until nothing loads any more: streams are always open, so the network is never idle. */
async function settled(page) {
  await page.waitForLoadState('load')
  await page.locator('main').first().waitFor()
  await page.waitForFunction(() => ![...document.querySelectorAll('[role=status]')].some((one) => /^(Loading|Looking|Asking)/.test(one.textContent ?? '')), undefined, { timeout: 120_000 })
  // What slides in has arrived, and letters have their shape.
  await page.evaluate(() => document.fonts.ready)
  await page.waitForFunction(() => document.getAnimations().every((one) => one.playState !== 'running' || one.effect?.getTiming().iterations === Infinity))
}
