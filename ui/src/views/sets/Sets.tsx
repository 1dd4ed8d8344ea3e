/** All ApplicationSets: how they are, what they are made of, and how their applications are. What is filtered is in the address. */

import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core'
import { IconPlus, IconRefresh, IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useMemo, useRef } from 'react'

import { queries, useApplications } from '../../api/hooks'
import { useSets } from '../../api/setHooks'
import { bySet, SETS, SET_FACETS, SET_ORDERS, sortedSets, type SetFacet, type SetOrder } from '../../model/sets'
import { cleared, counts, filtered, isEmpty, readFilter } from '../../model/sieve'
import { HEALTH } from '../../model/status'
import { Facets, Toggle } from '../../parts/Facets'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { HealthMark } from '../../parts/Status'
import { Head } from '../../parts/Toolbar'
import { useKeys } from '../../parts/useKeys'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import { s } from '../../texts.sets'
import list from '../applications/applications.module.css'
import css from './sets.module.css'
import { SetTable } from './SetTable'

const SetEditor = lazy(async () => ({ default: (await import('./SetEditor')).SetEditor }))

const SHOWN = ['project', 'generator', 'namespace', 'label'] as const satisfies SetFacet[]

export function Sets() {
  const words = useWords()
  const query = useSets()
  const apps = useApplications()
  const searchBox = useRef<HTMLInputElement>(null)
  const sets = query.data
  const filter = useMemo(() => readFilter(SET_FACETS, words.all), [words.all])
  const order = SET_ORDERS.find((one): one is SetOrder => one === words.get('sort')) ?? 'status'
  const isReversed = words.get('reverse') === 'true'
  const own = useMemo(() => bySet(apps.items ?? []), [apps.items])
  const shown = useMemo(() => sortedSets(filtered(SETS, sets ?? [], filter), order, isReversed, own), [sets, filter, order, isReversed, own])
  const health = useMemo(() => counts(SETS, sets ?? [], filter, 'health'), [sets, filter])
  const toggle = (word: string) => words.set({ health: filter.chosen.health.includes(word) ? filter.chosen.health.filter((one) => one !== word) : [...filter.chosen.health, word] })
  const clear = () => words.set(cleared(SET_FACETS))
  useKeys({
    n: () => words.set({ new: 'true' }, true),
    '/': (event) => {
      event.preventDefault()
      searchBox.current?.focus()
    },
    Escape: () => searchBox.current?.blur(),
  })
  return (
    <>
      <Head title={s.title} count={sets && s.count(shown.length, sets.length)}>
        <TextInput
          ref={searchBox} className={`${list.search} ${css.search}`} aria-label={s.search} placeholder={s.searchHint} leftSection={<IconSearch size={14} />} rightSection={<kbd>/</kbd>}
          value={filter.search} onChange={(event) => words.set({ search: event.target.value })}
        />
        <Button leftSection={<IconPlus size={14} />} onClick={() => words.set({ new: 'true' }, true)} className={list.new} aria-label={s.new}><span className={list.newText}>{s.new}</span></Button>
        <Tooltip label={t.apps.refresh}>
          <ActionIcon aria-label={t.apps.refresh} onClick={() => void queries.invalidateQueries()}><IconRefresh size={16} /></ActionIcon>
        </Tooltip>
      </Head>
      {sets && sets.length > 0 && (
        <div className={css.bar}>
          <div className={css.words} role="group" aria-label={s.byStatus}>
            {HEALTH.filter((word) => health.get(word)).map((word) => (
              <Toggle key={word} isOn={filter.chosen.health.includes(word)} toggle={() => toggle(word)}><HealthMark status={word} size={14} /> <b>{health.get(word)}</b></Toggle>
            ))}
          </div>
          <div className="grow" />
          <Facets
            facets={SHOWN.map((facet) => ({ facet, name: s.facets[facet], chosen: filter.chosen[facet], counts: () => counts(SETS, sets, filter, facet), set: words.set }))}
            clear={isEmpty(filter) ? undefined : clear}
          />
        </div>
      )}
      {words.get('new') === 'true' && <Suspense fallback={null}><SetEditor close={() => words.set({ new: undefined })} /></Suspense>}
      {query.error && !sets && <Trouble error={query.error} again={() => void query.refetch()} />}
      {!sets && !query.error && <Loading />}
      {sets?.length === 0 && <Empty title={s.none}>{s.noneHint}</Empty>}
      {sets && sets.length > 0 && shown.length === 0 && <Empty title={s.noMatch}><button type="button" className="link" onClick={clear}>{t.apps.clear}</button></Empty>}
      {shown.length > 0 && <SetTable sets={shown} own={own} order={order} isReversed={isReversed} set={words.set} />}
    </>
  )
}
