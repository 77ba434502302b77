import { Worker } from 'node:worker_threads'
import type { FromSearchThread, MemoryCandidate, MemoryQuery, ToSearchThread } from './messages.ts'

/** The thread that holds and searches Spaces, as the main thread sees it. Messages take effect in the order of the calls. */
export type SearchThread = ReturnType<typeof startSearchThread>

export interface SearchThreadEvents {
  onSize(spaceId: string, bytes: number): void
  /** The Space in memory no longer matches the corpus. */
  onFailed(spaceId: string, reason: string): void
  /** The thread has ended, with everything in it. */
  onLost(reason: string): void
}

export function startSearchThread(events: SearchThreadEvents) {
  const worker = new Worker(new URL('./search-worker.ts', import.meta.url), { name: 'search', execArgv: [] })
  const waiting = new Map<number, { resolve(candidates: MemoryCandidate[]): void; reject(error: Error): void }>()
  let nextId = 0
  let isClosing = false
  let isOver = false
  worker.unref()
  worker.on('message', (message: FromSearchThread) => {
    if (message.type === 'size') return events.onSize(message.spaceId, message.bytes)
    if (message.type === 'failed' && message.id === null) return events.onFailed(message.spaceId, message.message)
    const waiter = waiting.get(message.id!)
    waiting.delete(message.id!)
    if (message.type === 'found') waiter?.resolve(message.candidates)
    else waiter?.reject(new Error(`the search in memory failed: ${message.message}`))
  })
  worker.on('error', (error) => end(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => end(`it ended with code ${code}`))

  function end(reason: string): void {
    if (isOver) return
    isOver = true
    for (const waiter of waiting.values()) waiter.reject(new Error(`the search thread was lost: ${reason}`))
    waiting.clear()
    if (!isClosing) events.onLost(reason)
  }

  return {
    post(message: Exclude<ToSearchThread, { type: 'search' }>): void {
      const transfer = message.type === 'add' ? Object.values(message.columns).map((column) => column.buffer) : []
      worker.postMessage(message, transfer as ArrayBuffer[])
    },
    async search(spaceId: string, query: MemoryQuery): Promise<MemoryCandidate[]> {
      if (isOver) throw new Error('the search thread was lost')
      const id = nextId++
      const answer = Promise.withResolvers<MemoryCandidate[]>()
      waiting.set(id, answer)
      // The thread keeps the process alive only while a search waits for it.
      worker.ref()
      try {
        worker.postMessage({ type: 'search', id, spaceId, query } satisfies ToSearchThread, [])
        return await answer.promise
      } finally {
        waiting.delete(id)
        if (waiting.size === 0) worker.unref()
      }
    },
    async close(): Promise<void> {
      isClosing = true
      await worker.terminate()
    },
  }
}
