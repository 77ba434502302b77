import { AppError, type StatedUsage } from '../../platform/kernel/index.ts'
import { estimateTokens } from '../tokens/index.ts'
import { callMetered, type MeteredDependencies } from './metered-call.ts'
import { noUsage } from './opened-call.ts'
import type { EmbeddingCall, EmbeddingResult, Embeddings } from './port.ts'

/** What a provider has embedded so far. */
interface EmbeddedPart {
  texts: number
  promptTokens: number | null
  stated?: StatedUsage
}

/** Embeddings like completions: model → hold → provider → settle. Throws AppError. */
export function createEmbeddings(dependencies: MeteredDependencies): Embeddings {
  return { embed: (call) => embed(dependencies, call) }
}

async function embed(dependencies: MeteredDependencies, call: EmbeddingCall): Promise<EmbeddingResult> {
  const { catalogue, clock, tokens } = dependencies
  const { organisation, model, texts, purpose } = call
  const resolved = catalogue.resolve(organisation, model, clock.now())
  if (!resolved || resolved.model.kind !== 'embedding' || resolved.model.dimensions === null) {
    throw new AppError('model_not_found', `The embedding model \`${model}\` does not exist or is not available.`)
  }
  const counts = texts.map((text) => estimateTokens(text))
  const { answer, receipt } = await callMetered(dependencies, {
    ...call,
    resolved,
    size: {
      promptTokensBound: counts.reduce((sum, count) => sum + count.bound, 0),
      promptTokensEstimate: counts.reduce((sum, count) => sum + count.estimate, 0),
      outputCapTokens: 0,
      modelMaxOutputTokens: 0,
    },
    async send(deployment, options) {
      const provider = catalogue.provider(deployment)
      if (!provider.embed) throw new AppError('model_not_found', `The provider of \`${model}\` has no embeddings.`)
      const answered = await provider.embed({ ...options, model: deployment.wire, texts, purpose })
      return { ...answered, texts: texts.length }
    },
    measure: async (part: EmbeddedPart) => ({
      usage: {
        ...noUsage,
        promptTokens: part.promptTokens ?? (await tokens.count(texts.slice(0, part.texts))),
        ...(part.stated && { stated: part.stated }),
      },
      estimated: part.promptTokens === null,
    }),
  })
  return { vectors: answer.vectors, promptTokens: receipt.usage.promptTokens, receipt }
}
