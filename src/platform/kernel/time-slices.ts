/** Longest time that document work blocks the event loop at once; requests wait for a few of these at most. */
const sliceMs = 8

/**
 * For loops whose steps are each short: `await slice()` before a step lets the event loop run when the last pause was `sliceMs`
 * ago, and costs nothing else otherwise.
 */
export function createTimeSlices(): () => Promise<void> | void {
  let startMs = performance.now()
  return () => {
    if (performance.now() - startMs < sliceMs) return
    return new Promise((resolve) => {
      setImmediate(() => {
        startMs = performance.now()
        resolve()
      })
    })
  }
}
