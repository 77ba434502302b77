import type { Database } from '../../../database/index.ts'
import { describeError, type Log, type OrganisationId, type SpaceId } from '../../../kernel/index.ts'
import type { Language } from '../../lexical/languages.ts'
import type { Generation, Generations } from '../../corpus/embedding-versions.store.ts'
import type { IndexRun } from '../../port.ts'
import {
  type LoadedPage,
  loadChunks,
  loadDocuments,
  loadSpaceSizes,
  residentRows,
  type SpaceSize,
} from './space-loader.store.ts'
import type { ResidentCandidate, ResidentDocument, ResidentQuery } from './messages.ts'
import { type ResidentThread, startResidentThread } from './search-thread.ts'

/**
 * Words and vectors of Spaces in memory, in a thread of their own, for the embedded engine: it has one connection, on which a
 * search would wait for every insert, and index builds would hold up everything. The database stays the truth: whatever is
 * found here is looked up there before it is shown, so that nothing hidden or deleted is ever answered.
 *
 * What changes is told after its commit (`staged`, `documentChanged`) or, where it must be found at once, within its
 * transaction (`publishing`): should that one fail, the look-up hides what is shown too early.
 */
export interface ResidentIndex {
  /** The Space if all of it is in memory. */
  find(scope: Scope): ResidentSpace | null
  /** Loads a Space that is not in memory, in the background, where its size is worth it. */
  consider(scope: Scope, chunks: number): void
  /** Whether a Space of this size is kept in memory, so that it needs no indexes in the database. */
  holds(size: { chunks: number; terms: number; dimensions: number }): boolean
  staged(run: IndexRun, generation: Generation, chunks: readonly StagedChunk[], languages: readonly Language[]): void
  publishing(run: IndexRun): void
  /** A document of a Space has changed: soon after, what the database says of it counts. */
  documentChanged(spaceId: string, documentId: string): void
  /** The same at once, for documents whose chunks were found here and not in the database. */
  settle(spaceId: string, documentIds: readonly string[]): Promise<void>
  /** Changes may have been missed, or another embedding model answers: everything is loaded anew when it is needed. */
  forgetAll(): void
  /** Loads the largest Spaces, as many as there is memory for. Resolves to how many chunks those have that it loaded. */
  warm(): Promise<number>
  /** Resolves when nothing is being loaded. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface ResidentSpace {
  languages: Language[]
  hasFormerTerms: boolean
  /** Live ones, the active one first; the vectors in memory are the active one's. */
  generations: Generation[]
  /** Null: the memory has failed, so ask the database. */
  search(query: ResidentQuery, signal: AbortSignal): Promise<ResidentCandidate[] | null>
}

export interface StagedChunk {
  chunkId: string
  terms: readonly number[]
  vector: Float32Array
}

interface Scope {
  organisationId: OrganisationId
  spaceId: SpaceId
}

interface HeldSpace extends Scope {
  isComplete: boolean
  /** The run of each document, as far as it has been told. */
  runs: Map<string, string>
  generations: Generation[]
  languages: Set<Language>
  hasFormerTerms: boolean
  bytes: number
  usedAt: number
}

/** Fewer chunks are searched in the database in less than 10 ms. */
const defaultFromChunks = 200
/** Bytes of a chunk beside its vector and its terms, and of a term. A little more than measured. */
const bytesPerChunk = 40
const bytesPerTerm = 6
/** Changes of documents are looked up together: one that is being processed tells of its progress all the time. */
const gatherMs = 250

export interface ResidentIndexOptions {
  database: Database
  generations: Pick<Generations, 'load'>
  limits: ResidentLimits
  log: Log
}

export interface ResidentLimits {
  /** Most memory for all Spaces together. */
  maximumBytes: number
  /** Smaller Spaces are searched in the database. */
  fromChunks?: number
}

