/** What to filter by: one small list for each facet, with how many each choice would leave. */

import { Checkbox, Popover, ScrollArea, TextInput } from '@mantine/core'
import { IconChevronDown, IconX } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'

import { t } from '../texts'
import css from './facets.module.css'

export interface FacetProps {
  facet: string
  name: string
  chosen: string[]
  /** How many each value would leave; asked for when the list is opened. */
  counts: () => Map<string, number>
  set: (change: Record<string, string[] | undefined>) => void
}

/** More choices than this are found by typing. */
const LISTED = 200

/** The facets in a row; what is filtered can be cleared at its end. */
export function Facets({ facets, clear }: { facets: FacetProps[]; clear: (() => void) | undefined }) {
  return (
    <div className={css.facets}>
      {facets.map((one) => <OneFacet key={one.facet} {...one} />)}
      {clear && <button type="button" className={css.clear} onClick={clear}><IconX size={12} aria-hidden /> {t.apps.clear}</button>}
    </div>
  )
}

function OneFacet(props: FacetProps) {
  const { name, chosen } = props
  const [isOpen, setOpen] = useState(false)
  const text = chosen.length === 0 ? name : chosen.length === 1 ? `${name}: ${chosen[0]}` : `${name}: ${chosen.length}`
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={280} shadow="md" trapFocus>
      <Popover.Target>
        <button type="button" className={css.facet} data-on={chosen.length > 0 || undefined} onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          <span className="cut">{text}</span> <IconChevronDown size={12} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={8}>{isOpen && <Choices {...props} />}</Popover.Dropdown>
    </Popover>
  )
}

function Choices({ facet, name, chosen, counts, set }: FacetProps) {
  const [search, setSearch] = useState('')
  const found = [...counts()].filter(([value]) => value.toLowerCase().includes(search.toLowerCase())).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  const toggle = (value: string) => set({ [facet]: chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value] })
  return (
    <>
      <TextInput aria-label={t.facets.search(name)} placeholder={t.facets.search(name)} value={search} onChange={(event) => setSearch(event.target.value)} mb={6} />
      <ScrollArea.Autosize mah={300} type="auto">
        {found.slice(0, LISTED).map(([value, count]) => (
          <Checkbox
            key={value} className={css.choice} checked={chosen.includes(value)} onChange={() => toggle(value)}
            label={<span className="row"><span className="cut grow">{value === '' ? t.facets.nothing : value}</span><span className="quiet">{count}</span></span>}
          />
        ))}
        {found.length === 0 && <p className="quiet">{t.facets.none}</p>}
        {found.length > LISTED && <p className="quiet">{t.facets.more(found.length - LISTED)}</p>}
      </ScrollArea.Autosize>
    </>
  )
}

/** A word to filter by, which is on or off. */
export function Toggle({ isOn, toggle, children }: { isOn: boolean; toggle: () => void; children: ReactNode }) {
  return <button type="button" className={css.toggle} aria-pressed={isOn} onClick={toggle}>{children}</button>
}
