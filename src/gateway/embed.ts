import type { HoldRequest } from '../billing/index.ts'
import { AppError, createRequestId, type RequestId } from '../kernel/index.ts'
import type { Deployment, ResolvedModel } from '../models/index.ts'
import { toClientError } from '../routing/index.ts'
import { estimateTokens } from '../tokens/index.ts'
import { type CompletionsDependencies, noteRefused } from './complete.ts'
import { assertRecorded, noUsage, toAppError } from './opened-call.ts'
import type { EmbeddingCall, EmbeddingResult, Embeddings } from './port.ts'

type EmbeddingsDependencies = Omit<CompletionsDependencies, 'pseudonyms'>

/** What a provider has embedded so far. */
interface EmbeddedPart {
  deployment: Deployment
  texts: number
  promptTokens: number | null
}

/** Embeddings like completions: model → hold → provider → settle. Throws AppError. */
export function createEmbeddings(dependencies: EmbeddingsDependencies): Embeddings {
  return { embed: (call) => embed(dependencies, call) }
}

async function embed(dependencies: EmbeddingsDependencies, call: EmbeddingCall): Promise<EmbeddingResult> {
  const { catalogue, clock, ledger, tokens } = dependencies
  const { organisation, model, texts, signal } = call
  const resolved = catalogue.resolve(organisation, model, clock.now())
  if (!resolved || resolved.model.kind !== 'embedding' || resolved.model.dimensions === null) {
    throw new AppError('model_not_found', `The embedding model \`${model}\` does not exist or is not available.`)
  }
  const requestId = createRequestId()
  const hold = await ledger.hold(holdFor(call, requestId, resolved)).catch((error: unknown) => {
    noteRefused(dependencies, { organisation, surface: 'embeddings', model }, toAppError(error, signal))
    throw error
  })
  hold.durable.catch(() => {})
  let part: EmbeddedPart | undefined
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
    const onPart = (embedded: EmbeddedPart) => (part = embedded)
    const { value: answer, deployment } = await callProvider(dependencies, call, requestId, resolved, onPart)
    await hold.durable
    const receipt = await settle('completed', deployment, answer.promptTokens, texts)
    assertRecorded(receipt)
    return { vectors: answer.vectors, promptTokens: receipt.usage.promptTokens, receipt }
  } catch (error) {
    // The provider bills what it has embedded, although a later request failed. After several attempts, the last that embedded
    // something is billed.
    if (part) {
      const ending = signal.aborted ? 'client_closed' : 'provider_failed'
      await settle(ending, part.deployment, part.promptTokens, texts.slice(0, part.texts))
    } else await hold.settle({ kind: 'unanswered', reason: error instanceof AppError ? error.code : 'provider_failed' })
    if (error instanceof AppError) throw error
    signal.throwIfAborted()
    throw toClientError(error)
  }
}

function holdFor(
  { organisation, spaceId, texts, signal }: EmbeddingCall,
  requestId: RequestId,
  { model, deployments }: ResolvedModel,
): HoldRequest {
  const counts = texts.map((text) => estimateTokens(text))
  return {
    requestId,
    organisation,
    surface: 'embeddings',
    spaceId,
    model: model.id,
    candidates: deployments.map(({ id, prices }) => ({ deploymentId: id, prices })),
    promptTokensBound: counts.reduce((sum, count) => sum + count.bound, 0),
    promptTokensEstimate: counts.reduce((sum, count) => sum + count.estimate, 0),
    outputCapTokens: 0,
    modelMaxOutputTokens: 0,
    stream: false,
    signal,
  }
}

function callProvider(
  { catalogue, router }: EmbeddingsDependencies,
  { organisation, model, texts, purpose, signal }: EmbeddingCall,
  requestId: RequestId,
  { deployments }: ResolvedModel,
  onPart: (part: EmbeddedPart) => void,
) {
  return router.run({ candidates: deployments, signal, streamed: false }, (candidate, attemptSignal) => {
    const provider = catalogue.provider(candidate)
    if (!provider.embed) throw new AppError('model_not_found', `The provider of \`${model}\` has no embeddings.`)
    return provider.embed({
      model: candidate.wire,
      texts,
      purpose,
      signal: attemptSignal,
      tenant: organisation.id,
      requestId,
      onPart: (answered) => onPart({ deployment: candidate, ...answered }),
    })
  })
}
