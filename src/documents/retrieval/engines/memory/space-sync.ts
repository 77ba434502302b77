import type { Database } from '../../../../platform/database/index.ts'
import { createFairTurns, describeError, type Log } from '../../../../platform/kernel/index.ts'
import type { IndexRun } from '../../corpus/chunks.ts'
import { type EmbeddingVersion, loadEmbeddingVersions } from '../../corpus/embedding-versions.store.ts'
import type { SpaceScope, StagedChunks } from '../../engine.ts'
import { toColumns } from './messages.ts'
import type { CachedSpace, SpaceCache } from './space-cache.ts'
import { loadChunks, loadDocuments, loadSpaceSizes, type SpaceSize } from './space-rows.store.ts'
import { sharedOwner } from '../../../../platform/kernel/index.ts'

/** Bytes of a chunk without its vector and its terms, and of a term. A little more than measured. */
const bytesPerChunk = 40
const bytesPerTerm = 6
/** Spaces that wait to be loaded. One organisation alone may have half of them; later ones are considered again at their next search. */
const maximumWaitingLoads = 1_000
/** Changes of documents are read together: a document that is being processed changes several times a second. */
const gatherMs = 250

export interface SpaceSyncOptions {
  database: Database
  cache: SpaceCache
  /** Smaller Spaces are not loaded. */
  fromChunks: number
  log: Log
}

