import type { Hold, Outcome, Receipt } from '../billing/index.ts'
import type { TakenTokens } from '../../tenants/organisations/index.ts'
import {
  AppError,
  type Clock,
  isAppError,
  type Log,
  type Operation,
  type TokenCounts,
} from '../../platform/kernel/index.ts'
import type { Catalogue, Deployment } from '../models/index.ts'
import { type Attempting, type Router, toClientError } from '../routing/index.ts'
import type { ProviderRequest, TokenUsage } from '../providers/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import { countPrompt } from './count-prompt.ts'
import type { OutputMeter } from './output-meter.ts'
import type { CompletionCall } from './port.ts'
import type { ReadOn } from './read-on.ts'

/** A call with a resolved model, an active subscription and a hold. */
export interface OpenedCall {
  call: CompletionCall
  model: string
  deployments: readonly Deployment[]
  provider: Catalogue['provider']
  router: Pick<Router, 'reportBrokenStream' | 'reportAnswer'>
  hold: Hold
  /** Of the organisation's tokens per minute; corrected where the call is settled. */
  taken: TakenTokens
  /** Null without telemetry. */
  operation: Operation | null
  /**
   * Ends the provider's call. It is not the client's signal: after the client has left, the gateway reads on for a while what the
   * provider bills.
   */
  work: AbortController
  /** The deployment that processes or has answered this call, and since when; null while there is none. */
  working: { deployment: Deployment; sinceMs: number } | null
  /** Monotonic time at which the call began. */
  openedMs: number
  request: ProviderRequest
  promptTokensEstimate: number
  /** The part of it that images, files and audio take. */
  mediaTokensEstimate: number
  /** Most output tokens that the provider was allowed. */
  outputTokensBound: number
  readOn: ReadOn
  tokens: TokenCounting
  clock: Clock
  /** Not of this call: lines name its request. Few calls write one, so none makes a log. */
  log: Log
}

export type AnsweredEnding = (Outcome & { kind: 'answered' })['ending']

export interface AnsweredOutcome {
  ending: AnsweredEnding
  usage: TokenCounts
  estimated: boolean
  finishReason: string | null
  firstTokenMs?: number | null
  schemaMismatch?: string | null
}

/** The spans of the attempts of one call; undefined without telemetry. */
export function attemptsOf(operation: Operation | null, provider: Catalogue['provider']): Attempting | undefined {
  if (!operation) return undefined
  return ({ id, providerId, hosting }, number) =>
    operation.attempt({ deploymentId: id, hosting, number, peer: provider({ providerId }).peer ?? unknownPeer })
}

const unknownPeer = { system: '_OTHER' }

/** Records the attempt: a client that leaves now is billed for the work of this deployment. */
export async function atWork<T>(
  opened: OpenedCall,
  deployment: Deployment,
  send: (provider: ReturnType<Catalogue['provider']>) => Promise<T>,
): Promise<T> {
  // No further attempt for a client that has left.
  opened.call.signal.throwIfAborted()
  opened.working = { deployment, sinceMs: opened.clock.monotonicMs() }
  try {
    return await send(opened.provider(deployment))
  } catch (error) {
    if (!opened.work.signal.aborted) opened.working = null
    throw error
  }
}

export function settleAnswered(
  { hold, taken, operation }: OpenedCall,
  deployment: Deployment,
  outcome: AnsweredOutcome,
): Promise<Receipt> {
  taken.correct(outcome.usage.promptTokens + outcome.usage.completionTokens)
  const { id: deploymentId, providerId, hosting } = deployment
  const settled = hold.settle({ kind: 'answered', deploymentId, providerId, hosting, ...outcome })
  operation?.answered({ deploymentId, hosting, wireModel: deployment.wire.id, ...outcome }, settled)
  return settled
}

/** For an answer that no client waits for. */
export async function settleLater(opened: OpenedCall, deployment: Deployment, outcome: AnsweredOutcome): Promise<void> {
  await settleAnswered(opened, deployment, outcome).catch((error: unknown) => {
    // The hold stays open and durable: recovery settles it after a restart.
    opened.log.error(
      { requestId: opened.call.requestId, error: String(error) },
      'a partial answer could not be settled',
    )
  })
}

/** Nothing is billed. */
export async function settleUnanswered(
  { call, hold, taken, operation, log }: OpenedCall,
  reason: string,
): Promise<void> {
  taken.correct(0)
  operation?.failed(reason)
  await hold.settle({ kind: 'unanswered', reason }).catch((error: unknown) => {
    log.error({ requestId: call.requestId, error: String(error) }, 'a failed call could not be settled; recovery will')
  })
}

