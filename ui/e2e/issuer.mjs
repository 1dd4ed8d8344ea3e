// An issuer of OpenID Connect that is not ours: the one of npm, certified by those who wrote the protocol, on loopback.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

import { base, modules } from './browser.mjs'

/** Which groups people are in there. */
const GROUPS = { alice: ['deployers'], bob: ['readers'] }
const CLIENT = 'lynceus'

/** What is said about each who logs in: anybody may, by any name. */
const account = (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.org`, groups: GROUPS[id] ?? [] }) })

function settings(key, clientSecret) {
  return {
    jwks: { keys: [key] },
    clients: [{ client_id: CLIENT, client_secret: clientSecret, redirect_uris: [`${base}/auth/callback`] }],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    // Without the proof of who began a login there is none.
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'], profile: [] },
    conformIdTokenClaims: false,
    ttl: Object.fromEntries(['AccessToken', 'Grant', 'IdToken', 'Interaction', 'Session'].map((kind) => [kind, 600])),
    findAccount: account,
  }
}

/** Starts it, and gives its address, what we are called there, and a way to have it sign anything. */
export async function issuer() {
  const { Provider } = await import(pathToFileURL(modules.resolve('oidc-provider')).href)
  const { SignJWT } = await import(pathToFileURL(modules.resolve('jose')).href)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'house', alg: 'RS256', use: 'sig' }
  const clientSecret = randomBytes(16).toString('hex')
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${server.address().port}`
  server.on('request', new Provider(address, settings(key, clientSecret)).callback())
  const signed = (claims, from = address) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'house' }).setIssuer(from).setSubject('alice').setIssuedAt().sign(privateKey)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { address, client: CLIENT, clientSecret, signed, close }
}
