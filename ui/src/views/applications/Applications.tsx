/** All applications: tiles, a table or a map; what is filtered is in the address. */

import { ActionIcon, Button, SegmentedControl, TextInput, Tooltip } from '@mantine/core'
import { IconLayoutGrid, IconList, IconPlus, IconRefresh, IconSearch, IconTableColumn } from '@tabler/icons-react'
import { lazy, Suspense, useDeferredValue, useMemo, useRef, useState } from 'react'

import { queries, useApplications, useDoctor } from '../../api/hooks'
import { rootsByApplication } from '../../model/causes'
import { keyOf } from '../../model/live'
import { counts, FACETS, filtered, readFilter, sorted, ORDERS, type Facet, type Order } from '../../model/filter'
import { ownerSet } from '../../model/owner'
import { cleared, isEmpty } from '../../model/sieve'
import { Facets } from '../../parts/Facets'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { Head } from '../../parts/Toolbar'
import { useKeys } from '../../parts/useKeys'
import { useWords } from '../../parts/useWords'
import { t } from '../../texts'
import css from './applications.module.css'
import { CauseStrip } from './CauseStrip'
import { HealthBar } from './HealthBar'
import { Tiles } from './Tiles'

const Table = lazy(async () => ({ default: (await import('./Table')).Table }))
const ManyBar = lazy(async () => ({ default: (await import('./ManyBar')).ManyBar }))
const NewApplication = lazy(async () => ({ default: (await import('../edit/NewApplication')).NewApplication }))
const AppMap = lazy(async () => ({ default: (await import('./AppMap')).AppMap }))

const VIEWS = [
  { value: 'tiles', icon: IconLayoutGrid },
  { value: 'table', icon: IconList },
  { value: 'map', icon: IconTableColumn },
] as const

/** Health and sync are words of their own. */
const SHOWN: Facet[] = ['project', 'cluster', 'namespace', 'label', 'set']

export function Applications() {
  const words = useWords()
  const { items, error, refetch } = useApplications()
  const searchBox = useRef<HTMLInputElement>(null)
  const filter = useMemo(() => readFilter(words.all), [words.all])
  const order = ORDERS.find((one): one is Order => one === words.get('sort')) ?? 'status'
  const isReversed = words.get('reverse') === 'true'
  const view = words.get('view') ?? 'tiles'
  const shown = useMemo(() => sorted(filtered(items ?? [], filter), order, isReversed), [items, filter, order, isReversed])
  const drawn = useDeferredValue(shown)
  const isAnyWrong = useMemo(() => (items ?? []).some((app) => app.status?.health?.status !== 'Healthy' || app.status?.sync?.status !== 'Synced'), [items])
  const doctor = useDoctor(isAnyWrong)
  const roots = useMemo(() => rootsByApplication(doctor.data), [doctor.data])
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const isNew = words.get('new') === 'true'
  useKeys({
    n: () => words.set({ new: 'true' }, true),
    '/': (event) => {
      event.preventDefault()
      searchBox.current?.focus()
    },
    Escape: () => searchBox.current?.blur(),
    v: () => words.set({ view: VIEWS[(VIEWS.findIndex((one) => one.value === view) + 1) % VIEWS.length]?.value }),
  })
  const clear = () => words.set(cleared(FACETS))
  const isAnyOfSet = useMemo(() => (items ?? []).some((app) => ownerSet(app)), [items])
  const facets = SHOWN.filter((facet) => facet !== 'set' || isAnyOfSet || filter.chosen.set.length > 0)
  return (
    <>
      <Head title={t.apps.title} count={items && t.apps.count(shown.length, items.length)}>
        <TextInput
          ref={searchBox} className={css.search} aria-label={t.apps.search} placeholder={t.apps.searchHint} leftSection={<IconSearch size={14} />} rightSection={<kbd>/</kbd>}
          value={filter.search} onChange={(event) => words.set({ search: event.target.value })}
        />
        <SegmentedControl
          aria-label={t.apps.view} value={view} onChange={(value) => words.set({ view: value === 'tiles' ? undefined : value })}
          data={VIEWS.map(({ value, icon: Shape }) => ({ value, label: <span className="row" title={t.apps.views[value]}><Shape size={15} aria-hidden /><span className={css.viewName}>{t.apps.views[value]}</span></span> }))}
        />
        <Button leftSection={<IconPlus size={14} />} onClick={() => words.set({ new: 'true' }, true)} className={css.new} aria-label={t.creating.open}><span className={css.newText}>{t.creating.open}</span></Button>
        <Tooltip label={t.apps.refresh}>
          <ActionIcon aria-label={t.apps.refresh} onClick={() => void queries.invalidateQueries()}><IconRefresh size={16} /></ActionIcon>
        </Tooltip>
      </Head>
      <div className={css.bar}>
        <HealthBar apps={items ?? []} filter={filter} set={words.set}>
          <Facets
            facets={facets.map((facet) => ({ facet, name: t.facets[facet], chosen: filter.chosen[facet], counts: () => counts(items ?? [], filter, facet), set: words.set }))}
            clear={isEmpty(filter) ? undefined : clear}
          />
        </HealthBar>
      </div>
      <CauseStrip report={doctor.data} isBusy={doctor.isFetching && !doctor.data} />
      {view === 'table' && chosen.size > 0 && (
        <Suspense fallback={null}><ManyBar chosen={shown.filter((app) => chosen.has(keyOf(app)))} clear={() => setChosen(new Set())} /></Suspense>
      )}
      {isNew && <Suspense fallback={null}><NewApplication close={() => words.set({ new: undefined })} /></Suspense>}
      {error && !items && <Trouble error={error} again={() => void refetch()} />}
      {!items && !error && <Loading />}
      {items && items.length === 0 && <Empty title={t.apps.none}>{t.apps.noneHint}</Empty>}
      {items && items.length > 0 && shown.length === 0 && <Empty title={t.apps.noMatch}><button type="button" className="link" onClick={clear}>{t.apps.clear}</button></Empty>}
      {drawn.length > 0 && (
        <Suspense fallback={<Loading />}>
          {view === 'table' ? <Table apps={drawn} order={order} isReversed={isReversed} set={words.set} roots={roots} chosen={chosen} choose={setChosen} /> : view === 'map' ? <AppMap apps={drawn} by={words.get('by') ?? 'project'} set={words.set} /> : <Tiles apps={drawn} roots={roots} />}
        </Suspense>
      )}
    </>
  )
}