/** The end of an answer is sent only after its cost was recorded: another instance may have settled the call. */
export function assertRecorded({ ending }: Receipt): void {
  if (ending === 'completed') return
  throw new AppError('overloaded', 'The cost of this answer could not be recorded. Send the request again.', {
    retryAfterSeconds: 1,
    internal: `settled elsewhere as ${ending}`,
  })
}

/** What the deployment has generated by now, seen or not, at its measured rate; at least what was seen, within its cap. */
export function usageByTime(opened: OpenedCall, prompt: TokenUsage, seenTokens: number): TokenUsage {
  const { working, readOn, clock, outputTokensBound } = opened
  if (!working) return { ...prompt, completionTokens: seenTokens }
  const generated = readOn.estimate(working.deployment.id, clock.monotonicMs() - working.sinceMs)
  const completionTokens = Math.max(seenTokens, Math.min(generated, outputTokensBound))
  const reasoningTokens = working.deployment.wire.reasoning ? completionTokens - seenTokens : 0
  return { ...prompt, completionTokens, reasoningTokens }
}

/** Records a whole call's speed, for `usageByTime` of other calls and for the operator's view of the deployment. */
export function measureRate({ call, working, readOn, router, clock }: OpenedCall, usage: TokenUsage): void {
  if (!working) return
  const durationMs = clock.monotonicMs() - working.sinceMs
  readOn.measure(working.deployment.id, usage.completionTokens, durationMs)
  router.reportAnswer(working.deployment.id, {
    outputTokens: usage.completionTokens,
    durationMs,
    isStream: call.stream,
  })
}

export function hasLeft({ call }: OpenedCall): boolean {
  return call.signal.aborted && isAppError(call.signal.reason, 'client_closed')
}

export function toAppError(error: unknown, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error
  if (signal.aborted && signal.reason instanceof AppError) return signal.reason
  return toClientError(error)
}

export function endingOf(error: unknown, signal: AbortSignal): AnsweredEnding {
  if (isAppError(error, 'insufficient_quota')) return 'budget_ended'
  if (!signal.aborted) return 'provider_failed'
  return isAppError(signal.reason, 'shutting_down') ? 'shutdown' : 'client_closed'
}

export function describe(opened: OpenedCall, deployment: Deployment, adjusted: string[]) {
  return {
    model: opened.model,
    deploymentId: deployment.id,
    hosting: deployment.hosting,
    adjusted: opened.hold.capReduced ? [...adjusted, 'max_completion_tokens'] : adjusted,
    rate: opened.taken.rate,
  }
}

export const noUsage: TokenCounts = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

/** Usage where the provider sent none: prompt and output counted. */
export async function countUsage(opened: OpenedCall, output: string): Promise<TokenUsage> {
  return {
    ...(await countPromptUsage(opened)),
    completionTokens: await opened.tokens.count([output], opened.call.organisation.id),
  }
}

/** Whether the provider counted everything itself. */
export function isCounted(usage: TokenUsage | null): boolean {
  return usage !== null && usage.promptUncounted !== true
}

/** The provider's usage, with the prompt counted where the provider left it out; null where it sent none. */
export async function completeUsage(opened: OpenedCall, usage: TokenUsage | null): Promise<TokenUsage | null> {
  if (usage?.promptUncounted !== true) return usage
  const { promptUncounted: _, ...counted } = usage
  return { ...counted, promptTokens: (await countPromptUsage(opened)).promptTokens }
}

/** Usage of a stream without any: the prompt counted, the output as metered. */
export async function estimateUsage(opened: OpenedCall, meter: OutputMeter): Promise<TokenUsage> {
  const toolUses = meter.toolUses()
  return {
    ...(await countPromptUsage(opened)),
    completionTokens: meter.tokensEstimate(),
    ...(Object.keys(toolUses).length > 0 && { toolUses }),
  }
}

async function countPromptUsage(opened: OpenedCall): Promise<TokenUsage> {
  const { call, tokens, promptTokensEstimate, mediaTokensEstimate } = opened
  const counted = await countPrompt(call.request, tokens, call.organisation.id)
  return { ...noUsage, promptTokens: counted === null ? promptTokensEstimate : counted + mediaTokensEstimate }
}
