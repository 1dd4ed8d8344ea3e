/** What is shown of a list: found by words, and by what each has of a facet. All of it is kept in the address. */

export interface Sieve<T, F extends string> {
  facets: readonly F[]
  /** What one has of a facet. */
  values: (item: T, facet: F) => string[]
  /** What a search looks through. */
  text: (item: T) => string
}

export interface Filter<F extends string> {
  search: string
  chosen: Record<F, string[]>
}

export function readFilter<F extends string>(facets: readonly F[], words: URLSearchParams): Filter<F> {
  const chosen = Object.fromEntries(facets.map((facet) => [facet, words.getAll(facet)])) as Record<F, string[]>
  return { search: words.get('search') ?? '', chosen }
}

export function isEmpty<F extends string>(filter: Filter<F>): boolean {
  return filter.search === '' && Object.values<string[]>(filter.chosen).every((chosen) => chosen.length === 0)
}

/** What takes everything that is filtered by out of an address. */
export function cleared(facets: readonly string[]): Record<string, undefined> {
  return { search: undefined, ...Object.fromEntries(facets.map((facet) => [facet, undefined])) }
}

/** Words that are apart must all be found; each may be found anywhere. */
function isFound<T, F extends string>(sieve: Sieve<T, F>, item: T, search: string): boolean {
  if (search === '') return true
  const text = sieve.text(item).toLowerCase()
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function fits<T, F extends string>(sieve: Sieve<T, F>, item: T, filter: Filter<F>, facet: F): boolean {
  const wanted = filter.chosen[facet]
  return wanted.length === 0 || sieve.values(item, facet).some((value) => wanted.includes(value))
}

export function filtered<T, F extends string>(sieve: Sieve<T, F>, items: T[], filter: Filter<F>): T[] {
  return items.filter((item) => isFound(sieve, item, filter.search) && sieve.facets.every((facet) => fits(sieve, item, filter, facet)))
}

/** How many items each value of a facet would leave, the other facets being as they are. */
export function counts<T, F extends string>(sieve: Sieve<T, F>, items: T[], filter: Filter<F>, facet: F): Map<string, number> {
  const found = new Map<string, number>()
  const others = sieve.facets.filter((other) => other !== facet)
  for (const item of items) {
    if (!isFound(sieve, item, filter.search) || !others.every((other) => fits(sieve, item, filter, other))) continue
    for (const value of sieve.values(item, facet)) found.set(value, (found.get(value) ?? 0) + 1)
  }
  for (const value of filter.chosen[facet]) if (!found.has(value)) found.set(value, 0)
  return found
}
