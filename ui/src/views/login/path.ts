/** Only a path of this page is gone back to: anything else would let a link to the login lead elsewhere. */
export function ownPath(text: string | undefined): string {
  return text && /^\/(?![/\\])/.test(text) ? text : '/applications'
}