export function createResidentIndex({ database, generations, limits, log }: ResidentIndexOptions): ResidentIndex {
  const { maximumBytes, fromChunks = defaultFromChunks } = limits
  const spaces = new Map<string, HeldSpace>()
  let thread: ResidentThread | undefined
  let loading: Promise<unknown> = Promise.resolve()
  let uses = 0
  const changed = new Map<string, Set<string>>()
  let gathering: NodeJS.Timeout | undefined
  let isClosed = false
  const closing = new AbortController()
  const background = { signal: closing.signal, background: true }

  function currentThread(): ResidentThread {
    return (thread ??= startResidentThread({
      onSize(spaceId, bytes) {
        const space = spaces.get(spaceId)
        if (space) space.bytes = bytes
        makeRoom(0, spaceId)
      },
      onFailed(spaceId, reason) {
        log.error({ spaceId, reason }, 'a Space in memory failed and is loaded anew')
        forget(spaceId)
      },
      onLost(reason) {
        log.error({ reason }, 'the search thread was lost; Spaces are loaded into a new one')
        thread = undefined
        spaces.clear()
      },
    }))
  }

  function forget(spaceId: string): void {
    if (spaces.delete(spaceId)) thread?.tell({ type: 'close', spaceId })
  }

  /** Drops the Spaces that were asked last until `bytes` more fit beside `spaceId`; false where they cannot. */
  function makeRoom(bytes: number, spaceId: string): boolean {
    const used = () => [...spaces.values()].reduce((sum, space) => sum + space.bytes, 0)
    const others = [...spaces.values()].filter((space) => space.spaceId !== spaceId)
    for (const space of others.sort((left, right) => left.usedAt - right.usedAt)) {
      if (used() + bytes <= maximumBytes) break
      forget(space.spaceId)
    }
    if (used() + bytes <= maximumBytes) return true
    if (spaces.has(spaceId)) {
      log.warn({ spaceId, maximumBytes }, 'a Space has outgrown the memory of search; it is searched in the database')
      forget(spaceId)
    }
    return false
  }

  /** One Space after the other. Resolves to false where it is there already, or does not fit. */
  function load(scope: Scope): Promise<boolean> {
    const loaded = loading.then(() => loadNow(scope))
    loading = loaded.catch((error: unknown) => {
      forget(scope.spaceId)
      if (!isClosed) log.warn({ spaceId: scope.spaceId, error: describeError(error) }, 'a Space was not loaded')
    })
    return loaded
  }

  async function loadNow(scope: Scope): Promise<boolean> {
    const [size] = await loadSpaceSizes(database, fromChunks, scope)
    const live = await generations.load()
    const active = live.find(({ state }) => state === 'active')
    const bytes = size && active ? estimate({ ...size, dimensions: active.dimensions }) : 0
    if (!size || !active || isClosed || spaces.has(scope.spaceId) || !makeRoom(bytes, scope.spaceId)) return false
    const { organisationId, spaceId } = scope
    const space: HeldSpace = {
      organisationId,
      spaceId,
      isComplete: false,
      runs: new Map(),
      generations: live,
      languages: new Set(),
      hasFormerTerms: false,
      bytes,
      usedAt: uses++,
    }
    spaces.set(spaceId, space)
    const isCurrent = () => spaces.get(spaceId) === space
    const held = currentThread()
    // From here on what comes in is told as well; what comes twice is taken once.
    held.tell({ type: 'open', spaceId, dimensions: active.dimensions })
    await settle(space)
    for await (const pages of loadChunks(database, { scope, generation: active }, background)) {
      if (!isCurrent()) return false
      for (const page of pages) tellChunks(space, page)
    }
    if (!isCurrent()) return false
    held.tell({ type: 'complete', spaceId })
    space.isComplete = true
    return true
  }

  /** Tells the thread what the database says of documents; of all where none are named. */
  async function settle(space: HeldSpace, documentIds?: readonly string[]): Promise<void> {
    const { documents, languages, hasFormerTerms } = await loadDocuments(database, space, documentIds)
    const isCurrent = () => spaces.get(space.spaceId) === space
    if (!isCurrent()) return
    for (const language of languages) space.languages.add(language)
    space.hasFormerTerms ||= hasFormerTerms
    for (const { documentId, runId, searchable } of documentIds ? documents : []) {
      const known = space.runs.get(documentId)
      if (!searchable || runId === null || known === runId) continue
      // Indexed anew under this run. Half of it may have been read under the other: then all is read again.
      if (!space.isComplete && known !== undefined) return forget(space.spaceId)
      for await (const pages of loadChunks(
        database,
        { scope: space, generation: space.generations[0]!, documentId },
        background,
      )) {
        if (!isCurrent()) return
        for (const page of pages) tellChunks(space, page)
      }
    }
    tellDocuments(space, documents)
  }

  function tellChunks(space: HeldSpace, page: LoadedPage): void {
    space.runs.set(page.run.documentId, page.run.runId)
    thread?.tell({ type: 'add', spaceId: space.spaceId, ...page })
  }

  function tellDocuments(space: HeldSpace, documents: ResidentDocument[]): void {
    for (const { documentId, runId } of documents) if (runId === null) space.runs.delete(documentId)
    thread?.tell({ type: 'settle', spaceId: space.spaceId, documents })
  }

  async function settleDocuments(spaceId: string, documentIds: readonly string[]): Promise<void> {
    const space = spaces.get(spaceId)
    if (space) await settle(space, documentIds)
  }

  async function settleChanged(): Promise<void> {
    gathering = undefined
    const gathered = [...changed]
    changed.clear()
    try {
      for (const [spaceId, documentIds] of gathered) await settleDocuments(spaceId, [...documentIds])
    } catch (error) {
      if (isClosed) return
      log.warn({ error: describeError(error) }, 'changed documents were not looked up; their Spaces are loaded anew')
      for (const [spaceId] of gathered) forget(spaceId)
    }
  }

  return {
    find({ organisationId, spaceId }) {
      const space = spaces.get(spaceId)
      if (!space?.isComplete || space.organisationId !== organisationId) return null
      space.usedAt = uses++
      return {
        languages: [...space.languages],
        hasFormerTerms: space.hasFormerTerms,
        generations: space.generations,
        async search(query, signal) {
          try {
            return await currentThread().search(spaceId, query, signal)
          } catch (error) {
            signal.throwIfAborted()
            log.warn({ spaceId, error: describeError(error) }, 'a search in memory failed; the database answers')
            return null
          }
        },
      }
    },
    consider(scope, chunks) {
      if (chunks >= fromChunks && !spaces.has(scope.spaceId) && !isClosed) void load(scope).catch(() => {})
    },
    holds: (size) => estimate(size) <= maximumBytes,
    staged(run, generation, chunks, languages) {
      const space = spaces.get(run.spaceId)
      const active = space?.generations[0]
      if (!space || !active) return
      for (const language of languages) space.languages.add(language)
      const isActive = generation.id === active.id
      const rows = residentRows(
        chunks.map((chunk) => ({ ...chunk, vector: isActive ? chunk.vector : null })),
        active.dimensions,
      )
      tellChunks(space, { run: { documentId: run.documentId, runId: run.runId }, rows })
    },
    publishing({ spaceId, documentId, runId }) {
      const space = spaces.get(spaceId)
      if (space) tellDocuments(space, [{ documentId, runId, searchable: true }])
    },
    documentChanged(spaceId, documentId) {
      if (!spaces.has(spaceId) || isClosed) return
      changed.set(spaceId, (changed.get(spaceId) ?? new Set()).add(documentId))
      gathering ??= setTimeout(() => void settleChanged(), gatherMs).unref()
    },
    settle: settleDocuments,
    forgetAll() {
      for (const spaceId of spaces.keys()) forget(spaceId)
    },
    async warm() {
      const [active] = await generations.load()
      let loaded = 0
      for (const size of active ? await loadSpaceSizes(database, fromChunks) : []) {
        const used = [...spaces.values()].reduce((sum, space) => sum + space.bytes, 0)
        // Loading one more must not push out a larger one.
        if (isClosed || used + estimate({ ...size, dimensions: active!.dimensions }) > maximumBytes) continue
        if (await load(size)) loaded += size.chunks
      }
      return loaded
    },
    settled: async () => void (await loading),
    async close() {
      isClosed = true
      clearTimeout(gathering)
      closing.abort(new Error('the resident index is closed'))
      await loading
      await thread?.close()
    },
  }
}

function estimate({ chunks, terms, dimensions }: Pick<SpaceSize, 'chunks' | 'terms'> & { dimensions: number }): number {
  return chunks * (bytesPerChunk + 2 * dimensions) + terms * bytesPerTerm
}
