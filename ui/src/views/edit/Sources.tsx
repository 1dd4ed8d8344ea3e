/** All sources of an application, to write: their state is one list, of which each form changes one. */

import { useState } from 'react'

import type { Source } from '../../api/types'
import type { Tool } from '../../model/draft'
import type { Fault } from '../../model/fields'
import { Section } from '../../parts/Toolbar'
import { t } from '../../texts'
import { SourceForm } from './SourceForm'

interface Props {
  sources: Source[]
  set: (sources: Source[]) => void
  isMany: boolean
  faults: Fault[]
  found?: string | undefined
}

export function Sources({ sources, set, isMany, faults, found }: Props) {
  const [tools, setTools] = useState<Record<number, Tool>>({})
  return sources.map((source, index) => (
    <Section key={index} title={sources.length > 1 ? t.parameters.sourceOf(index + 1, sources.length) : t.parameters.source}>
      <SourceForm
        source={source} set={(changed) => set(sources.map((old, at) => (at === index ? changed : old)))} at={isMany ? `spec.sources[${index}]` : 'spec.source'} faults={faults}
        found={sources.length > 1 ? undefined : found} tool={tools[index]} setTool={(tool) => setTools({ ...tools, [index]: tool })}
      />
    </Section>
  ))
}
