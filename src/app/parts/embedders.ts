import path from 'node:path'
import { type Config, ConfigError } from '../config/index.ts'
import type { Embeddings } from '../../gateway/gateway/index.ts'
import { type ChangeSource, type Clock, describeError, type Log } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import {
  createEmbedders,
  createHashingEmbedder,
  createOnnxEmbedder,
  createProviderEmbedder,
  type ChosenModel,
  type Embedder,
  type Embedders,
  type EmbedderSource,
  type EmbeddingVersion,
  hasModel,
  type LocalModelFiles,
  type SemanticSearchStore,
  semanticSearchTopic,
} from '../../documents/retrieval/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'
import { withModelFetch } from './local-models.ts'

export interface EmbedderDependencies {
  config: Config
  localModelFiles: LocalModelFiles
  embeddings: Embeddings
  tokens: TokenCounting
  organisations: { get(id: string): Organisation | undefined }
  /** Dimensions of an embedding model of the catalogue; undefined if unknown. */
  modelDimensions: (model: string) => number | undefined
  clock: Clock
  log: Log
}

/** The configuration names the embedder, so that operators cannot choose one in the console. */
export function namesEmbedder({ settings: { embeddings } }: Config): boolean {
  const { kind, model, folder } = embeddings
  return kind !== 'auto' || model !== undefined || folder !== undefined
}

/** The configured embedder; without one, the built-in lexical hashing embedder. Throws ConfigError naming the setting. */
export function openEmbedder(dependencies: EmbedderDependencies): Promise<Embedder> {
  const { kind, model, folder, dimensions } = dependencies.config.settings.embeddings
  const source: EmbedderSource = {
    kind: kind === 'auto' ? (folder ? 'onnx' : model ? 'provider' : 'hashing') : kind,
    ...(model === undefined ? {} : { model }),
    ...(folder === undefined ? {} : { folder: path.resolve(folder) }),
    ...(dimensions === undefined ? {} : { dimensions }),
  }
  return openSource(source, dependencies)
}

/**
 * The embedders of earlier embedding versions that searches still use after the configuration has changed. Without them search is lexical
 * only, so a missing model is a warning and does not stop the start.
 */
export async function openFormerEmbedders(
  current: Embedder,
  versions: readonly EmbeddingVersion[],
  dependencies: EmbedderDependencies,
): Promise<Embedder[]> {
  const opened: Embedder[] = []
  for (const { embedderId, source } of versions) {
    if (embedderId === current.id || source === null) continue
    try {
      const former = await openSource(source, { ...dependencies, allowDownload: false })
      if (former.id === embedderId) {
        opened.push(former)
        continue
      }
      await former.close()
      dependencies.log.warn(
        { embedder: embedderId, found: former.id },
        `the former embedding model has changed; ${until}`,
      )
    } catch (error) {
      dependencies.log.warn(
        { embedder: embedderId, error: describeError(error) },
        `the former embedding model is not available; ${until}`,
      )
    }
  }
  return opened
}

/**
 * The embedders of this process. Where the configuration names none, the current one is that of the model which operators chose, also after
 * they choose another one.
 */
export async function followChosenModel({
  configured,
  former,
  store,
  changes,
  onStop,
  dependencies,
}: {
  /** Of `openEmbedder`. */
  configured: Embedder
  former: readonly Embedder[]
  store: Pick<SemanticSearchStore, 'load'>
  changes: Pick<ChangeSource, 'subscribe'>
  onStop: (stop: () => Promise<void>) => void
  dependencies: EmbedderDependencies
}): Promise<Embedders> {
  const embedders = createEmbedders(configured, former)
  if (namesEmbedder(dependencies.config)) return embedders
  const { model: pinned } = dependencies.localModelFiles
  const known = former.find(({ source }) => source?.kind === 'onnx' && source.model === pinned.id)
  let opened: Embedder | undefined
  onStop(async () => opened?.close())

  const openChosen = async (chosen: ChosenModel, allowDownload: boolean): Promise<Embedder> => {
    if (chosen.model !== pinned.id) return openSource({ kind: 'provider', ...chosen }, dependencies)
    return (
      known ?? (opened ??= await openSource({ kind: 'onnx', model: pinned.id }, { ...dependencies, allowDownload }))
    )
  }
  const follow = async (allowDownload: boolean) => {
    const chosen = await store.load()
    await embedders.use(chosen ? await openChosen(chosen, allowDownload) : configured)
  }
  await follow(true)
  changes.subscribe(semanticSearchTopic, () =>
    // Others wait for this change, and the feed would try again twice a second, so nothing is fetched here.
    follow(false).catch((error: unknown) => {
      if (!(error instanceof ConfigError)) throw error
      dependencies.log.error(
        { error: error.message },
        'the chosen local model cannot be used here; install it and start again',
      )
    }),
  )
  return embedders
}

const until = 'search is lexical only until all documents are embedded again'

async function openSource(
  source: EmbedderSource,
  dependencies: EmbedderDependencies & { allowDownload?: boolean },
): Promise<Embedder> {
  return { ...(await open(source, dependencies)), source }
}

async function open(
  { kind, model, folder, dimensions }: EmbedderSource,
  { allowDownload = true, ...dependencies }: EmbedderDependencies & { allowDownload?: boolean },
): Promise<Embedder> {
  if (kind === 'hashing') return createHashingEmbedder()
  if (kind === 'onnx') {
    if (!folder && !model)
      throw new ConfigError('embeddings.folder: name the folder of the ONNX model, or embeddings.model as a hub id.')
    const { model: pinned, cacheFolder, install } = dependencies.localModelFiles
    try {
      if (model === pinned.id && !folder && allowDownload && !(await hasModel(pinned, cacheFolder)))
        await install({ report: ({ text }) => dependencies.log.info({ model }, text) })
      return await withModelFetch(dependencies.config, (fetch) =>
        createOnnxEmbedder({
          ...(folder ? { modelFolder: folder } : { modelId: model! }),
          cacheFolder,
          allowDownload,
          fetch,
          ...(dimensions === undefined ? {} : { dimensions }),
        }),
      )
    } catch (error) {
      throw new ConfigError(`embeddings: ${describeError(error)}`)
    }
  }
  if (!model) throw new ConfigError('embeddings.model: name an embedding model of the catalogue.')
  const known = dimensions ?? dependencies.modelDimensions(model)
  if (known === undefined) {
    throw new ConfigError(`embeddings.dimensions: the catalogue does not state the dimensions of ${model}; set them.`)
  }
  return createProviderEmbedder({
    embeddings: dependencies.embeddings,
    tokens: dependencies.tokens,
    organisation: (id) => dependencies.organisations.get(id),
    model,
    dimensions: known,
    clock: dependencies.clock,
    log: dependencies.log,
  })
}
