import type { HoldRequest, Receipt, SpendLimit } from '../billing/index.ts'
import {
  AppError,
  createRequestId,
  type EndSignal,
  type RateLimitState,
  type RequestId,
  type SpaceId,
  type StatedUsage,
  type TokenCounts,
} from '../../platform/kernel/index.ts'
import type { Deployment, ResolvedModel } from '../models/index.ts'
import { assertSubscription, type Organisation } from '../../tenants/organisations/index.ts'
import { toClientError } from '../routing/index.ts'
import { assertRecorded, attemptsOf, tagsOf, toAppError } from './opened-call.ts'
import { noteRefused } from './complete.ts'
import type { CompletionsDependencies } from './open-call.ts'
import type { ClientCall } from './port.ts'

/** `limiter`: for the calls of clients. */
export type MeteredDependencies = Omit<CompletionsDependencies, 'pseudonyms' | 'limiter'> &
  Partial<Pick<CompletionsDependencies, 'limiter'>>

/** A call of embeddings or reranking, for search or for a client: complete when the provider answers, and billed by what was sent. */
export interface MeteredCall<Answer extends Part, Part> {
  organisation: Organisation
  spaceId: SpaceId | null
  /** As it is configured. */
  model: string
  client?: ClientCall | undefined
  spending?: SpendLimit | undefined
  signal: EndSignal
  resolved: ResolvedModel
  size: Pick<HoldRequest, 'promptTokensBound' | 'promptTokensEstimate' | 'outputCapTokens' | 'modelMaxOutputTokens'>
  /** Over all attempts; absent: the router's limits. */
  timeoutMs?: number
  send(deployment: Deployment, options: SendOptions<Part>): Promise<Answer>
  /** What the provider bills for an answer, or for the part of it that was received. */
  measure(part: Part): Promise<{ usage: TokenCounts & { stated?: StatedUsage }; estimated: boolean }>
}

interface SendOptions<Part> {
  signal: EndSignal
  tenant: string
  requestId: RequestId
  /** As in ProviderCall. */
  traceparent: string | undefined
  /** Reports what was received before the answer is complete. */
  onPart(part: Part): void
}

/** Hold → provider → settle. Throws AppError. */
export async function callMetered<Answer extends Part, Part>(
  dependencies: MeteredDependencies,
  call: MeteredCall<Answer, Part>,
): Promise<{ answer: Answer; receipt: Receipt; rate: RateLimitState | null }> {
  const { ledger, router, telemetry = null, catalogue } = dependencies
  const { organisation, resolved, model, client, signal, timeoutMs } = call
  const requestId = client?.requestId ?? createRequestId()
  const surface = surfaceOf(call)
  const { id, kind } = resolved.model
  const operation = telemetry ? telemetry.operation({ kind, model: id, surface, stream: false, requestId }) : null
  const taken = takeTokens(dependencies, call)
  const hold = await ledger.hold(holdFor(call, requestId)).catch((error: unknown) => {
    taken?.correct(0)
    operation?.failed(toAppError(error, signal).code)
    noteRefused(dependencies, { organisation, surface, model }, toAppError(error, signal))
    throw error
  })
  operation?.event('ledger.hold')
  hold.durable.catch(() => {})
  let received: { part: Part; deployment: Deployment } | undefined
  const settle = async (
    ending: 'completed' | 'client_closed' | 'provider_failed',
    { part, deployment }: { part: Part; deployment: Deployment },
  ) => {
    const { id: deploymentId, providerId, hosting } = deployment
    const outcome = { ending, ...(await call.measure(part)), finishReason: null }
    taken?.correct(outcome.usage.promptTokens)
    const settled = hold.settle({ kind: 'answered', deploymentId, providerId, hosting, ...outcome })
    operation?.answered({ deploymentId, hosting, wireModel: deployment.wire.id, ...outcome }, settled)
    return settled
  }
  try {
    const { value: answer, deployment } = await router.run(
      {
        candidates: resolved.deployments,
        signal,
        streamed: false,
        attempting: attemptsOf(operation, (deployment) => catalogue.provider(deployment)),
        ...(timeoutMs !== undefined && { totalTimeoutMs: timeoutMs, perAttemptTimeoutMs: timeoutMs }),
      },
      (candidate, attemptSignal, span) =>
        call.send(candidate, {
          signal: attemptSignal,
          tenant: organisation.id,
          requestId,
          traceparent: span?.traceparent,
          onPart: (part) => (received = { part, deployment: candidate }),
        }),
    )
    await hold.makeDurable()
    const receipt = await settle('completed', { part: answer, deployment })
    assertRecorded(receipt)
    return { answer, receipt, rate: taken?.rate ?? null }
  } catch (error) {
    // The provider bills what it has sent, although a later request failed. After several attempts, the last that sent something is
    // billed.
    if (received) await settle(signal.aborted ? 'client_closed' : 'provider_failed', received)
    else {
      const reason = error instanceof AppError ? error.code : 'provider_failed'
      taken?.correct(0)
      operation?.failed(reason)
      await hold.settle({ kind: 'unanswered', reason })
    }
    if (error instanceof AppError) throw error
    signal.throwIfAborted()
    throw toClientError(error)
  }
}

const surfaceOf = ({ client }: { client?: ClientCall | undefined }) => (client ? 'gateway' : 'embeddings')

/** Search is never refused for a limit of calls. */
function takeTokens<Answer extends Part, Part>(
  { limiter, clock, ...rest }: MeteredDependencies,
  { client, organisation, model, size, signal }: MeteredCall<Answer, Part>,
) {
  if (!client || !limiter) return undefined
  try {
    assertSubscription(organisation, clock.now())
    return limiter.takeTokens(organisation, size.promptTokensEstimate, { refuse: true })
  } catch (error) {
    noteRefused({ ...rest, clock }, { organisation, surface: 'gateway', model }, toAppError(error, signal))
    throw error
  }
}

function holdFor<Answer extends Part, Part>(
  {
    organisation,
    spaceId,
    client,
    spending,
    signal,
    resolved: { model, deployments },
    size,
  }: MeteredCall<Answer, Part>,
  requestId: RequestId,
): HoldRequest {
  return {
    requestId,
    organisation,
    surface: surfaceOf({ client }),
    tags: client && tagsOf({ organisation, request: { messages: [], ...(client.user && { user: client.user }) } }),
    spaceId,
    model: model.id,
    candidates: deployments.map(({ id, prices }) => ({ deploymentId: id, prices })),
    ...size,
    stream: false,
    spending,
    signal,
  }
}
