/** Which field a refusal of the server is about, so that it can be said beside that field. */

export type FieldPath = (string | number)[]

export interface Fault {
  text: string
  /** None where the words name no field. */
  path?: FieldPath
  /** A place to look at before that one, if there is such a field. */
  first?: FieldPath
  /** The line within the text of the field, counted from 1. */
  line?: number
}

/** `spec.source.path`, `spec.sources[0].chart`. */
const DOTTED = /\b(?:metadata|spec)(?:\.[A-Za-z][\w-]*|\[\d+\])+/
/** `spec: source: helm: parameters: expected a sequence`: the way to a value that cannot be read. */
const READ = /\b((?:metadata|spec)(?:: (?:[A-Za-z][\w-]*|\[\d+\]))+): /

/** Sentences that name a field without its path. */
const SAID: [RegExp, FieldPath][] = [
  [/\bproject\b.*(?:not exist|not found|not permitted|is not allowed)/i, ['spec', 'project']],
  [/\bnamespace\b.*not permitted|missing namespace/i, ['spec', 'destination', 'namespace']],
  [/destination|cluster .*not found/i, ['spec', 'destination']],
  [/already exists|existing application|existing project|name is too long/i, ['metadata', 'name']],
  [/app path|no path\b|path .*not exist/i, ['spec', 'source', 'path']],
  [/\brevision\b|unable to resolve/i, ['spec', 'source', 'targetRevision']],
  [/\brepositor(?:y|ies)\b|repo\b/i, ['spec', 'source', 'repoURL']],
  [/policy rule|policies|\brole\b/i, ['spec', 'roles']],
  [/sync ?window|schedule|duration/i, ['spec', 'syncWindows']],
]

export function readPath(text: string): FieldPath {
  return [...text.matchAll(/\[(\d+)\]|[A-Za-z][\w-]*/g)].map((part) => (part[1] === undefined ? part[0] : Number(part[1])))
}

function pathIn(text: string, said: [RegExp, FieldPath][]): FieldPath | undefined {
  const dotted = DOTTED.exec(text)?.[0]
  if (dotted) return readPath(dotted)
  const read = READ.exec(text)?.[1]
  if (read) return readPath(read.replace(/: /g, '.'))
  return said.find(([words]) => words.test(text))?.[1]
}

/** A refusal as one or more faults: the server tells all that it finds in one message, with semicolons between. */
export function faultsIn(message: string, said = SAID): Fault[] {
  return message.split(/;\s+/).filter((part) => part.trim() !== '').map((text) => {
    const path = pathIn(text, said)
    return path ? { text, path } : { text }
  })
}

/** What is wrong with one field: faults that name it or something in it. */
export function faultOf(faults: Fault[], path: string): string | undefined {
  const wanted = readPath(path)
  const about = faults.filter((fault) => fault.path && fault.path.length >= wanted.length && wanted.every((key, index) => fault.path?.[index] === key))
  return about.length === 0 ? undefined : about.map((fault) => fault.text).join('; ')
}
