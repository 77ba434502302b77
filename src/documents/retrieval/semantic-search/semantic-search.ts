import type { SemanticSearchBody } from '../../../contract/semantic-search.ts'
import type { EmbeddingModel } from '../../../gateway/models/index.ts'
import {
  AppError,
  assertVersion,
  ceilToPicoUsd,
  type ChangeSource,
  type Clock,
  formatPicoUsd,
  sharedOwner,
  versionOf,
  invalidField,
} from '../../../platform/kernel/index.ts'
import type { Actor } from '../../../tenants/operators/index.ts'
import { maximumHalfVectorDimensions } from '../corpus/embedding-versions.store.ts'
import { countStoredTexts, loadIndexProgress, type StoredTexts } from '../corpus/index-progress.store.ts'
import type { Embedders } from '../embedders/embedder.ts'
import type { SearchIndex } from '../search-index.ts'
import type { LocalModel } from './local-model.ts'
import type { ChosenModel, SemanticSearchStore } from './semantic-search.store.ts'

/** Counts of all stored texts are kept for this time. */
const countedMs = 60_000

export interface SemanticSearchDependencies {
  store: SemanticSearchStore
  embedders: Embedders
  localModel: Pick<LocalModel, 'model' | 'view'>
  /** The configuration names an embedder, which wins. */
  isConfigured: boolean
  index: Pick<SearchIndex, 'database' | 'embeddingVersions'>
  /** Embedding models that can be called now. */
  models: () => EmbeddingModel[]
  organisationName: (id: string) => string | undefined
  changes: Pick<ChangeSource, 'caughtUp'>
  clock: Clock
}

export interface ChangedBy {
  actor: Actor
  ifMatch: string | undefined
}

/** The embedding model of the installation, as operators choose it. Each instance follows the stored choice. */
export function createSemanticSearch(dependencies: SemanticSearchDependencies) {
  const { store, embedders, localModel, isConfigured, index, models, changes, clock } = dependencies
  const shared = index.database.for(sharedOwner)
  let counted: { atMs: number; texts: StoredTexts } | undefined

  async function countTexts(): Promise<StoredTexts> {
    const nowMs = clock.monotonicMs()
    if (!counted || nowMs - counted.atMs > countedMs) counted = { atMs: nowMs, texts: await countStoredTexts(shared) }
    return counted.texts
  }

  async function loadIndexing(): Promise<SemanticSearchBody['indexing']> {
    const version = (await index.embeddingVersions.load()).find(({ state }) => state === 'building')
    if (!version) return null
    const { startedAt, problem, ...documents } = await loadIndexProgress(shared, version)
    const named = (id: string) => ({ id, name: dependencies.organisationName(id) ?? null })
    return {
      startedAt: startedAt.toISOString(),
      ...documents,
      problem: problem && { reason: problem.reason, organisations: problem.organisationIds.map(named) },
    }
  }

  async function view(): Promise<SemanticSearchBody> {
    const [chosen, texts, indexing, local] = await Promise.all([
      store.load(),
      countTexts(),
      loadIndexing(),
      localModel.view(),
    ])
    const { label, semantics } = embedders.current()
    return {
      source: isConfigured ? 'configuration' : chosen ? 'console' : null,
      model: chosen?.model ?? null,
      embedder: label,
      hasSemantics: semantics !== false,
      offers: offers(models()).map(({ id, input, ...offer }) => ({
        model: id,
        ...offer,
        // A price per million tokens in picoUsd has the digits of a price per token in attoUsd.
        inputPerMillion: formatPicoUsd(input),
        cost: formatPicoUsd(ceilToPicoUsd(input * BigInt(texts.tokens))),
      })),
      stored: { documents: texts.documents, tokens: texts.tokens },
      indexing,
      local,
      version: versionOf(versioned(chosen)),
    }
  }

  async function change(next: ChosenModel | undefined, { actor, ifMatch }: ChangedBy): Promise<SemanticSearchBody> {
    if (isConfigured)
      throw new AppError('conflict', 'The embedding model is set in the configuration. Change it there.')
    await store.change(
      (before) => {
        assertVersion(ifMatch, versioned(before))
        return next
      },
      { actor, atMs: clock.now() },
    )
    await changes.caughtUp()
    return view()
  }

  return {
    view,
    /** Embeds all documents with the model in the background. With the model that is chosen already: tries again now. Throws AppError. */
    async turnOn(model: string, by: ChangedBy): Promise<SemanticSearchBody> {
      return change({ model, dimensions: await dimensionsOf(model, dependencies) }, by)
    },
    /** Back to the built-in embedder. Throws AppError. */
    turnOff: (by: ChangedBy) => change(undefined, by),
  }
}

/** Of the vectors of a model that can be used now. Throws AppError. */
async function dimensionsOf(
  model: string,
  { localModel, models }: Pick<SemanticSearchDependencies, 'localModel' | 'models'>,
): Promise<number> {
  if (model === localModel.model.id) {
    assertUsable(await localModel.view())
    return localModel.model.dimensions
  }
  const offer = offers(models()).find(({ id }) => id === model)
  if (!offer) throw invalidField('model', `No provider offers the embedding model \`${model}\`.`)
  return offer.dimensions
}

/** Throws AppError with what this instance lacks. */
function assertUsable({ model, hasFiles, hasRuntime }: SemanticSearchBody['local']): void {
  if (!hasFiles)
    throw new AppError('conflict', `The model ${model} is not installed on this instance. Install it first.`)
  if (!hasRuntime)
    throw new AppError('conflict', 'This instance lacks the package that runs local models: `npm run install:onnx`.')
}

export type SemanticSearch = ReturnType<typeof createSemanticSearch>

const offers = (models: EmbeddingModel[]) =>
  models.filter(({ dimensions }) => dimensions <= maximumHalfVectorDimensions)

const versioned = (chosen: ChosenModel | undefined) => ({ model: chosen?.model ?? null })
