/** What a set is made of: its generators in words, and all of it as YAML. */

import type { ApplicationSet } from '../../api/types'
import { generatorWords, type GeneratorWords } from '../../model/generators'
import { setManifestOf } from '../../model/setDraft'
import { toYaml } from '../../model/yaml'
import { Section } from '../../parts/Toolbar'
import { s } from '../../texts.sets'
import css from './set.module.css'

export function SetSpec({ set }: { set: ApplicationSet }) {
  const generators = (set.spec.generators ?? []).map(generatorWords)
  return (
    <div className={css.spec}>
      <Section title={s.spec.generators} side={<span className="quiet">{set.spec.goTemplate ? s.spec.goTemplate : s.spec.fastTemplate}</span>}>
        {generators.length === 0 ? <p className="quiet">{s.spec.noGenerators}</p> : <Generators generators={generators} />}
      </Section>
      <Section title={s.spec.all}><pre className={css.yaml} tabIndex={0} role="region" aria-label={s.spec.all}>{toYaml(setManifestOf(set))}</pre></Section>
    </div>
  )
}

function Generators({ generators }: { generators: GeneratorWords[] }) {
  return (
    <ul className={css.generators}>
      {generators.map((one, index) => (
        <li key={index}>
          <span className="pill tone-accent">{one.sort}</span> <span className={css.about}>{one.about}</span> {one.hasTemplate && <span className="quiet">{s.spec.ownTemplate}</span>}
          {one.inner.length > 0 && <Generators generators={one.inner} />}
        </li>
      ))}
    </ul>
  )
}
