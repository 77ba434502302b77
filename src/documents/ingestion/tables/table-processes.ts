import { type IsolatedChild, startIsolatedChild } from '../isolation/isolated-child.ts'
import type { FromTableProcess, ToTableProcess } from './table-protocol.ts'

/** Processes at once: each may take several hundred megabytes. */
export const maximumProcesses = 2

const program = new URL('table-process.ts', import.meta.url)

export type TableChild = IsolatedChild<ToTableProcess, FromTableProcess>

/** Whose tables a process has. It serves one Space, so that no fault of SQLite can show the rows of another one. */
interface ProcessScope {
  organisationId: string
  spaceId: string
}

export interface Slot extends ProcessScope {
  child: TableChild
  isBusy: boolean
  idleTimer?: NodeJS.Timeout | undefined
}

/** Processes that are started on demand, run one request at a time and end when they are idle. */
export function createTableProcesses(readableFolders: readonly string[], idleMs: number) {
  const slots = new Set<Slot>()
  const waiting: (() => void)[] = []

  function start({ organisationId, spaceId }: ProcessScope): Slot {
    const child: TableChild = startIsolatedChild({ file: program, readableFolders })
    const slot: Slot = { child, organisationId, spaceId, isBusy: true }
    slots.add(slot)
    void child.exited.then(() => {
      clearTimeout(slot.idleTimer)
      slots.delete(slot)
      waiting.shift()?.()
    })
    return slot
  }

  async function acquire(scope: ProcessScope, signal: AbortSignal): Promise<Slot> {
    const { organisationId, spaceId } = scope
    for (;;) {
      signal.throwIfAborted()
      const idle = [...slots].filter(({ isBusy }) => !isBusy)
      const own = idle.find((slot) => slot.spaceId === spaceId)
      if (own) {
        clearTimeout(own.idleTimer)
        own.isBusy = true
        return own
      }
      if (slots.size < maximumProcesses) return start(scope)
      // It leaves when it has ended, and that wakes the next request. The other organisations' tables stay loaded where possible.
      const replaced = idle.find((slot) => slot.organisationId === organisationId) ?? idle[0]
      if (replaced) end(replaced)
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
