/** The head of a view: its name, what there is to do, and what is filtered. */

import type { ReactNode } from 'react'

import css from './toolbar.module.css'

export function Head({ title, count, children }: { title: ReactNode; count?: ReactNode; children?: ReactNode }) {
  return (
    <header className={css.head}>
      <h1>{title}</h1>
      {count !== undefined && <span className="quiet">{count}</span>}
      <div className="grow" />
      {children}
    </header>
  )
}

export function Section({ title, children, side }: { title: ReactNode; children: ReactNode; side?: ReactNode }) {
  return (
    <section className={css.section}>
      <div className={css.sectionHead}>
        <h2>{title}</h2>
        <div className="grow" />
        {side}
      </div>
      {children}
    </section>
  )
}

/** A list of names and values. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <dl className={css.facts}>
      {facts.filter(([, value]) => value !== undefined && value !== '' && value !== null).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
