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
  type Embedder,
  type Embedders,
  type EmbedderSource,
  type EmbeddingVersion,
  type SemanticSearchStore,
  semanticSearchTopic,
} from '../../documents/retrieval/index.ts'
import type { TokenCounting } from '../../gateway/tokens/index.ts'

export interface EmbedderDependencies {
  /** The folder of downloaded models. */
  dataFolder: string
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
export function openEmbedder({ settings }: Config, dependencies: EmbedderDependencies): Promise<Embedder> {
  const { kind, model, folder, dimensions } = settings.embeddings
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
  config,
  configured,
  former,
  store,
  changes,
  dependencies,
}: {
  config: Config
  /** Of `openEmbedder`. */
  configured: Embedder
  former: readonly Embedder[]
  store: Pick<SemanticSearchStore, 'load'>
  changes: Pick<ChangeSource, 'subscribe'>
  dependencies: EmbedderDependencies
}): Promise<Embedders> {
  const embedders = createEmbedders(configured, former)
  if (namesEmbedder(config)) return embedders
  const follow = async () => {
    const chosen = await store.load()
    await embedders.use(chosen ? await openSource({ kind: 'provider', ...chosen }, dependencies) : configured)
  }
  await follow()
  changes.subscribe(semanticSearchTopic, follow)
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
  dependencies: EmbedderDependencies & { allowDownload?: boolean },
): Promise<Embedder> {
  if (kind === 'hashing') return createHashingEmbedder()
  if (kind === 'onnx') {
    if (!folder && !model)
      throw new ConfigError('embeddings.folder: name the folder of the ONNX model, or embeddings.model as a hub id.')
    try {
      return await createOnnxEmbedder({
        ...(folder ? { modelFolder: folder } : { modelId: model! }),
        cacheFolder: path.join(dependencies.dataFolder, 'models'),
        allowDownload: dependencies.allowDownload ?? true,
        ...(dimensions === undefined ? {} : { dimensions }),
      })
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
