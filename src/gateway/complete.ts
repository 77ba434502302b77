import type { BilledUsage, Hold, Ledger, Outcome, Receipt } from '../billing/index.ts'
import { AppError, type Clock, type Log, isAppError } from '../kernel/index.ts'
import type { Catalogue, Deployment, Router } from '../models/index.ts'
import { toClientError } from '../models/index.ts'
import { assertSubscription } from '../organisations/index.ts'
import {
  type ProviderAnswer,
  ProviderError,
  type ProviderRequest,
  type ProviderStream,
  type TokenUsage,
} from '../providers/index.ts'
import type { TokenCounting } from '../tokens/index.ts'
import { estimatePrompt } from './estimate-prompt.ts'
import { modelNotFound } from './model-not-found.ts'
import { type OutputMeter, createOutputMeter } from './output-meter.ts'
import type { CompletionCall, CompletionEvent, Completions, StreamedCompletion, WholeCompletion } from './port.ts'

export interface CompletionsDependencies {
  catalogue: Catalogue
  router: Router
  ledger: Ledger
  tokens: TokenCounting
  clock: Clock
  log: Log
}

/**
 * The one door to completions, for the gateway and for Space chat: model → subscription → hold → provider → settle. The hold is
 * written while the provider already works; no byte leaves before it is durable, and no answer ends before its cost is.
 * Every failure is an AppError; whatever the end was, the hold is settled once.
 */
export function createCompletions(dependencies: CompletionsDependencies): Completions {
  return {
    async complete(call) {
      const opened = await open(dependencies, call)
      try {
        const { value: answer, deployment } = await dependencies.router.run(
          { candidates: opened.deployments, signal: call.signal, streamed: false },
          (candidate, signal) =>
            atWork(opened, candidate, (provider) =>
              provider.complete({
                model: candidate.wire,
                request: opened.request,
                signal,
                tenant: call.organisation.id,
                requestId: call.requestId,
              }),
            ),
        )
        await opened.hold.durable
        return await settleWhole(opened, answer, deployment)
      } catch (error) {
        throw await settleFailure(opened, error, call.signal)
      }
    },
    async stream(call) {
      const opened = await open(dependencies, call)
      // Ours to pull: a budget that ends, or an iteration that stops, cancels the provider's call.
      const cancel = new AbortController()
      const signal = AbortSignal.any([call.signal, cancel.signal])
      try {
        const { value: stream, deployment } = await dependencies.router.run(
          { candidates: opened.deployments, signal },
          (candidate, attemptSignal) =>
            atWork(opened, candidate, (provider) =>
              provider.stream({
                model: candidate.wire,
                request: opened.request,
                signal: attemptSignal,
                tenant: call.organisation.id,
                requestId: call.requestId,
              }),
            ),
        )
        await opened.hold.durable
        // A client that left meanwhile never begins to read, and only a relay that was begun settles its hold.
        call.signal.throwIfAborted()
        return {
          ...describe(opened, deployment, stream.adjusted),
          events: relay(opened, stream, deployment, cancel),
        } satisfies StreamedCompletion
      } catch (error) {
        cancel.abort()
        throw await settleFailure(opened, error, call.signal)
      }
    },
  }
}

/** A call whose model is found, whose subscription holds and whose money is set aside. */
interface OpenedCall {
  call: CompletionCall
  model: string
  deployments: readonly Deployment[]
  provider: Catalogue['provider']
  reportFailure: Router['reportFailure']
  hold: Hold
  /** The deployment whose provider works for this call, or has answered it; null while none does. */
  working: Deployment | null
  request: ProviderRequest
  promptTokensEstimate: number
  tokens: TokenCounting
  log: Log
}

