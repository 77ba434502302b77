import { AppError, createRequestId } from '../kernel/index.ts'
import type { Deployment } from '../models/index.ts'
import { toClientError } from '../routing/index.ts'
import type { CompletionsDependencies } from './complete.ts'
import { estimateTokens } from '../tokens/index.ts'
import { assertRecorded, noUsage } from './opened-call.ts'
import type { Embeddings } from './port.ts'

/** Embeddings through the same door as completions: model → hold → provider → settle. Throws AppError. */
export function createEmbeddings({
  catalogue,
  router,
  ledger,
  tokens,
  clock,
}: Omit<CompletionsDependencies, 'pseudonyms'>): Embeddings {
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
      let part: { deployment: Deployment; texts: number; promptTokens: number | null } | undefined
      const settle = async (
        ending: 'completed' | 'client_closed' | 'provider_failed',
        deployment: Deployment,
        promptTokens: number | null,
        embedded: string[],
      ) =>
        hold.settle({
          kind: 'answered',
          ending,
          deploymentId: deployment.id,
          providerId: deployment.providerId,
          hosting: deployment.hosting,
          usage: { ...noUsage, promptTokens: promptTokens ?? (await tokens.count(embedded)) },
          estimated: promptTokens === null,
          finishReason: null,
        })
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
              onPart: (answered) => (part = { deployment: candidate, ...answered }),
            })
          },
        )
        await hold.durable
        const receipt = await settle('completed', deployment, answer.promptTokens, texts)
        assertRecorded(receipt)
        return { vectors: answer.vectors, promptTokens: receipt.usage.promptTokens, receipt }
      } catch (error) {
        // The provider bills what it has embedded although a later request failed. Of several attempts the last that embedded
        // something is billed.
        if (part) {
          const ending = signal.aborted ? 'client_closed' : 'provider_failed'
          await settle(ending, part.deployment, part.promptTokens, texts.slice(0, part.texts))
        } else
          await hold.settle({ kind: 'unanswered', reason: error instanceof AppError ? error.code : 'provider_failed' })
        if (error instanceof AppError) throw error
        signal.throwIfAborted()
        throw toClientError(error)
      }
    },
  }
}
