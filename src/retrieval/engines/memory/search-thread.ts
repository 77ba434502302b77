import { Worker } from 'node:worker_threads'
import { raceSignal } from '../../../kernel/index.ts'
import type { FromResident, ResidentCandidate, ResidentQuery, ToResident } from './messages.ts'

/** The thread that holds the resident index, as the main thread sees it. Messages take effect in the order of the calls. */
export interface ResidentThread {
  tell(message: Exclude<ToResident, { type: 'search' }>): void
  search(spaceId: string, query: ResidentQuery, signal: AbortSignal): Promise<ResidentCandidate[]>
  close(): Promise<void>
}

export interface ResidentThreadEvents {
  onSize(spaceId: string, bytes: number): void
  /** The Space's memory cannot be trusted any more. */
  onFailed(spaceId: string, reason: string): void
  /** The thread has ended, with everything in it. */
  onLost(reason: string): void
}

export function startResidentThread(events: ResidentThreadEvents): ResidentThread {
  const worker = new Worker(new URL('./search-worker.ts', import.meta.url), { name: 'search', execArgv: [] })
  const waiting = new Map<number, { resolve(candidates: ResidentCandidate[]): void; reject(error: Error): void }>()
  let nextId = 0
  let closing = false
  worker.unref()
  worker.on('message', (message: FromResident) => {
    if (message.type === 'size') return events.onSize(message.spaceId, message.bytes)
    if (message.type === 'failed' && message.id === null) return events.onFailed(message.spaceId, message.message)
    const waiter = waiting.get(message.id!)
    waiting.delete(message.id!)
    if (message.type === 'found') waiter?.resolve(message.candidates)
    else waiter?.reject(new Error(`the search in memory failed: ${message.message}`))
  })
  worker.on('error', (error) => end(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => end(`it ended with code ${code}`))

  let isOver = false
  function end(reason: string): void {
    if (isOver) return
    isOver = true
    for (const waiter of waiting.values()) waiter.reject(new Error(`the search thread was lost: ${reason}`))
    waiting.clear()
    if (!closing) events.onLost(reason)
  }

  return {
    tell(message) {
      const transfer = message.type === 'add' ? Object.values(message.rows).map((column) => column.buffer) : []
      worker.postMessage(message, transfer as ArrayBuffer[])
    },
    async search(spaceId, query, signal) {
      if (isOver) throw new Error('the search thread was lost')
      const id = nextId++
      const answer = Promise.withResolvers<ResidentCandidate[]>()
      waiting.set(id, answer)
      // Keeps the process alive while somebody waits, and only then.
      worker.ref()
      try {
        worker.postMessage({ type: 'search', id, spaceId, query } satisfies ToResident, [])
        return await raceSignal(answer.promise, signal)
      } finally {
        waiting.delete(id)
        if (waiting.size === 0) worker.unref()
      }
    },
    async close() {
      closing = true
      await worker.terminate()
    },
  }
}
