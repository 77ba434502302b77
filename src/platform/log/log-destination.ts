import fs from 'node:fs'

/** Most characters that wait for a slow reader, some 50,000 lines; later lines are dropped. */
const maximumWaiting = 8 * 1024 * 1024
/** Pause before a write to a full pipe is repeated. */
const retryMs = 50
/** How long the exit of the process waits for a slow reader. */
const exitWaitMs = 2_000

/**
 * Writes text to a file descriptor without blocking the event loop, in order. What still waits when the process exits is written
 * then. A write that fails (the terminal or the pipe was closed, the disk is full) loses its lines and nothing else: calls in flight
 * still finish. SonicBoom, pino's own destination, has no bound and repeats such a write for ever when the process exits.
 */
export function openLogDestination(descriptor: number): { write(text: string): void } {
  let waiting = ''
  let isWriting = false
  let isScheduled = false
  /** What a full pipe did not take, until the write is repeated. */
  let rejected: Buffer = Buffer.alloc(0)

  const writeNext = (bytes: Buffer) => {
    isWriting = true
    rejected = Buffer.alloc(0)
    fs.write(descriptor, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        rejected = bytes
        setTimeout(writeNext, retryMs, bytes)
        return
      }
      if (!error && written < bytes.length) return writeNext(bytes.subarray(written))
      isWriting = false
      flush()
    })
  }
  const flush = () => {
    if (isWriting || waiting === '') return
    const bytes = Buffer.from(waiting)
    waiting = ''
    writeNext(bytes)
  }
  process.on('exit', () => writeAtExit(descriptor, Buffer.concat([rejected, Buffer.from(waiting)])))

  return {
    write(text) {
      if (waiting.length + text.length > maximumWaiting) return
      waiting += text
      // Lines before an exit in the same turn are then all written at the exit, in order: a write that another thread has not begun by then
      // would come after them.
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        flush()
      })
    },
  }
}

/** Another thread finishes the write that is already under way. */
function writeAtExit(descriptor: number, text: Buffer): void {
  const deadline = performance.now() + exitWaitMs
  let rest = text
  while (rest.length > 0) {
    try {
      rest = rest.subarray(fs.writeSync(descriptor, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > deadline) return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs)
    }
  }
}
