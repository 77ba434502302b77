import { Worker } from 'node:worker_threads'
import { createFairTurns, type Log, raceSignal } from '../../../../platform/kernel/index.ts'
import type { EmbeddingVersion } from '../../corpus/embedding-versions.store.ts'
import { type SpaceScope, tooManySearches } from '../../engine.ts'
import type { Language } from '../../../../platform/language/index.ts'
import type { DocumentState, FromSearchThread, MemoryCandidate, MemoryQuery, ToSearchThread } from './messages.ts'
import type { LoadedPage } from './space-rows.store.ts'

/**
 * Searches in the thread: one runs, and the next one is there when it ends. Two of one organisation, so that the first one of another waits
 * for two at most.
 */
const searchesInThread = 3
/** Searches that wait for the thread. One organisation alone may have half of them: a second at 100,000 chunks, 2 ms each. */
const maximumWaiting = 1_000

/** A Space in memory, as the main thread keeps it; its terms and vectors are in the search thread. */
export interface CachedSpace extends SpaceScope {
  /** False while it is being loaded. */
  isComplete: boolean
  /** The run of each document whose chunks were sent to the thread. */
  runs: Map<string, string>
  /** The run of each document that was reported as published. A read that began before does not have it. */
  published: Map<string, string>
  /** Live ones, the active one first. */
  versions: readonly EmbeddingVersion[]
  /** Its vectors are in memory. */
  active: EmbeddingVersion
  languages: Set<Language>
  hasFormerTerms: boolean
  /** Estimated until the thread has reported it. */
  bytes: number
}

/** The Spaces in memory: evicts the least recently used ones of the organisation that has most, and owns the search thread. */
export class SpaceCache {
  readonly #maximumBytes: number
  readonly #log: Log
  /** Least recently used first. */
  readonly #spaces = new Map<string, CachedSpace>()
  /** Spaces above the limit that were logged. */
  readonly #oversized = new Set<string>()
  readonly #turns = createFairTurns({ places: searchesInThread, maximumWaiting, tooMany: tooManySearches })
  #thread: SearchThread | undefined

  constructor({ maximumBytes, log }: { maximumBytes: number; log: Log }) {
    this.#maximumBytes = maximumBytes
    this.#log = log
  }

  get(spaceId: string): CachedSpace | undefined {
    return this.#spaces.get(spaceId)
  }

  /** The Space if all of it is in memory; marks it as most recently used. */
  use({ organisationId, spaceId }: SpaceScope): CachedSpace | null {
    const space = this.#spaces.get(spaceId)
    if (!space?.isComplete || space.organisationId !== organisationId) return null
    this.#spaces.delete(spaceId)
    this.#spaces.set(spaceId, space)
    return space
  }

  /** False once the Space was evicted, also when it was loaded again. */
  isCurrent(space: CachedSpace): boolean {
    return this.#spaces.get(space.spaceId) === space
  }

