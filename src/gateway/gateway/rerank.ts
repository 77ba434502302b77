import { AppError, noUsage, type StatedUsage } from '../../platform/kernel/index.ts'
import { estimateTokens, type TokenEstimate } from '../tokens/index.ts'
import { estimateEach } from './prompt-size.ts'
import { callMetered, type MeteredDependencies } from './metered-call.ts'
import type { RerankCall, Reranking, RerankResult } from './port.ts'
import { modelNotFound } from './find-deployments.ts'

/** What a provider has scored so far. */
interface RankedPart {
  scores: number[]
  promptTokens: number | null
  searchUnits: number | null
  stated?: StatedUsage
}

/**
 * Cohere's search unit: a query with up to 100 documents. A document that has more than 500 tokens together with the query counts as
 * several (cohere.com/pricing, 2026-11).
 */
const documentsPerSearchUnit = 100
const tokensPerUnitDocument = 500
/** A query leaves at least this much of a document in each of its parts. */
const leastTokensPerPart = 100

/** Reranking like embeddings: model → hold → provider → settle. Throws AppError. */
export function createReranking(dependencies: MeteredDependencies): Reranking {
  return { rerank: (call) => rerank(dependencies, call) }
}

async function rerank(dependencies: MeteredDependencies, call: RerankCall): Promise<RerankResult> {
  const { catalogue, clock, tokens } = dependencies
  const { organisation, model, query, documents } = call
  const resolved = catalogue.resolve(organisation, model, clock.now())
  if (resolved?.model.kind !== 'rerank') throw modelNotFound(model, 2)
  const { answer, receipt, rate } = await callMetered(dependencies, {
    ...call,
    resolved,
    size: sizeOf(estimateTokens(query), await estimateEach(documents)),
    async send(deployment, options) {
      const provider = catalogue.provider(deployment)
      if (!provider.rerank) throw new AppError('model_not_found', `The provider of \`${model}\` has no rerank models.`)
      return provider.rerank({ ...options, model: deployment.wire, query, documents })
    },
    async measure({ scores, promptTokens, searchUnits, stated }: RankedPart) {
      const counted = promptTokens ?? (await countTokens(documents.slice(0, scores.length)))
      const billed = stated ?? (searchUnits === null ? undefined : unitsOf(searchUnits))
      return {
        usage: { ...noUsage, promptTokens: counted, ...(billed && { stated: billed }) },
        // Search units decide the cost; tokens are for reports.
        estimated: promptTokens === null && searchUnits === null,
      }
    },
  })
  return { scores: answer.scores, receipt, rate }

  /** Providers count the query once for each document. */
  async function countTokens(scored: readonly string[]): Promise<number> {
    const { id } = organisation
    return (await tokens.count([query], id)) * scored.length + (await tokens.count([...scored], id))
  }
}

function unitsOf(searchUnits: number): StatedUsage {
  return {
    raw: { search_units: searchUnits },
    costAttoUsd: null,
    billedUnits: { inputTokens: 0, outputTokens: searchUnits },
  }
}

/** The price of output is that of a search unit, at a provider that bills those. */
function sizeOf(asked: TokenEstimate, counts: readonly TokenEstimate[]) {
  const room = Math.max(leastTokensPerPart, tokensPerUnitDocument - asked.bound)
  const parts = counts.reduce((sum, { bound }) => sum + Math.max(1, Math.ceil(bound / room)), 0)
  const searchUnits = Math.ceil(parts / documentsPerSearchUnit)
  return {
    promptTokensBound: counts.reduce((sum, { bound }) => sum + bound + asked.bound, 0),
    promptTokensEstimate: counts.reduce((sum, { estimate }) => sum + estimate + asked.estimate, 0),
    outputCapTokens: searchUnits,
    modelMaxOutputTokens: searchUnits,
  }
}
