/** What the application consists of, in one of four views. */

import { SegmentedControl, TextInput } from '@mantine/core'
import { IconBinaryTree2, IconList, IconNetwork, IconSearch, IconStack2 } from '@tabler/icons-react'
import { lazy, Suspense, useDeferredValue, useMemo, useRef } from 'react'

import type { Application, Tree } from '../../api/types'
import { every, isFine, type Plant } from '../../model/forest'
import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { useKeys } from '../../parts/useKeys'
import type { Words } from '../../parts/useWords'
import { t } from '../../texts'
import css from './application.module.css'
import { PodsView } from './PodsView'
import { ResourceList } from './ResourceList'

const ResourceGraph = lazy(async () => ({ default: (await import('./ResourceGraph')).ResourceGraph }))
const NetworkView = lazy(async () => ({ default: (await import('./NetworkView')).NetworkView }))

const VIEWS = [
  { value: 'tree', icon: IconBinaryTree2 },
  { value: 'list', icon: IconList },
  { value: 'pods', icon: IconStack2 },
  { value: 'network', icon: IconNetwork },
] as const

interface Props {
  app: Application
  tree: Tree | undefined
  roots: Plant[]
  error: Error | null
  words: Words
}

export interface ViewProps extends Props {
  /** What was searched for. */
  found: Set<string> | undefined
  open: (id: string) => void
}

export function Body(props: Props) {
  const { words, roots, tree, error } = props
  const view = VIEWS.find((one) => one.value === words.get('view'))?.value ?? 'tree'
  const searchBox = useRef<HTMLInputElement>(null)
  const search = words.get('find') ?? ''
  const wanted = useDeferredValue(search)
  const isOnlyBad = words.get('only') === 'bad'
  const found = useMemo(() => findings(roots, wanted, isOnlyBad), [roots, wanted, isOnlyBad])
  useKeys({
    '/': (event) => {
      event.preventDefault()
      searchBox.current?.focus()
    },
  })
  const open = (id: string) => words.set({ node: id, panel: undefined }, true)
  const count = useMemo(() => [...every(roots)].length, [roots])
  const shown: ViewProps = { ...props, found, open }
  return (
    <div className={css.content}>
      <div className={css.tools}>
        <SegmentedControl
          aria-label={t.app.view} value={view} onChange={(value) => words.set({ view: value === 'tree' ? undefined : value })}
          data={VIEWS.map(({ value, icon: Shape }) => ({ value, label: <span className="row"><Shape size={14} aria-hidden /><span className={css.viewName}>{t.app.views[value]}</span></span> }))}
        />
        <TextInput ref={searchBox} className={css.find} aria-label={t.app.find} placeholder={t.app.find} leftSection={<IconSearch size={13} />} value={search} onChange={(event) => words.set({ find: event.target.value })} />
        <button type="button" className={css.only} aria-pressed={isOnlyBad} onClick={() => words.set({ only: isOnlyBad ? undefined : 'bad' })}>{t.app.onlyBad}</button>
        {view === 'tree' && <button type="button" className={css.only} onClick={() => words.set({ open: words.get('open') === '*' ? undefined : '*', fold: undefined })}>{words.get('open') === '*' ? t.app.foldAll : t.app.openAll}</button>}
        <span className="quiet">{found ? t.app.found(found.size, count) : t.app.resources(count)}</span>
      </div>
      {error && !tree && <Trouble error={error} />}
      {!tree && !error && <Loading />}
      {tree && roots.length === 0 && <Empty title={t.app.nothing}>{t.app.nothingHint}</Empty>}
      {tree && roots.length > 0 && (
        <Suspense fallback={<Loading />}>
          {view === 'tree' && <ResourceGraph {...shown} />}
          {view === 'list' && <ResourceList {...shown} />}
          {view === 'pods' && <PodsView {...shown} />}
          {view === 'network' && <NetworkView {...shown} />}
        </Suspense>
      )}
    </div>
  )
}

function findings(roots: Plant[], search: string, isOnlyBad: boolean): Set<string> | undefined {
  if (search === '' && !isOnlyBad) return undefined
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== '')
  const found = new Set<string>()
  for (const plant of every(roots)) {
    const text = `${plant.id} ${plant.node.health?.status ?? ''} ${plant.status?.status ?? ''} ${(plant.node.images ?? []).join(' ')}`.toLowerCase()
    const isWanted = words.every((word) => text.includes(word))
    if (isWanted && (!isOnlyBad || !isFine(plant))) found.add(plant.id)
  }
  return found
}
