/** How long ago something was; one clock for all, so that a page of times moves at once and not each by itself. */

import { createContext, useContext, useEffect, useState, type ReactNode } from 'react'

import { ago, fullTime } from '../model/time'

const Now = createContext(Date.now())

export function Clock({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  return <Now value={now}>{children}</Now>
}

export const useNow = () => useContext(Now)

export function Ago({ time }: { time: string | undefined }) {
  const now = useNow()
  if (!time) return null
  return <time dateTime={time} title={fullTime(time)}>{ago(time, now)}</time>
}
