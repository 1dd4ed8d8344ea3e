/** What becomes of an application's objects when it is deleted. */
export const HOW = {
  foreground: { cascade: true, propagationPolicy: 'foreground' },
  background: { cascade: true, propagationPolicy: 'background' },
  keep: { cascade: false },
}

export type How = keyof typeof HOW
