import { type Config, ConfigError } from '../config.ts'
import type { Reranking } from '../gateway/index.ts'
import type { Metrics } from '../http/index.ts'
import type { Clock, Log } from '../kernel/index.ts'
import type { Organisation } from '../organisations/index.ts'
import { createProviderReranker, createRerankStage, type Reranker, type RerankStage } from '../retrieval/index.ts'

interface RerankerDependencies {
  config: Config
  reranking: Reranking
  organisations: { get(id: string): Organisation | undefined }
  /** The kind of a model of the catalogue; undefined if the catalogue has no such model. */
  modelKind: (model: string) => string | undefined
  metrics: Pick<Metrics, 'reranks' | 'rerankSeconds'>
  clock: Clock
  log: Log
}

/** The configured reranker and its stage of a search; undefined without one, and nothing is loaded. Throws ConfigError naming the setting. */
export async function openReranker(
  dependencies: RerankerDependencies,
): Promise<{ reranker: Reranker; rerankStage: RerankStage } | undefined> {
  const { config, metrics, clock, log } = dependencies
  const { passages, timeoutMs } = config.settings.reranker
  const reranker = await open(dependencies)
  if (!reranker) return undefined
  const rerankStage = createRerankStage({
    reranker,
    passages,
    timeoutMs,
    observe(outcome, seconds) {
      metrics.reranks.inc({ outcome })
      if (outcome !== 'skipped' && outcome !== 'resting') metrics.rerankSeconds.observe(seconds)
    },
    clock,
    log,
  })
  return { reranker, rerankStage }
}

async function open({ config, reranking, organisations, modelKind, log }: RerankerDependencies) {
  const { kind, model } = config.settings.reranker
  const chosen = kind === 'auto' ? (model ? 'provider' : 'none') : kind
  if (chosen === 'none') return undefined
  if (!model) throw new ConfigError('reranker.model: name a rerank model of the catalogue.')
  const found = modelKind(model)
  if (found !== undefined && found !== 'rerank')
    throw new ConfigError(`reranker.model: ${model} is a model of kind ${found}; a model of kind rerank is needed.`)
  if (found === undefined)
    log.warn({ model }, 'reranker.model is not in the catalogue; searches are not reranked until it is')
  return createProviderReranker({ reranking, organisation: (id) => organisations.get(id), model })
}
