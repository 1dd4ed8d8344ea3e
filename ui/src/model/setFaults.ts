/** Which place of an ApplicationSet a fault is about: a generator, one of its elements, or a field of the template. */

import { faultsIn, readPath, type Fault, type FieldPath } from './fields'

/** `spec.generators[0].git, element 3 (file a.yaml), spec.source.path line 2: …`, with what the server says before it. */
const PLACE = /(?:^|: )(spec(?:\.[A-Za-z]\w*|\[\d+\])+)(?:, element (\d+))?(?: \([^)]*\))?(?:, ((?:metadata|spec|template|templatePatch)[^\s,:]*))?(?: line (\d+))?: /

/** Sentences that name a field without its path. */
const SAID: [RegExp, FieldPath][] = [
  [/\bproject\b/i, ['spec', 'template', 'spec', 'project']],
  [/\bnamespace\b.*not permitted/i, ['metadata', 'namespace']],
  [/metadata\.name|existing ApplicationSet|already exists/i, ['metadata', 'name']],
]

/** What is wrong with the steps of a progressive sync. */
const STEP = /\bmaxUpdate of step (\d+)\b|\bstep (\d+) has the operator\b/

export function setFaultsIn(message: string): Fault[] {
  const [, most, operator] = STEP.exec(message) ?? []
  const step = most ?? operator
  if (step !== undefined) return [{ text: message, path: ['spec', 'strategy', 'rollingSync', 'steps', Number(step) - 1] }]
  const [, generator, element, field, line] = PLACE.exec(message) ?? []
  if (generator === undefined) return faultsIn(message, SAID)
  const path = readPath(generator)
  const inner = line === undefined ? {} : { line: Number(line) }
  if (field === undefined) return [{ text: message, path: [...path, ...(element === undefined ? [] : ['elements', Number(element)])] }]
  if (field.startsWith('template')) return [{ text: message, path: ['spec', field], ...inner }]
  // A generator may have a template of its own, which goes before that of the set.
  return [{ text: message, path: ['spec', 'template', ...readPath(field)], first: [...path, 'template', ...readPath(field)], ...inner }]
}
