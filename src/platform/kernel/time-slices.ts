import { nextLoopTurn } from './loop-turns.ts'
import { currentOrganisation } from './organisation-context.ts'

/** Longest time that work of documents and chats blocks the event loop at once. A call waits for about ten of them. */
const sliceMs = 2

/**
 * For loops whose steps are each short: `await slice()` before a step waits for a turn of the organisation when the last pause was `sliceMs` ago, and
 * costs nothing else otherwise. So the work of many documents or chats of one organisation takes no more of the event loop than that of one.
 */
export function createTimeSlices(): () => Promise<void> | void {
  let startMs = performance.now()
  return () => {
    if (performance.now() - startMs < sliceMs) return
    return nextLoopTurn(currentOrganisation()).then(() => {
      startMs = performance.now()
    })
  }
}
