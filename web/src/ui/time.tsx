import { useSyncExternalStore } from 'react'
import { useFormat } from '../i18n/use-format.ts'
import { Hint } from './hint.tsx'

/** All times of a page move on together, so they never disagree. */
const tickMs = 10_000
/** A moment this far in the future is now: the clocks of server and browser differ. */
const clockDifferenceMs = 60_000

let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, tickMs)
  // The first time of a page counts from now, not from the last page that had one.
  if (listeners.size === 1) queueMicrotask(tick)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** A moment relative to now, with the exact time in a tooltip. */
export function Time({ value }: { value: string | number }) {
  const format = useFormat()
  const current = useSyncExternalStore(subscribe, () => now)
  const at = new Date(value).getTime()
  const isNew = at > current && at - current < clockDifferenceMs
  return (
    <Hint label={() => format.dateTime(value)}>
      <time dateTime={new Date(value).toISOString()}>{format.relative(value, isNew ? at : current)}</time>
    </Hint>
  )
}
