/** One of a few. What was chosen and is not among them stays, because the list may be shorter than the rights of the server. */

import { NativeSelect } from '@mantine/core'

interface Props {
  label: string
  value: string
  set: (value: string) => void
  choices: { value: string; label: string }[]
  error?: string | undefined
}

export function Chosen({ label, value, set, choices, error }: Props) {
  const all = choices.some((one) => one.value === value) ? choices : [{ value, label: value }, ...choices]
  return <NativeSelect size="xs" label={label} data={all} value={value} onChange={(event) => set(event.currentTarget.value)} error={error} />
}
