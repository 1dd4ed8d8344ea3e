/** Links that come from a cluster. Anybody who can write an annotation can write one, so only three schemes are followed. */

const FOLLOWED = new Set(['http:', 'https:', 'mailto:'])

/** The address if it is safe to follow, and nothing otherwise. */
export function safeLink(text: string | undefined): string | undefined {
  if (!text) return undefined
  const trimmed = text.trim()
  // Browsers drop tabs and line ends inside a scheme, so `java\tscript:` has to be refused as well.
  for (const letter of trimmed) if (letter.charCodeAt(0) < 32) return undefined
  try {
    return FOLLOWED.has(new URL(trimmed).protocol) ? trimmed : undefined
  } catch {
    return undefined
  }
}

/** `title|https://…` of Argo CD's link annotations, as title and address. */
export function linkAnnotation(name: string, value: string): { title: string; url: string } | undefined {
  const prefix = 'link.argocd.argoproj.io/'
  if (!name.startsWith(prefix)) return undefined
  const [first = '', second] = value.split('|', 2)
  return second === undefined ? { title: name.slice(prefix.length), url: first } : { title: first, url: second }
}

/** The page of a repository's commit, for the hosts whose addresses are known. */
export function commitLink(repository: string, revision: string): string | undefined {
  const base = webAddress(repository)
  if (!base || !/^[0-9a-f]{7,64}$/.test(revision)) return undefined
  return safeLink(base.includes('gitlab') ? `${base}/-/commit/${revision}` : `${base}/commit/${revision}`)
}

/** `git@host:owner/name.git` and its kin as a page to look at. */
export function webAddress(repository: string): string | undefined {
  const ssh = /^(?:ssh:\/\/)?git@([^:/]+)[:/](.+?)(?:\.git)?$/.exec(repository)
  if (ssh) return safeLink(`https://${ssh[1]}/${ssh[2]}`)
  return safeLink(repository.replace(/\.git$/, ''))?.startsWith('http') ? repository.replace(/\.git$/, '') : undefined
}
