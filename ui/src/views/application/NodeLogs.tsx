/** The log of a pod, or of all pods of an object, which follows. Only the last lines are kept, so that a log that runs for days does not fill the tab. */

import { ActionIcon, Select, Switch, TextInput, Tooltip } from '@mantine/core'
import { IconDownload, IconTextWrap } from '@tabler/icons-react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'

import { logsStream, type AppKey } from '../../api/applications'
import { useResource } from '../../api/hooks'
import { follow, type StreamState } from '../../api/stream'
import type { LogEntry, TreeNode } from '../../api/types'
import { addLines, containersOf, isPod, plainText, savedLine } from '../../model/log'
import { parse } from '../../model/manifest'
import type { Words } from '../../parts/useWords'
import { t } from '../../texts'
import css from './logs.module.css'

export function NodeLogs({ appKey, node, words }: { appKey: AppKey; node: TreeNode; words: Words }) {
  const isMixed = !isPod(node)
  const containers = useContainers(appKey, node)
  const container = words.get('container') ?? containers[0] ?? ''
  const [isFollowing, setFollowing] = useState(true)
  const [isPrevious, setPrevious] = useState(false)
  const [isWrapped, setWrapped] = useState(true)
  const [search, setSearch] = useState('')
  const { lines, state } = useLog(appKey, node, container, isFollowing, isPrevious)
  const shown = useMemo(() => (search === '' ? lines : lines.filter((line) => (line.content ?? '').toLowerCase().includes(search.toLowerCase()))), [lines, search])
  const save = () => {
    const url = URL.createObjectURL(new Blob([lines.map((line) => savedLine(line, isMixed)).join('\n')], { type: 'text/plain' }))
    const link = Object.assign(document.createElement('a'), { href: url, download: `${node.name}.log` })
    link.click()
    setTimeout(() => URL.revokeObjectURL(url), 1000)
  }
  return (
    <div className={css.page}>
      <div className="row wrap">
        {containers.length > 0 && <Select aria-label={t.logs.container} data={containers} value={container} onChange={(value) => words.set({ container: value ?? undefined })} allowDeselect={false} w={150} />}
        <TextInput aria-label={t.logs.filter} placeholder={t.logs.filter} value={search} onChange={(event) => setSearch(event.target.value)} style={{ flex: 1, minWidth: 100 }} />
        <Switch label={t.logs.follow} checked={isFollowing} onChange={(event) => setFollowing(event.currentTarget.checked)} />
        <Switch label={t.logs.previous} checked={isPrevious} onChange={(event) => setPrevious(event.currentTarget.checked)} />
        <Tooltip label={t.logs.wrap}><ActionIcon aria-label={t.logs.wrap} aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}><IconTextWrap size={15} /></ActionIcon></Tooltip>
        <Tooltip label={t.logs.save}><ActionIcon aria-label={t.logs.save} onClick={save}><IconDownload size={15} /></ActionIcon></Tooltip>
      </div>
      <LogLines none={state === 'opening' ? '' : t.logs.none} lines={shown} isMixed={isMixed} isFollowing={isFollowing} isWrapped={isWrapped} />
      <div className="quiet" role="status">{t.logs.state(lines.length, t.logs.states[state])}</div>
    </div>
  )
}

function useContainers(appKey: AppKey, node: TreeNode): string[] {
  const object = useResource(appKey, node, undefined, true)
  return useMemo(() => containersOf(parse(object.data)), [object.data])
}

function useLog(appKey: AppKey, node: TreeNode, container: string, isFollowing: boolean, isPrevious: boolean) {
  const [lines, setLines] = useState<LogEntry[]>([])
  const [state, setState] = useState<StreamState>('opening')
  useEffect(() => {
    setLines([])
    if (container === '') return undefined
    let waiting: LogEntry[] = []
    const timer = setInterval(() => {
      if (waiting.length === 0) return
      const more = waiting
      waiting = []
      setLines((kept) => addLines(kept, more, !isPod(node)))
    }, 150)
    const path = logsStream(appKey, node, container, { follow: isFollowing, tailLines: 1000, previous: isPrevious })
    // What is there stays until the first line of the next attempt: a log that has ended must not blink.
    let isStale = false
    const again = () => (isStale = true)
    const message = (entry: LogEntry) => {
      if (entry.last) return
      if (isStale) {
        isStale = false
        waiting = []
        setLines([])
      }
      waiting.push(entry)
    }
    const stop = follow<LogEntry>(path, { message, state: setState, again, ends: !isFollowing || isPrevious })
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [appKey, node.group, node.kind, node.namespace, node.name, container, isFollowing, isPrevious])
  return { lines, state }
}

function LogLines({ lines, none, isMixed, isFollowing, isWrapped }: { lines: LogEntry[]; none: string; isMixed: boolean; isFollowing: boolean; isWrapped: boolean }) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const rows = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: () => 18, overscan: 30 })
  useEffect(() => {
    if (isFollowing && isAtEnd.current && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: 'end' })
  }, [lines, isFollowing, rows])
  const scrolled = () => {
    const at = box.current
    if (at) isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < 40
  }
  return (
    <div ref={box} className={css.log} onScroll={scrolled} tabIndex={0} role="log" aria-label={t.node.tabs.logs} data-wrap={isWrapped || undefined}>
      {lines.length === 0 && <p className={`quiet ${css.none}`}>{none}</p>}
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index]
          return (
            <div key={row.key} ref={rows.measureElement} data-index={row.index} className={css.line} style={{ transform: `translateY(${row.start}px)` }}>
              <span className={css.time}>{(line?.timeStamp ?? line?.timeStampStr ?? '').slice(11, 19)}</span>
              {isMixed && <span className={css.pod} title={line?.podName}>{line?.podName}</span>}
              <span className={css.text}>{plainText(line?.content ?? '')}</span>
            </div>
          )
        })}
      </div>
    </div>
  )
}
