import { base, picture } from './browser.mjs'
import { hasCluster, trustIssuer } from './cluster.mjs'
import { issuer } from './issuer.mjs'
import { need, skip, step } from './steps.mjs'

export async function sso(page) {
  if (!hasCluster) {
    skip('logging in elsewhere', 'no cluster to write the settings of an issuer to')
    return
  }
  const house = await issuer()
  await trustIssuer(house, base)
  // The issuer's own pages ask for letters from elsewhere, which is not there.
  const isElsewhere = (url) => url.hostname !== '127.0.0.1'
  await page.context().route(isElsewhere, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  await logins(page)
  await attacks(page, house)
  await page.context().unroute(isElsewhere)
  house.close()
}

async function enter(page, name) {
  await page.context().clearCookies()
  const button = page.getByRole('link', { name: /Our house/ })
  // The server reads its settings anew within a moment.
  for (let attempt = 0; attempt < 10 && (await button.count()) === 0; attempt++) {
    await page.goto(`${base}/login?return_url=${encodeURIComponent('/applications?view=table')}`)
    await button.waitFor({ timeout: 3000 }).catch(() => undefined)
  }
  await picture(page, 'login-elsewhere')
  await button.click()
  await page.locator('[name=login]').fill(name)
  await page.locator('[name=password]').fill('any')
  await page.locator('[type=submit]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL('**/applications?view=table')
}

const asked = (page, path) => page.evaluate(async (path) => (await fetch(path)).json(), path)
const synced = (page, name) => page.evaluate(async (name) => (await fetch(`/api/v1/applications/${name}/sync`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"dryRun": true}' })).status, name)

async function logins(page) {
  await step(page, 'one logs in with an issuer, and may what one’s groups may', async () => {
    await enter(page, 'alice')
    const { loggedIn, username, groups } = await asked(page, '/api/v1/session/userinfo')
    need(loggedIn && username === 'alice@example.org' && groups.join() === 'deployers', JSON.stringify({ loggedIn, username, groups }))
    need((await synced(page, 'shop-dev')) === 200, 'alice may not sync')
  })
  await step(page, 'who is in no such group sees and may nothing', async () => {
    await enter(page, 'bob')
    need(((await asked(page, '/api/v1/applications?fields=items.metadata.name')).items ?? []).length === 0, 'bob sees applications')
    need((await synced(page, 'shop-dev')) === 403, 'bob may sync')
  })
}

/** What somebody gets who brings this token. */
const status = async (token) => (await fetch(`${base}/api/v1/applications`, { headers: { authorization: `Bearer ${token}` } })).status

async function attacks(page, house) {
  const hour = Math.floor(Date.now() / 1000) + 3600
  await step(page, 'a token counts if it is for us, of its issuer, of now, and signed', async () => {
    const good = await house.signed({ aud: house.client, exp: hour })
    const [head, body, signature] = good.split('.')
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
    const tried = {
      'a good one': [200, good],
      'for another client': [401, await house.signed({ aud: 'another', exp: hour })],
      'for nobody': [401, await house.signed({ exp: hour })],
      'of another issuer': [401, await house.signed({ aud: house.client, exp: hour }, 'http://127.0.0.1:1')],
      'of yesterday': [401, await house.signed({ aud: house.client, exp: hour - 86400 })],
      'without an end': [401, await house.signed({ aud: house.client })],
      'with another signature': [401, `${head}.${body}.${signature.split('').reverse().join('')}`],
      'without a signature': [401, `${unsigned}.${body}.`],
    }
    for (const [name, [wanted, token]] of Object.entries(tried)) {
      const got = await status(token)
      need(got === wanted, `${name}: ${got} where ${wanted} was to come`)
    }
  })
  await step(page, 'the answer to a login counts in the browser that began it, and only there', async () => {
    const begun = await fetch(`${base}/auth/login`, { redirect: 'manual' })
    const state = new URL(begun.headers.get('location')).searchParams.get('state')
    const carried = begun.headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ')
    const arrives = async (words, cookie) => {
      const answer = await fetch(`${base}/auth/callback?${words}`, { redirect: 'manual', headers: cookie ? { cookie } : {} })
      need(!answer.headers.getSetCookie().some((cookie) => /^argocd\.token=[^;]/.test(cookie)), `a session for ${words}`)
      return answer.status
    }
    need((await arrives(`code=x&state=${state}`)) === 400, 'a browser that began nothing')
    need((await arrives('code=x&state=other', carried)) === 400, 'the state of another')
    need((await arrives(`code=made-up&state=${state}`, carried)) >= 400, 'a code that the issuer never gave')
  })
}
