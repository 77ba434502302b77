import type { HoldRequest, Receipt } from '../billing/index.ts'
import {
  AppError,
  createRequestId,
  type RequestId,
  type SpaceId,
  type StatedUsage,
  type TokenCounts,
} from '../kernel/index.ts'
import type { Deployment, ResolvedModel } from '../models/index.ts'
import type { Organisation } from '../organisations/index.ts'
import { toClientError } from '../routing/index.ts'
import { type CompletionsDependencies, noteRefused } from './complete.ts'
import { assertRecorded, toAppError } from './opened-call.ts'

export type MeteredDependencies = Omit<CompletionsDependencies, 'pseudonyms' | 'limiter'>

/** A call for search (embeddings, reranking): complete when the provider answers, and billed by what was sent. */
export interface MeteredCall<Answer extends Part, Part> {
  organisation: Organisation
  spaceId: SpaceId | null
  /** As it is configured. */
  model: string
  signal: AbortSignal
  resolved: ResolvedModel
  /** Sizes of the hold. */
  size: Pick<HoldRequest, 'promptTokensBound' | 'promptTokensEstimate' | 'outputCapTokens' | 'modelMaxOutputTokens'>
  /** Over all attempts; absent: the router's limits. */
  timeoutMs?: number
  send(deployment: Deployment, options: SendOptions<Part>): Promise<Answer>
  /** What the provider bills for an answer, or for the part of it that was received. */
  measure(part: Part): Promise<{ usage: TokenCounts & { stated?: StatedUsage }; estimated: boolean }>
}

interface SendOptions<Part> {
  signal: AbortSignal
  tenant: string
  requestId: RequestId
  /** Reports what was received before the answer is complete. */
  onPart(part: Part): void
}

/** Hold → provider → settle. Throws AppError. */
export async function callMetered<Answer extends Part, Part>(
  dependencies: MeteredDependencies,
  call: MeteredCall<Answer, Part>,
): Promise<{ answer: Answer; receipt: Receipt }> {
  const { ledger, router } = dependencies
  const { organisation, resolved, model, signal, timeoutMs } = call
  const requestId = createRequestId()
  const hold = await ledger.hold(holdFor(call, requestId)).catch((error: unknown) => {
    noteRefused(dependencies, { organisation, surface: 'embeddings', model }, toAppError(error, signal))
    throw error
  })
  hold.durable.catch(() => {})
  let received: { part: Part; deployment: Deployment } | undefined
  const settle = async (
    ending: 'completed' | 'client_closed' | 'provider_failed',
    { part, deployment }: { part: Part; deployment: Deployment },
  ) =>
    hold.settle({
      kind: 'answered',
      ending,
      deploymentId: deployment.id,
      providerId: deployment.providerId,
      hosting: deployment.hosting,
      ...(await call.measure(part)),
      finishReason: null,
    })
  try {
    const { value: answer, deployment } = await router.run(
      {
        candidates: resolved.deployments,
        signal,
        streamed: false,
        ...(timeoutMs !== undefined && { totalTimeoutMs: timeoutMs, perAttemptTimeoutMs: timeoutMs }),
      },
      (candidate, attemptSignal) =>
        call.send(candidate, {
          signal: attemptSignal,
          tenant: organisation.id,
          requestId,
          onPart: (part) => (received = { part, deployment: candidate }),
        }),
    )
    await hold.makeDurable()
    const receipt = await settle('completed', { part: answer, deployment })
    assertRecorded(receipt)
    return { answer, receipt }
  } catch (error) {
    // The provider bills what it has sent, although a later request failed. After several attempts, the last that sent something is
    // billed.
    if (received) await settle(signal.aborted ? 'client_closed' : 'provider_failed', received)
    else await hold.settle({ kind: 'unanswered', reason: error instanceof AppError ? error.code : 'provider_failed' })
    if (error instanceof AppError) throw error
    signal.throwIfAborted()
    throw toClientError(error)
  }
}

function holdFor<Answer extends Part, Part>(
  { organisation, spaceId, signal, resolved: { model, deployments }, size }: MeteredCall<Answer, Part>,
  requestId: RequestId,
): HoldRequest {
  return {
    requestId,
    organisation,
    surface: 'embeddings',
    spaceId,
    model: model.id,
    candidates: deployments.map(({ id, prices }) => ({ deploymentId: id, prices })),
    ...size,
    stream: false,
    signal,
  }
}
