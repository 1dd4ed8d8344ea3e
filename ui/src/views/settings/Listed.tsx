/** A list from the server, with what stands in its place while it loads, is empty or is refused. */

import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { Empty, Loading, Trouble } from '../../parts/Feedback'
import css from './settings.module.css'

interface Props<T> {
  query: UseQueryResult<T[]>
  none: string
  head: string[]
  row: (item: T) => ReactNode
}

export function Listed<T>({ query, none, head, row }: Props<T>) {
  if (query.error) return <Trouble error={query.error} again={() => void query.refetch()} />
  if (!query.data) return <Loading />
  if (query.data.length === 0) return <Empty title={none} />
  return (
    <div className={`card ${css.list}`}>
      <table className="plain-table">
        <thead><tr>{head.map((name) => <th key={name}>{name}</th>)}</tr></thead>
        <tbody>{query.data.map(row)}</tbody>
      </table>
    </div>
  )
}