/** Loads Spaces into memory and keeps them in step with the corpus. */
export class SpaceSync {
  readonly #options: SpaceSyncOptions
  readonly #cache: SpaceCache
  readonly #closing = new AbortController()
  /** Documents that changed, by Space, until they are read. */
  readonly #changed = new Map<string, Set<string>>()
  /** One load at a time; organisations take turns. */
  readonly #turns = createFairTurns({
    maximumWaiting: maximumWaitingLoads,
    tooMany: () => new Error('too many Spaces wait to be loaded'),
  })
  /** Spaces that wait to be loaded, or are. */
  readonly #considered = new Set<string>()
  #gathering: NodeJS.Timeout | undefined
  #loading: Promise<unknown> = Promise.resolve()

  constructor(options: SpaceSyncOptions) {
    this.#options = options
    this.#cache = options.cache
  }

  /** Loads a Space that is not in memory in the background, if it is large enough. */
  consider(scope: SpaceScope, chunks: number): void {
    const { spaceId } = scope
    if (chunks < this.#options.fromChunks || this.#cache.get(spaceId) || this.#isClosed()) return
    if (this.#considered.has(spaceId)) return
    this.#considered.add(spaceId)
    void this.#load(scope, true)
      .catch(() => {})
      .finally(() => this.#considered.delete(spaceId))
  }

  /** Loads the largest Spaces that fit. Resolves to the number of chunks loaded. */
  async warm(): Promise<number> {
    let loaded = 0
    for (const size of await loadSpaceSizes(this.#options.database.for(sharedOwner), this.#options.fromChunks)) {
      // A smaller Space must not evict a larger one.
      if (await this.#load(size, false)) loaded += size.chunks
    }
    return loaded
  }

  /** Adds committed chunks of an unpublished run. */
  stage({ run, version, chunks, languages }: StagedChunks): void {
    const space = this.#cache.get(run.spaceId)
    if (!space) return
    for (const language of languages) space.languages.add(language)
    const hasVectors = version.id === space.active.id
    const columns = toColumns(
      chunks.map((chunk) => ({ ...chunk, vector: hasVectors ? chunk.vector : null })),
      space.active.dimensions,
    )
    this.#cache.add(space, { run: { documentId: run.documentId, runId: run.runId }, columns })
  }

  publish({ spaceId, documentId, runId }: IndexRun): void {
    const space = this.#cache.get(spaceId)
    if (space) this.#cache.update(space, [{ documentId, runId, searchable: true }])
  }

  /** Reads a changed document soon, together with others. */
  documentChanged(spaceId: string, documentId: string): void {
    if (!this.#cache.get(spaceId) || this.#isClosed()) return
    this.#changed.set(spaceId, (this.#changed.get(spaceId) ?? new Set()).add(documentId))
    this.#gathering ??= setTimeout(() => void this.#refreshChanged(), gatherMs).unref()
  }

  /** Reads documents now and applies their state. */
  async refresh(spaceId: string, documentIds: readonly string[]): Promise<void> {
    const space = this.#cache.get(spaceId)
    if (space) await this.#refresh(space, documentIds)
  }

  async close(): Promise<void> {
    clearTimeout(this.#gathering)
    this.#closing.abort(new Error('the search engine is closed'))
    await this.#loading
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** One Space after the other, in turns of organisations. Resolves to false where it is in memory already, or does not fit. */
  #load(scope: SpaceScope, mayEvict: boolean): Promise<boolean> {
    return this.#turns.run(scope.organisationId, this.#closing.signal, () => {
      const loaded = this.#loadNow(scope, mayEvict)
      this.#loading = loaded.catch((error: unknown) => {
        this.#cache.evict(scope.spaceId)
        if (!this.#isClosed()) this.#warn({ spaceId: scope.spaceId }, error, 'a Space could not be loaded')
      })
      return loaded
    })
  }

  async #loadNow(scope: SpaceScope, mayEvict: boolean): Promise<boolean> {
    const { fromChunks } = this.#options
    const database = this.#options.database.for(scope.organisationId)
    const [size] = await loadSpaceSizes(database, fromChunks, scope)
    const versions = await loadEmbeddingVersions(database)
    if (!size || this.#isClosed()) return false
    // Live writes are forwarded from here on; duplicates are ignored.
    const space = this.#cache.open(scope, estimateBytes(size, versions), versions, mayEvict)
    if (!space) return false
    await this.#refresh(space)
    if (!(await this.#addChunks(space))) return false
    this.#cache.complete(space)
    return true
  }

  /** Applies the documents' state in the corpus, of all where none are named, and reads those that have a new run. */
  async #refresh(space: CachedSpace, documentIds?: readonly string[]): Promise<void> {
    const { documents, languages, hasFormerTerms } = await loadDocuments(this.#options.database, space, documentIds)
    if (!this.#cache.isCurrent(space)) return
    for (const language of languages) space.languages.add(language)
    space.hasFormerTerms ||= hasFormerTerms
    for (const { documentId, runId, searchable } of documentIds ? documents : []) {
      const known = space.runs.get(documentId)
      if (!searchable || runId === null || known === runId) continue
      // While loading, half of it may have been read under the other run: the whole Space is then read again.
      if (!space.isComplete && known !== undefined) return this.#cache.evict(space.spaceId)
      if (!(await this.#addChunks(space, documentId))) return
    }
    this.#cache.update(space, documents)
  }

  /** Reads chunks of the Space, or of one document, into memory; false if the Space was evicted meanwhile. */
  async #addChunks(space: CachedSpace, documentId?: string): Promise<boolean> {
    const source = { scope: space, version: space.active, ...(documentId === undefined ? {} : { documentId }) }
    const options = { signal: this.#closing.signal, background: true }
    for await (const pages of loadChunks(this.#options.database, source, options)) {
      if (!this.#cache.isCurrent(space)) return false
      for (const page of pages) this.#cache.add(space, page)
    }
    return this.#cache.isCurrent(space)
  }

  async #refreshChanged(): Promise<void> {
    this.#gathering = undefined
    const gathered = [...this.#changed]
    this.#changed.clear()
    try {
      for (const [spaceId, documentIds] of gathered) await this.refresh(spaceId, [...documentIds])
    } catch (error) {
      if (this.#isClosed()) return
      this.#warn({}, error, 'changed documents could not be read; their Spaces are reloaded')
      for (const [spaceId] of gathered) this.#cache.evict(spaceId)
    }
  }

  #warn(fields: object, error: unknown, message: string): void {
    this.#options.log.warn({ ...fields, error: describeError(error) }, message)
  }
}

function estimateBytes({ chunks, terms }: SpaceSize, versions: readonly EmbeddingVersion[]): number {
  const dimensions = versions.find(({ state }) => state === 'active')?.dimensions ?? 0
  return chunks * (bytesPerChunk + 2 * dimensions) + terms * bytesPerTerm
}
