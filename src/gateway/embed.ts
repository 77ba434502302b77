import type { BilledUsage } from '../billing/index.ts'
import { AppError, createRequestId } from '../kernel/index.ts'
import { toClientError } from '../models/index.ts'
import type { EmbeddingAnswer } from '../providers/index.ts'
import type { CompletionsDependencies } from './complete.ts'
import { estimateTokens, type TokenCounting } from '../tokens/index.ts'
import type { Embeddings } from './port.ts'

/** Embeddings through the same door as completions: model → hold → provider → settle. Throws AppError. */
export function createEmbeddings({ catalogue, router, ledger, tokens, clock }: CompletionsDependencies): Embeddings {
  return {
    async embed({ organisation, spaceId, model, texts, purpose, signal }) {
      const resolved = catalogue.resolve(organisation, model, clock.now())
      if (!resolved || resolved.model.kind !== 'embedding' || resolved.model.dimensions === null) {
        throw new AppError('model_not_found', `The embedding model \`${model}\` does not exist or is not available.`)
      }
      const requestId = createRequestId()
      const counts = texts.map((text) => estimateTokens(text))
      const hold = await ledger.hold({
        requestId,
        organisation,
        surface: 'embeddings',
        spaceId,
        model: resolved.model.id,
        candidates: resolved.deployments.map((deployment) => ({
          deploymentId: deployment.id,
          prices: deployment.prices,
        })),
        promptTokensBound: counts.reduce((sum, count) => sum + count.bound, 0),
        promptTokensEstimate: counts.reduce((sum, count) => sum + count.estimate, 0),
        outputCapTokens: 0,
        modelMaxOutputTokens: 0,
        stream: false,
        signal,
      })
      hold.durable.catch(() => {})
      try {
        const { value: answer, deployment } = await router.run(
          { candidates: resolved.deployments, signal, streamed: false },
          (candidate, attemptSignal) => {
            const provider = catalogue.provider(candidate)
            if (!provider.embed)
              throw new AppError('model_not_found', `The provider of \`${model}\` has no embeddings.`)
            return provider.embed({
              model: candidate.wire,
              texts,
              purpose,
              signal: attemptSignal,
              tenant: organisation.id,
              requestId,
            })
          },
        )
        await hold.durable
        const usage = await usageOf(answer, texts, tokens)
        const receipt = await hold.settle({
          kind: 'answered',
          ending: 'completed',
          deploymentId: deployment.id,
          providerId: deployment.providerId,
          hosting: deployment.hosting,
          usage,
          estimated: answer.promptTokens === null,
          finishReason: null,
        })
        return { vectors: answer.vectors, promptTokens: usage.promptTokens, receipt }
      } catch (error) {
        await hold.settle({ kind: 'unanswered', reason: error instanceof AppError ? error.code : 'provider_failed' })
        if (error instanceof AppError) throw error
        signal.throwIfAborted()
        throw toClientError(error)
      }
    },
  }
}

async function usageOf(answer: EmbeddingAnswer, texts: string[], tokens: TokenCounting): Promise<BilledUsage> {
  const promptTokens = answer.promptTokens ?? (await tokens.count(texts))
  return { promptTokens, completionTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
}
