/** A link out of the page. An address that is not safe to follow is shown as text. */

import type { ReactNode } from 'react'

import { safeLink } from '../model/links'

export function Anchor({ url, children }: { url: string | undefined; children: ReactNode }) {
  const safe = safeLink(url)
  if (!safe) return <span title={url}>{children}</span>
  return <a className="link" href={safe} target="_blank" rel="noreferrer noopener">{children}</a>
}
