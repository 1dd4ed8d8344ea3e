// The embedded cluster's own API, to set up what the page is then used for: an account that may only look.
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

const kubeconfig = process.env.UI_TEST_KUBECONFIG
const field = (text, name) => new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? ''

function send(method, path, body) {
  const text = readFileSync(kubeconfig, 'utf8')
  const pem = (name) => Buffer.from(field(text, name), 'base64')
  const url = new URL(field(text, 'server') + path)
  const options = { method, ca: pem('certificate-authority-data'), cert: pem('client-certificate-data'), key: pem('client-key-data'), headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' } }
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      let said = ''
      answer.on('data', (piece) => (said += piece))
      answer.on('end', () => (answer.statusCode < 300 ? resolve(JSON.parse(said)) : reject(new Error(`${method} ${path}: ${answer.statusCode} ${said.slice(0, 300)}`))))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

/** `viewer-password`, as bcrypt writes it. */
const HASH = process.env.UI_TEST_VIEWER_HASH ?? '$2a$06$abcdefghijklmnopqrstuuS31/X9pPIXeLVswiQNxo5aiwDESOpdC'

async function patched(kind, name, change) {
  const path = `/api/v1/namespaces/argocd/${kind}`
  try {
    await send('PATCH', `${path}/${name}`, change)
  } catch {
    await send('POST', path, { apiVersion: 'v1', kind: kind === 'secrets' ? 'Secret' : 'ConfigMap', metadata: { name }, ...change })
  }
}

export const hasCluster = kubeconfig !== undefined

export async function addViewer() {
  await patched('configmaps', 'argocd-cm', { data: { 'accounts.viewer': 'login' } })
  await patched('configmaps', 'argocd-rbac-cm', { data: { 'policy.csv': 'g, viewer, role:readonly\n' } })
  await patched('secrets', 'argocd-secret', { data: { 'accounts.viewer.password': Buffer.from(HASH).toString('base64') } })
}

/** Has the server take an issuer's word for who people are: one of its groups may everything, the others nothing. */
export async function trustIssuer(house, url) {
  const oidc = { name: 'Our house', issuer: house.address, clientID: house.client, clientSecret: '$oidc.house', requestedScopes: ['openid', 'email', 'groups'] }
  await patched('secrets', 'argocd-secret', { data: { 'oidc.house': Buffer.from(house.clientSecret).toString('base64') } })
  await patched('configmaps', 'argocd-cm', { data: { url, 'oidc.config': JSON.stringify(oidc) } })
  await patched('configmaps', 'argocd-rbac-cm', { data: { 'policy.house.csv': 'g, deployers, role:admin\n' } })
}

/** An account that programs use: it has tokens and no password. */
export async function addTokens() {
  await patched('configmaps', 'argocd-cm', { data: { 'accounts.robot': 'apiKey' } })
}

/** Has the steps of ApplicationSets followed. */
export async function followSteps() {
  await patched('configmaps', 'argocd-cmd-params-cm', { data: { 'applicationsetcontroller.enable.progressive.syncs': 'true' } })
}

export async function annotateSet(name, annotations) {
  await send('PATCH', `/apis/argoproj.io/v1alpha1/namespaces/argocd/applicationsets/${name}`, { metadata: { annotations } })
}
