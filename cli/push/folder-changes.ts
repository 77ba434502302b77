import { type FSWatcher, watch } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Time without a change after which a folder counts as written. */
const quietMs = 500
/** A change that was not reported, for example of a network share, is found after this time at the latest. */
const pollMs = 60_000

/** Watches a folder from now on. `next` resolves after the next change, when the folder is quiet again, or on abort. */
export function watchFolder(folder: string, signal: AbortSignal) {
  let changes = 0
  let seen = 0
  let notify = () => {}
  const watcher = startWatcher(folder, () => {
    changes++
    notify()
  })
  return {
    async next(): Promise<void> {
      if (changes === seen) {
        const changed = new Promise<void>((resolve) => (notify = resolve))
        await Promise.race([changed, quietly(pollMs, signal)])
      }
      do {
        seen = changes
        await quietly(quietMs, signal)
      } while (changes !== seen && !signal.aborted)
    },
    close: () => watcher?.close(),
  }
}

/** Undefined if the system cannot watch the folder, for example for lack of inotify watches: then only polling finds changes. */
function startWatcher(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { recursive: true, persistent: true }, onChange)
    watcher.on('error', onChange)
    return watcher
  } catch {
    return undefined
  }
}

/** A wait that an abort ends. */
async function quietly(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {})
}
