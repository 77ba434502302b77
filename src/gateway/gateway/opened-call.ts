import { usageTagLimits } from '../../contract/usage-reports.ts'
import {
  AppError,
  type Clock,
  isAppError,
  type Log,
  noUsage,
  type Operation,
  type TokenCounts,
} from '../../platform/kernel/index.ts'
import type { TakenTokens } from '../../tenants/organisations/index.ts'
import type { CallTags, Hold, Outcome, Receipt } from '../billing/index.ts'
import type { Catalogue, Deployment } from '../models/index.ts'
import type { ProviderRequest, TokenUsage } from '../providers/index.ts'
import { type Attempting, type Router, toClientError } from '../routing/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import type { CompletionCall } from './port.ts'
import { countPrompt } from './prompt-size.ts'

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

interface AnsweredOutcome {
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

/** The prompt counted, or estimated where it is too long for that. */
export async function countPromptUsage(opened: OpenedCall): Promise<TokenUsage> {
  const { call, tokens, promptTokensEstimate, mediaTokensEstimate } = opened
  const counted = await countPrompt(call.request, tokens, call.organisation.id)
  return { ...noUsage, promptTokens: counted === null ? promptTokensEstimate : counted + mediaTokensEstimate }
}

/** Longest time that a provider's answer is read after its client has left, to learn what it costs. */
const readOnMs = 30_000
/** Most answers that are read on at the same time, in total and of one organisation; others are estimated at once. */
const maximumReadings = { together: 512, perOrganisation: 32 }
/** Output tokens per second of a deployment without measurements: typical for large models. */
const typicalTokensPerSecond = 50
/** Share of the newest call in a deployment's measured rate. */
const newestShare = 0.2
/** Shorter calls measure the network rather than the model. */
const shortestMeasuredMs = 200

/** Reads on answers whose client has left, and measures how fast deployments generate, to estimate answers without usage. */
export type ReadOn = ReturnType<typeof createReadOn>

export function createReadOn({ clock }: { clock: Clock }) {
  const running = new Map<Promise<void>, string>()
  const perSecond = new Map<string, number>()
  const closing = new AbortController()

  async function runWithin(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const over = new AbortController()
    const stop = () => over.abort(new Error('the answer of a client that has left is read no longer'))
    closing.signal.addEventListener('abort', stop, { once: true })
    void clock.sleep(readOnMs, over.signal).then(stop, () => {})
    try {
      await work(over.signal)
    } finally {
      closing.signal.removeEventListener('abort', stop)
      // Ends the sleep.
      stop()
    }
  }

  return {
    /**
     * Starts `work` in the background with a signal that aborts after 30 s and at `close`. False: too many run already, and nothing
     * was started. `work` must not reject.
     */
    start(organisationId: string, work: (signal: AbortSignal) => Promise<void>): boolean {
      const own = [...running.values()].filter((id) => id === organisationId).length
      if (closing.signal.aborted || running.size >= maximumReadings.together) return false
      if (own >= maximumReadings.perOrganisation) return false
      const reading = runWithin(work).finally(() => running.delete(reading))
      running.set(reading, organisationId)
      return true
    },
    /** Output tokens, hidden ones included, that a deployment has generated in a whole call of this length. */
    measure(deploymentId: string, tokens: number, durationMs: number): void {
      if (durationMs < shortestMeasuredMs || tokens <= 0) return
      const rate = (tokens * 1000) / durationMs
      const before = perSecond.get(deploymentId)
      perSecond.set(deploymentId, before === undefined ? rate : before + (rate - before) * newestShare)
    },
    /** Output tokens that a deployment generates in this time, as measured. */
    estimate(deploymentId: string, durationMs: number): number {
      return Math.ceil(((perSecond.get(deploymentId) ?? typicalTokensPerSecond) * durationMs) / 1000)
    },
    /** Ends all reads and waits until their calls are settled. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(running.keys())
    },
  }
}

/** What the client states about the call, for usage reports; undefined if there is nothing or the organisation does not record it. */
export function tagsOf({
  organisation,
  request,
}: Pick<CompletionCall, 'organisation' | 'request'>): CallTags | undefined {
  const { user, metadata } = request
  if ((user === undefined && metadata === undefined) || !organisation.recordUsageTags) return undefined
  const tags: Record<string, string> = {}
  if (user !== undefined && user !== '') tags['user'] = shorten(user, usageTagLimits.valueCharacters)
  for (const [key, value] of Object.entries(metadata ?? {})) {
    if (value === '' || !isRecordable(key)) continue
    tags[`metadata.${key}`] = shorten(value, usageTagLimits.valueCharacters)
  }
  return Object.keys(tags).length > 0 ? tags : undefined
}

/** A key that is cut could equal another one. */
function isRecordable(key: string): boolean {
  return key !== '' && key.length <= usageTagLimits.keyCharacters && !key.includes('\0') && key.isWellFormed()
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair, which a cut can leave. */
function shorten(text: string, characters: number): string {
  return text.slice(0, characters).replaceAll('\0', '').toWellFormed()
}