  /**
   * Adds an empty Space of about so many bytes, to which chunks can be added at once. Null: it is there already, or it does not
   * fit. Without `mayEvict` it fits only next to all others.
   */
  open(scope: SpaceScope, bytes: number, versions: readonly EmbeddingVersion[], mayEvict: boolean): CachedSpace | null {
    const { organisationId, spaceId } = scope
    const active = versions.find(({ state }) => state === 'active')
    if (!active || this.#spaces.has(spaceId) || !this.#mayHold(spaceId, bytes)) return null
    if (mayEvict) this.#evictUntilFits(bytes, organisationId)
    else if (!this.#fits(bytes)) return null
    const space: CachedSpace = {
      organisationId,
      spaceId,
      isComplete: false,
      runs: new Map(),
      published: new Map(),
      versions,
      active,
      languages: new Set(),
      hasFormerTerms: false,
      bytes,
    }
    this.#spaces.set(spaceId, space)
    this.#oversized.delete(spaceId)
    this.#currentThread().post({ type: 'open', spaceId, dimensions: active.dimensions })
    return space
  }

  add(space: CachedSpace, { run, columns }: LoadedPage): void {
    space.runs.set(run.documentId, run.runId)
    this.#thread?.post({ type: 'add', spaceId: space.spaceId, run, columns })
  }

  update(space: CachedSpace, documents: DocumentState[]): void {
    for (const { documentId, runId } of documents) {
      if (runId !== null) continue
      space.runs.delete(documentId)
      space.published.delete(documentId)
    }
    this.#thread?.post({ type: 'update', spaceId: space.spaceId, documents })
  }

  complete(space: CachedSpace): void {
    this.#thread?.post({ type: 'complete', spaceId: space.spaceId })
    space.isComplete = true
  }

  evict(spaceId: string): void {
    if (this.#spaces.delete(spaceId)) this.#thread?.post({ type: 'close', spaceId })
  }

  clear(): void {
    for (const spaceId of this.#spaces.keys()) this.evict(spaceId)
  }

  /**
   * Searches in the turn of the Space's organisation. Null: the Space was evicted. Throws `overloaded` where too many searches of the
   * organisation wait.
   */
  search(space: CachedSpace, query: MemoryQuery, signal: AbortSignal): Promise<MemoryCandidate[] | null> {
    // A search that has begun keeps its place until its end, also where its client has left.
    const found = this.#turns.run(space.organisationId, signal, async () =>
      this.isCurrent(space) ? this.#currentThread().search(space.spaceId, query) : null,
    )
    return raceSignal(found, signal)
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  /** Whether a Space of this size may be in memory at all; logs once per Space that it may not. */
  #mayHold(spaceId: string, bytes: number): boolean {
    if (bytes <= this.#maximumBytes) return true
    if (this.#oversized.has(spaceId)) return false
    this.#oversized.add(spaceId)
    const [needed, limit] = [toMegabytes(bytes), toMegabytes(this.#maximumBytes)]
    this.#log.warn(
      { spaceId },
      `Space ${spaceId} needs ${needed} MB, above the limit of ${limit} MB (search.memoryMegabytes): searched by exact scan`,
    )
    return false
  }

  /** Whether so many bytes fit next to all Spaces. */
  #fits(bytes: number): boolean {
    return [...this.#spaces.values()].reduce((sum, space) => sum + space.bytes, bytes) <= this.#maximumBytes
  }

  /** Evicts Spaces until `bytes` more of an organisation fit. */
  #evictUntilFits(bytes: number, organisationId: string): void {
    while (!this.#fits(bytes)) {
      const space = this.#nextToEvict(bytes, organisationId)
      if (!space) return
      this.evict(space.spaceId)
    }
  }

  /** The least recently used Space of the organisation that has most, so that the many Spaces of one do not evict those of the others. */
  #nextToEvict(bytes: number, organisationId: string): CachedSpace | undefined {
    const used = new Map([[organisationId, bytes]])
    for (const space of this.#spaces.values()) {
      used.set(space.organisationId, (used.get(space.organisationId) ?? 0) + space.bytes)
    }
    let next: CachedSpace | undefined
    for (const space of this.#spaces.values()) {
      if (!next || used.get(space.organisationId)! > used.get(next.organisationId)!) next = space
    }
    return next
  }

  #currentThread(): SearchThread {
    return (this.#thread ??= startSearchThread({
      onSize: (spaceId, bytes) => {
        const space = this.#spaces.get(spaceId)
        if (!space) return
        space.bytes = bytes
        if (!this.#mayHold(spaceId, bytes)) this.evict(spaceId)
        // The report may come late: then another Space was used since, and this one goes.
        this.#evictUntilFits(0, space.organisationId)
      },
      onFailed: (spaceId, reason) => {
        this.#log.error({ spaceId, reason }, 'a Space in memory failed and is loaded again')
        this.evict(spaceId)
      },
      onLost: (reason) => {
        this.#log.error({ reason }, 'the search thread was lost; Spaces are loaded into a new one')
        this.#thread = undefined
        this.#spaces.clear()
      },
    }))
  }
}

function toMegabytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20)
}

/** The thread that holds and searches Spaces, as the main thread sees it. Messages take effect in the order of the calls. */
type SearchThread = ReturnType<typeof startSearchThread>

interface SearchThreadEvents {
  onSize(spaceId: string, bytes: number): void
  /** The Space in memory no longer matches the corpus. */
  onFailed(spaceId: string, reason: string): void
  /** The thread has ended, with everything in it. */
  onLost(reason: string): void
}

function startSearchThread(events: SearchThreadEvents) {
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
