/** A list from the server, with what can be added above it, and what stands in its place while it loads, is empty or is refused. */

import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Children, cloneElement, isValidElement, type ReactElement, type ReactNode } from 'react'

import { Empty, Loading, Trouble } from '../../parts/Feedback'
import { t } from '../../texts'
import css from './settings.module.css'

interface Props<T> {
  query: UseQueryResult<T[]>
  none: string
  head: string[]
  row: (item: T) => ReactElement<{ children?: ReactNode }>
  /** What the button above the list says, and does. */
  add?: [string, () => void]
}

export function Listed<T>({ query, none, head, row, add }: Props<T>) {
  if (query.error) return <Trouble error={query.error} again={() => void query.refetch()} />
  if (!query.data) return <Loading />
  return (
    <>
      {add && <div className={css.above}><Button leftSection={<IconPlus size={14} />} onClick={add[1]}>{add[0]}</Button></div>}
      {query.data.length === 0 && <Empty title={none} />}
      {query.data.length > 0 && (
        <div className={`card ${css.list}`}>
          <table className="plain-table">
            <thead><tr>{head.map((name) => <th key={name}>{name === t.settings.actions ? <span className="hidden-text">{name}</span> : name}</th>)}</tr></thead>
            <tbody>{query.data.map((item) => labelled(row(item), head))}</tbody>
          </table>
        </div>
      )}
    </>
  )
}

/** Cells that know the name of their column: on a phone there is no head above them. */
function labelled(row: ReactElement<{ children?: ReactNode }>, head: string[]): ReactElement {
  const cells = Children.map(row.props.children, (cell, index) => (isValidElement<{ 'data-label'?: string | undefined }>(cell) ? cloneElement(cell, { 'data-label': head[index] }) : cell))
  return cloneElement(row, {}, cells)
}
