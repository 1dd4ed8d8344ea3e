/** A generator in a few words: what sort it is, and where it gets its parameters from. */

import { nested } from './sets'
import { repositoryName } from './source'

type Json = Record<string, unknown>

export interface GeneratorWords {
  sort: string
  /** What it asks, such as a repository and its folders. */
  about: string
  /** Those that it is put together from. */
  inner: GeneratorWords[]
  /** Whether it has a template of its own. */
  hasTemplate: boolean
}

const map = (value: unknown): Json => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const paths = (value: unknown): string => list(value).map((one) => `${map(one).exclude === true ? '!' : ''}${text(map(one).path)}`).join(' ')

/** `env in (a, b)`, `env=a`, as kubectl writes selectors. */
export function selectorWords(selector: unknown): string {
  const { matchLabels, matchExpressions } = map(selector)
  const labels = Object.entries(map(matchLabels)).map(([key, value]) => `${key}=${text(value)}`)
  const expressions = list(matchExpressions).map((one) => expressionWords(map(one)))
  return [...labels, ...expressions].join(', ')
}

export function expressionWords({ key, operator, values }: { key?: unknown; operator?: unknown; values?: unknown }): string {
  const all = list(values).map(String)
  if (operator === 'In' || operator === 'NotIn') return `${text(key)} ${operator === 'In' ? 'in' : 'not in'} (${all.join(', ')})`
  if (operator === 'Exists') return text(key)
  if (operator === 'DoesNotExist') return `!${text(key)}`
  return `${text(key)} ${text(operator)} ${all.join(', ')}`.trim()
}

/** Hosts name their owner in half a dozen ways. */
function hostWords(generator: Json): string {
  const [host, of] = Object.entries(generator).find(([, inner]) => HOSTED.some((field) => field in map(inner))) ?? ['', {}]
  return [host, HOSTED.map((field) => text(map(of)[field])).filter((word) => word !== '').join('/')].filter((word) => word !== '').join(' ')
}

const HOSTED = ['organization', 'group', 'owner', 'project', 'teamProject', 'repo', 'region']

const ABOUT: Record<string, (generator: Json) => string> = {
  list: (one) => (text(one.elementsYaml) === '' ? `× ${list(one.elements).length}` : text(one.elementsYaml).trim()),
  clusters: (one) => selectorWords(one.selector),
  git: (one) => [repositoryName(text(one.repoURL)), text(one.revision), paths(one.directories), paths(one.files)].filter((word) => word !== '').join(' · '),
  scmProvider: hostWords,
  pullRequest: hostWords,
  clusterDecisionResource: (one) => [text(one.configMapRef), text(one.name), selectorWords(one.labelSelector)].filter((word) => word !== '').join(' · '),
  plugin: (one) => text(map(one.configMapRef).name),
  merge: (one) => list(one.mergeKeys).map(String).join(', '),
}

export function generatorWords(generator: Json): GeneratorWords {
  const [sort = '', inner] = Object.entries(generator).find(([name]) => name !== 'selector') ?? []
  const own = map(inner)
  const selector = selectorWords(generator.selector)
  const about = [ABOUT[sort]?.(own) ?? '', selector].filter((word) => word !== '').join(' · ')
  return { sort, about, inner: nested(inner).map(generatorWords), hasTemplate: Object.keys(map(own.template)).length > 0 }
}
