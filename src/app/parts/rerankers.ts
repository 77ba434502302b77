import { type Config, ConfigError } from '../config/index.ts'
import type { Reranking } from '../../gateway/gateway/index.ts'
import type { Metrics } from '../../platform/http/index.ts'
import { type Clock, describeError, type Log, runStep, type Telemetry } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import {
  createOnnxReranker,
  createProviderReranker,
  createRerankerHealth,
  createRerankStage,
  type Reranker,
  type RerankerHealth,
  type RerankStage,
} from '../../documents/retrieval/index.ts'
import { modelsFolder, withModelFetch } from './local-models.ts'

interface RerankerDependencies {
  config: Config
  reranking: Reranking
  organisations: { get(id: string): Organisation | undefined }
  /** The kind of a model of the catalogue; undefined if the catalogue has no such model. */
  modelKind: (model: string) => string | undefined
  metrics: Pick<Metrics, 'reranks' | 'rerankSeconds'>
  telemetry: Telemetry | null
  clock: Clock
  log: Log
}

export interface OpenedReranker {
  label: string
  stage: RerankStage
  health: RerankerHealth
  close(): Promise<void>
}

/** The configured reranker and its stage of a search; undefined without one, and nothing is loaded. Throws ConfigError naming the setting. */
export async function openReranker(dependencies: RerankerDependencies): Promise<OpenedReranker | undefined> {
  const { config, metrics, clock, log } = dependencies
  const { passages, timeoutMs } = config.settings.reranker
  const reranker = await open(dependencies)
  if (!reranker) return undefined
  const health = createRerankerHealth(clock)
  const rerankStage = createRerankStage({
    reranker,
    passages,
    timeoutMs,
    observe(outcome, seconds) {
      metrics.reranks.inc({ outcome })
      health.observe(outcome, seconds)
      if (outcome !== 'skipped' && outcome !== 'resting') metrics.rerankSeconds.observe(seconds)
    },
    clock,
    log,
  })
  return {
    label: reranker.label,
    stage: traced(rerankStage, dependencies.telemetry),
    health,
    close: () => reranker.close(),
  }
}

function traced(stage: RerankStage, telemetry: Telemetry | null): RerankStage {
  if (!telemetry) return stage
  return {
    ...stage,
    rerank: (passages, question) => runStep(telemetry.step('rerank'), () => stage.rerank(passages, question)),
  }
}

async function open(dependencies: RerankerDependencies): Promise<Reranker | undefined> {
  const { kind, model, folder } = dependencies.config.settings.reranker
  const chosen = kind === 'auto' ? (folder ? 'onnx' : model ? 'provider' : 'none') : kind
  if (chosen === 'none') return undefined
  return chosen === 'onnx' ? openLocal(dependencies.config, { model, folder }) : openProvider(dependencies, model)
}

async function openLocal(
  config: Config,
  { model, folder }: { model: string | undefined; folder: string | undefined },
): Promise<Reranker> {
  if (!folder && !model)
    throw new ConfigError('reranker.folder: name the folder of the ONNX model, or reranker.model as a hub id.')
  try {
    return await withModelFetch(config, (fetch) =>
      createOnnxReranker({
        ...(folder ? { modelFolder: folder } : {}),
        ...(model ? { modelId: model } : {}),
        cacheFolder: modelsFolder(config),
        fetch,
      }),
    )
  } catch (error) {
    throw new ConfigError(`reranker: ${describeError(error)}`)
  }
}

function openProvider({ reranking, organisations, modelKind, log }: RerankerDependencies, model: string | undefined) {
  if (!model) throw new ConfigError('reranker.model: name a rerank model of the catalogue.')
  const found = modelKind(model)
  if (found !== undefined && found !== 'rerank')
    throw new ConfigError(`reranker.model: ${model} is a model of kind ${found}; a model of kind rerank is needed.`)
  if (found === undefined)
    log.warn({ model }, 'reranker.model is not in the catalogue; searches are not reranked until it is')
  return createProviderReranker({ reranking, organisation: (id) => organisations.get(id), model })
}