async function open(
  { catalogue, router, ledger, tokens, clock, log }: CompletionsDependencies,
  call: CompletionCall,
): Promise<OpenedCall> {
  const now = clock.now()
  const resolved = catalogue.resolve(call.organisation, call.model, now)
  if (!resolved || resolved.model.kind !== 'chat') throw modelNotFound(call.model)
  assertSubscription(call.organisation, now)
  const prompt = await estimatePrompt(call.request.messages)
  const hold = await ledger.hold({
    requestId: call.requestId,
    organisation: call.organisation,
    surface: call.surface,
    spaceId: call.spaceId,
    model: resolved.model.id,
    candidates: resolved.deployments.map((deployment) => ({ deploymentId: deployment.id, prices: deployment.prices })),
    promptTokensBound: prompt.bound,
    promptTokensEstimate: prompt.estimate,
    outputCapTokens: call.request.maxOutputTokens ?? null,
    modelMaxOutputTokens: resolved.model.maxOutputTokens,
    // A hold may grow with what is seen; hidden reasoning is not seen before it is billed, so it is held whole.
    stream: call.stream && !resolved.deployments.some((deployment) => deployment.wire.reasoning),
    whenExhausted: call.whenExhausted,
    signal: call.signal,
  })
  // A hold that fails to be written is met where it is awaited; until then it must not count as unhandled.
  hold.durable.catch(() => {})
  return {
    call,
    model: resolved.model.id,
    deployments: resolved.deployments,
    provider: catalogue.provider,
    reportFailure: router.reportFailure,
    hold,
    working: null,
    request: hold.outputCapTokens === null ? call.request : { ...call.request, maxOutputTokens: hold.outputCapTokens },
    promptTokensEstimate: prompt.estimate,
    tokens,
    log: log.child({ requestId: call.requestId }),
  }
}

/** One attempt, noted: a client that leaves now is billed for what this deployment does. */
async function atWork<T>(
  opened: OpenedCall,
  deployment: Deployment,
  send: (provider: ReturnType<Catalogue['provider']>) => Promise<T>,
): Promise<T> {
  opened.working = deployment
  try {
    return await send(opened.provider(deployment))
  } catch (error) {
    if (!opened.call.signal.aborted) opened.working = null
    throw error
  }
}

async function settleWhole(
  opened: OpenedCall,
  answer: ProviderAnswer,
  deployment: Deployment,
): Promise<WholeCompletion> {
  const usage = answer.usage ?? (await countUsage(opened, answer.text + answer.reasoningText + (answer.refusal ?? '')))
  const receipt = await settleAnswered(opened, deployment, {
    ending: 'completed',
    usage,
    estimated: answer.usage === null,
    finishReason: answer.finishReason,
  })
  assertRecorded(receipt)
  return {
    ...describe(opened, deployment, answer.adjusted),
    text: answer.text,
    refusal: answer.refusal,
    reasoningText: answer.reasoningText,
    toolCalls: answer.toolCalls,
    finishReason: answer.finishReason,
    usage,
    receipt,
  }
}

/** Passes the events on, keeps the hold ahead of them, and settles exactly once, however the iteration ends. */
async function* relay(
  opened: OpenedCall,
  stream: ProviderStream,
  deployment: Deployment,
  cancel: AbortController,
): AsyncGenerator<CompletionEvent[], void, void> {
  const meter = createOutputMeter()
  let ending: AnsweredEnding = 'client_closed'
  let settled = false
  try {
    for await (const events of stream.events) {
      const visible = meter.take(events)
      const granted = opened.hold.grant(meter.tokensBound(), meter.tokensEstimate())
      if (granted !== true) await granted
      if (visible.length > 0) yield visible
    }
    ending = 'completed'
    const finishReason = meter.finishReason()
    const usage = meter.usage() ?? (await estimateUsage(opened, meter))
    const estimated = meter.usage() === null
    settled = true
    const receipt = await settleAnswered(opened, deployment, { ending, usage, estimated, finishReason })
    assertRecorded(receipt)
    yield [{ type: 'finish', finishReason, usage, estimated, receipt }]
  } catch (error) {
    if (error instanceof ProviderError) opened.reportFailure(deployment.id, error)
    ending = endingOf(error, opened.call.signal)
    throw toAppError(error, opened.call.signal)
  } finally {
    // Also reached when the reader stops iterating: the provider's call ends and what was generated is billed.
    cancel.abort(new AppError('client_closed', 'The answer is no longer read.'))
    if (!settled) await settlePartial(opened, deployment, meter, ending)
  }
}

