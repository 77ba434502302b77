import { type IsolatedChild, startIsolatedChild } from '../isolation/isolated-child.ts'
import type { FromTableProcess, ToTableProcess } from './table-protocol.ts'

/** Processes at once: each may take several hundred megabytes. */
const maximumProcesses = 2

const program = new URL('table-process.ts', import.meta.url)

export type TableChild = IsolatedChild<ToTableProcess, FromTableProcess>

export interface Slot {
  child: TableChild
  /** A process serves one Space, so that no fault of SQLite can show the rows of another one. */
  spaceId: string
  isBusy: boolean
  idleTimer?: NodeJS.Timeout | undefined
}

/** Processes that are started on demand, run one request at a time and end when they are idle. */
export function createTableProcesses(readableFolders: readonly string[], idleMs: number) {
  const slots = new Set<Slot>()
  const waiting: (() => void)[] = []

  function start(spaceId: string): Slot {
    const child: TableChild = startIsolatedChild({ file: program, readableFolders })
    const slot: Slot = { child, spaceId, isBusy: true }
    slots.add(slot)
    void child.exited.then(() => {
      clearTimeout(slot.idleTimer)
      slots.delete(slot)
      waiting.shift()?.()
    })
    return slot
  }

  async function acquire(spaceId: string, signal: AbortSignal): Promise<Slot> {
    for (;;) {
      signal.throwIfAborted()
      const idle = [...slots].filter(({ isBusy }) => !isBusy)
      const own = idle.find((slot) => slot.spaceId === spaceId)
      if (own) {
        clearTimeout(own.idleTimer)
        own.isBusy = true
        return own
      }
      if (slots.size < maximumProcesses) return start(spaceId)
      // It leaves when it has ended, and that wakes the next request.
      if (idle[0]) end(idle[0])
      await nextTurn(waiting, signal)
    }
  }

  /** No request takes a process that is about to end. */
  function end(slot: Slot) {
    slot.isBusy = true
    slot.child.kill()
  }

  function release(slot: Slot) {
    slot.isBusy = false
    slot.child.setBusy(false)
    slot.idleTimer = setTimeout(() => end(slot), idleMs).unref()
    waiting.shift()?.()
  }

  return {
    acquire,
    release,
    end,
    processIds: () => [...slots].flatMap(({ child }) => child.pid ?? []),
    async close() {
      const exits = [...slots].map(({ child }) => child.exited)
      for (const { child } of slots) {
        child.setBusy(true)
        child.kill()
      }
      await Promise.all(exits)
    },
  }
}

/** Resolves when a process may have become free. */
function nextTurn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      const at = waiting.indexOf(wake)
      if (at !== -1) waiting.splice(at, 1)
      reject(signal.reason as Error)
    }
    const wake = () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    waiting.push(wake)
  })
}
