/** What waits for a cause, to be folded: from the cause at the top to the applications that people see. */

import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'

import type { Chain } from '../../api/ours'
import { named } from '../../model/causes'
import { Kind } from '../../parts/Kind'
import { StateMarks } from '../../parts/Status'
import tree from '../../parts/tree.module.css'
import { t } from '../../texts'

export function ChainTree({ chain }: { chain: Chain }) {
  return <ul className={tree.tree} role="tree" aria-label={t.doctor.chain}><Branch chain={chain} level={1} /></ul>
}

function Branch({ chain, level }: { chain: Chain; level: number }) {
  const [isOpen, setOpen] = useState(level < 8)
  const waiting = chain.waiting ?? []
  const { sort, name, application } = named(chain.node)
  const words = <><span className="quiet">{t.sorts[sort] ?? sort}</span> {application ? <Link className="link" to={`/applications/${application.namespace}/${application.name}`}>{name}</Link> : <b>{name}</b>}</>
  return (
    <li role="treeitem" aria-level={level} {...(waiting.length > 0 && { 'aria-expanded': isOpen })}>
      <div className={tree.line}>
        {waiting.length > 0 ? (
          <button type="button" className={tree.fold} onClick={() => setOpen(!isOpen)} aria-label={isOpen ? t.common.fold : t.common.unfold}>{isOpen ? <IconChevronDown size={13} /> : <IconChevronRight size={13} />}</button>
        ) : <span className={tree.leaf} aria-hidden />}
        <Kind kind={application ? 'Application' : sort} />
        <span className={tree.text}>{words} {chain.more ? <span className="quiet">{t.doctor.more(chain.more)}</span> : null}</span>
        <StateMarks state={chain.state} />
      </div>
      {isOpen && waiting.length > 0 && <ul role="group" className={tree.below}>{waiting.map((next, index) => <Branch key={index} chain={next} level={level + 1} />)}</ul>}
    </li>
  )
}