/** The end of an answer leaves only where its own cost was recorded: another instance may have settled the call meanwhile. */
function assertRecorded({ ending }: Receipt): void {
  if (ending === 'completed') return
  throw new AppError('overloaded', 'The cost of this answer could not be recorded. Send the request again.', {
    retryAfterSeconds: 1,
    internal: `settled elsewhere as ${ending}`,
  })
}

type AnsweredEnding = (Outcome & { kind: 'answered' })['ending']

async function settlePartial(opened: OpenedCall, deployment: Deployment, meter: OutputMeter, ending: AnsweredEnding) {
  const outcome = {
    ending,
    usage: meter.usage() ?? (await estimateUsage(opened, meter)),
    estimated: meter.usage() === null,
    finishReason: null,
  }
  await settleAnswered(opened, deployment, outcome).catch((error: unknown) => {
    // The hold stays open and durable: recovery settles it after a restart.
    opened.log.error({ error: String(error) }, 'a partial answer could not be settled')
  })
}

function settleAnswered(
  { hold }: OpenedCall,
  deployment: Deployment,
  outcome: { ending: AnsweredEnding; usage: BilledUsage; estimated: boolean; finishReason: string | null },
): Promise<Receipt> {
  return hold.settle({
    kind: 'answered',
    deploymentId: deployment.id,
    providerId: deployment.providerId,
    hosting: deployment.hosting,
    ...outcome,
  })
}

/** Settles a call that brought no answer, and returns the error to throw. */
async function settleFailure(opened: OpenedCall, thrown: unknown, signal: AbortSignal): Promise<AppError> {
  const error = toAppError(thrown, signal)
  const { working } = opened
  const ending = endingOf(error, signal)
  // Ended from our side while the provider worked: the provider bills the prompt, so it is billed here too.
  const outcome: Outcome =
    working && (ending === 'client_closed' || ending === 'shutdown')
      ? {
          kind: 'answered',
          ending,
          deploymentId: working.id,
          providerId: working.providerId,
          hosting: working.hosting,
          usage: { ...noUsage, promptTokens: opened.promptTokensEstimate },
          estimated: true,
          finishReason: null,
        }
      : { kind: 'unanswered', reason: error.code }
  await opened.hold.settle(outcome).catch((settleError: unknown) => {
    opened.log.error({ error: String(settleError) }, 'a failed call could not be settled; recovery will')
  })
  return error
}

function toAppError(error: unknown, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error
  if (signal.aborted && signal.reason instanceof AppError) return signal.reason
  return toClientError(error)
}

function endingOf(error: unknown, signal: AbortSignal): AnsweredEnding {
  if (isAppError(error, 'insufficient_quota')) return 'budget_ended'
  if (!signal.aborted) return 'provider_failed'
  return isAppError(signal.reason, 'shutting_down') ? 'shutdown' : 'client_closed'
}

function describe(opened: OpenedCall, deployment: Deployment, adjusted: string[]) {
  return {
    model: opened.model,
    deploymentId: deployment.id,
    hosting: deployment.hosting,
    adjusted: opened.hold.capReduced ? [...adjusted, 'max_completion_tokens'] : adjusted,
  }
}

const noUsage: BilledUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

/** Usage where the provider sent none: prompt and output counted. */
async function countUsage(opened: OpenedCall, output: string): Promise<TokenUsage> {
  return { ...(await countPromptUsage(opened)), completionTokens: await opened.tokens.count([output]) }
}

async function countPromptUsage({ call, tokens }: OpenedCall): Promise<TokenUsage> {
  const { messages } = call.request
  // A separator between two messages.
  const separators = Math.max(0, messages.length - 1)
  return { ...noUsage, promptTokens: separators + (await tokens.count(messages.map((message) => message.content))) }
}

/** Usage of a stream without any: the prompt counted, the output as metered. */
async function estimateUsage(opened: OpenedCall, meter: OutputMeter): Promise<TokenUsage> {
  return { ...(await countPromptUsage(opened)), completionTokens: meter.tokensEstimate() }
}
