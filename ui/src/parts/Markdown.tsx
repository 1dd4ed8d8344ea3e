/** Explanations as elements of the page; nothing is ever taken for HTML. */

import { blocks, type Block, type Inline } from '../model/markdown'
import { Anchor } from './Anchor'
import css from './markdown.module.css'

export function Markdown({ text }: { text: string }) {
  return <div className={css.text}>{blocks(text).map((block, index) => <One key={index} block={block} />)}</div>
}

function One({ block }: { block: Block }) {
  switch (block.sort) {
    case 'heading':
      return block.level <= 2 ? <h2><Words parts={block.inline} /></h2> : <h3><Words parts={block.inline} /></h3>
    case 'paragraph':
      return <p><Words parts={block.inline} /></p>
    case 'code':
      return <pre tabIndex={0}>{block.text}</pre>
    case 'list': {
      const items = block.items.map((item, index) => <li key={index}><Words parts={item} /></li>)
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return (
        <table className="plain-table">
          <thead><tr>{block.head.map((cell, index) => <th key={index}><Words parts={cell} /></th>)}</tr></thead>
          <tbody>{block.rows.map((row, index) => <tr key={index}>{row.map((cell, at) => <td key={at}><Words parts={cell} /></td>)}</tr>)}</tbody>
        </table>
      )
  }
}

function Words({ parts }: { parts: Inline[] }) {
  return parts.map((part, index) => {
    switch (part.sort) {
      case 'code':
        return <code key={index}>{part.text}</code>
      case 'strong':
        return <strong key={index}>{part.text}</strong>
      case 'em':
        return <em key={index}>{part.text}</em>
      case 'link':
        return <Anchor key={index} url={part.url}>{part.text}</Anchor>
      case 'text':
        return <span key={index}>{part.text}</span>
    }
  })
}
