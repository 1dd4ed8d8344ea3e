/** What to filter by: one small list for each facet, with how many applications each choice would leave. */

import { Checkbox, Popover, ScrollArea, TextInput } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useState } from 'react'

import type { Application } from '../../api/types'
import { counts, type Facet, type Filter } from '../../model/filter'
import { t } from '../../texts'
import css from './applications.module.css'

interface Props {
  apps: Application[]
  filter: Filter
  set: (change: Record<string, string[] | undefined>) => void
}

const SHOWN: Facet[] = ['project', 'cluster', 'namespace', 'label']
/** More choices than this are found by typing. */
const LISTED = 200

export function Facets({ apps, filter, set }: Props) {
  return SHOWN.map((facet) => <OneFacet key={facet} facet={facet} apps={apps} filter={filter} set={set} />)
}

function OneFacet({ facet, apps, filter, set }: Props & { facet: Facet }) {
  const [isOpen, setOpen] = useState(false)
  const chosen = filter.chosen[facet]
  const text = chosen.length === 0 ? t.facets[facet] : chosen.length === 1 ? `${t.facets[facet]}: ${chosen[0]}` : `${t.facets[facet]}: ${chosen.length}`
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={280} shadow="md" trapFocus>
      <Popover.Target>
        <button type="button" className={css.facet} data-on={chosen.length > 0 || undefined} onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
          <span className="cut">{text}</span> <IconChevronDown size={12} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={8}>{isOpen && <Choices facet={facet} apps={apps} filter={filter} set={set} />}</Popover.Dropdown>
    </Popover>
  )
}

function Choices({ facet, apps, filter, set }: Props & { facet: Facet }) {
  const [search, setSearch] = useState('')
  const chosen = filter.chosen[facet]
  const found = [...counts(apps, filter, facet)].filter(([value]) => value.toLowerCase().includes(search.toLowerCase())).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  const toggle = (value: string) => set({ [facet]: chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value] })
  return (
    <>
      <TextInput aria-label={t.facets.search(t.facets[facet])} placeholder={t.facets.search(t.facets[facet])} value={search} onChange={(event) => setSearch(event.target.value)} mb={6} />
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
