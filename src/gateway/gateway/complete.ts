import type { Outcome } from '../billing/index.ts'
import { type AppError, noUsage, raceSignal, withDeadline } from '../../platform/kernel/index.ts'
import type { Deployment } from '../models/index.ts'
import type { Provider, ProviderAnswer, ProviderCall } from '../providers/index.ts'
import { type CompletionsDependencies, keepRoom, open, type OpeningDependencies } from './open-call.ts'
import { exceedsCalls, findMismatch, readOnUnread, relay, tooManyCalls } from './relay.ts'
import {
  assertRecorded,
  attemptsOf,
  completeUsage,
  countUsage,
  createReadOn,
  describe,
  endingOf,
  hasLeft,
  isCounted,
  measureRate,
  type OpenedCall,
  settleAnswered,
  settleLater,
  settleUnanswered,
  toAppError,
  usageByTime,
} from './opened-call.ts'
import type { CompletionCall, Completions, StreamedCompletion, WholeCompletion } from './port.ts'

/** How long a failed call waits for its settlement, so that its receipt is there when the client reads the error. */
const settleWaitMs = 1_000

/**
 * All completions, of the gateway and of Space chat: model → subscription → hold → provider → settle. The hold is
 * written while the provider works. No byte leaves before the hold is durable, and no answer ends before its cost is. Every failure is an AppError. The hold is settled once, however the call ends.
 */
export function createCompletions(dependencies: CompletionsDependencies): Completions {
  const readOn = createReadOn(dependencies)
  const opening = { ...dependencies, readOn }

  /** The first answer of the call's deployments; ended by `opened.work`, not by the client. */
  function run<T>(opened: OpenedCall, streamed: boolean, send: (provider: Provider, call: ProviderCall) => Promise<T>) {
    const { call, request } = opened
    return dependencies.router.run(
      {
        candidates: opened.deployments,
        signal: opened.work,
        streamed,
        attempting: attemptsOf(opened.operation, opened.provider),
        onFailed() {
          if (!opened.work.aborted) opened.working = null
        },
      },
      (candidate, signal, span) => {
        // No further attempt for a client that has left.
        call.signal.throwIfAborted()
        opened.working = { deployment: candidate, sinceMs: opened.clock.monotonicMs() }
        return send(opened.provider(candidate), {
          model: candidate.wire,
          request,
          signal,
          tenant: call.organisation.id,
          deployment: candidate.id,
          requestId: call.requestId,
          traceparent: span?.traceparent,
        })
      },
    )
  }

  return {
    async complete(call) {
      const begun = begin(opening, call)
      const opened = begun instanceof Promise ? await begun : begun
      const answering = run(opened, false, (provider, providerCall) => provider.complete(providerCall))
      let whole: WholeCompletion
      try {
        const { value: answer, deployment } = await raceSignal(answering, call.signal)
        whole = await settleWhole(opened, answer, deployment)
      } catch (error) {
        if (hasLeft(opened) && readOnWhole(opened, answering)) throw toAppError(error, call.signal)
        throw await settleFailure(opened, error)
      }
      if (call.needs && exceedsCalls(call.needs, answersOf(whole))) throw tooManyCalls(call.needs)
      return whole
    },
    async stream(call) {
      const begun = begin(opening, call)
      const opened = begun instanceof Promise ? await begun : begun
      const answering = run(opened, true, (provider, providerCall) => provider.stream(providerCall))
      try {
        const { value: stream, deployment } = await raceSignal(answering, call.signal)
        await opened.hold.makeDurable()
        opened.operation?.event('ledger.hold_durable')
        // A client that has left never starts to read, and only a relay that was started settles its hold.
        call.signal.throwIfAborted()
        return {
          ...describe(opened, deployment, stream.adjusted),
          events: relay(opened, stream, deployment),
        } satisfies StreamedCompletion
      } catch (error) {
        if (hasLeft(opened) && readOnUnread(opened, answering)) throw toAppError(error, call.signal)
        throw await settleFailure(opened, error)
      }
    },
    keepRoom: (call) => keepRoom(dependencies, call),
    close: () => readOn.close(),
  }
}

/** A call that is refused here has no entry in the ledger, so it is counted apart. */
function begin(dependencies: OpeningDependencies, call: CompletionCall): OpenedCall | Promise<OpenedCall> {
  const refuse = (error: unknown): never => {
    noteRefused(dependencies, call, toAppError(error, call.signal))
    throw error
  }
  try {
    const opened = open(dependencies, call)
    return opened instanceof Promise ? opened.catch(refuse) : opened
  } catch (error) {
    return refuse(error)
  }
}

export function noteRefused(
  { ledger, catalogue, clock }: Pick<CompletionsDependencies, 'ledger' | 'catalogue' | 'clock'>,
  { organisation, surface, model }: Pick<CompletionCall, 'organisation' | 'surface' | 'model'>,
  { code }: AppError,
): void {
  if (code === 'client_closed') return
  const resolved = catalogue.resolve(organisation, model, clock.now())
  ledger.noteRefused({ organisationId: organisation.id, surface, model: resolved?.model.id ?? null, code })
}

async function settleWhole(
  opened: OpenedCall,
  answer: ProviderAnswer,
  deployment: Deployment,
): Promise<WholeCompletion> {
  const counted = countAnswer(opened, answer)
  const usage = counted instanceof Promise ? await counted : counted
  measureRate(opened, usage)
  const { needs } = opened.call
  // A format of the answer is a need as well.
  const mismatch = needs ? findMismatch(opened.request, answersOf(answer)) : null
  const isExceeded = needs !== undefined && exceedsCalls(needs, answersOf(answer))
  const settling = settleAnswered(opened, deployment, {
    ending: isExceeded ? 'provider_failed' : 'completed',
    usage,
    estimated: !isCounted(answer.usage),
    finishReason: answer.finishReason,
    schemaMismatch: mismatch?.keyword ?? null,
  })
  settling.catch(() => {})
  // Both share a flush where the provider was fast. A hold that could not be written names the reason.
  await opened.hold.durable
  opened.operation?.event('ledger.hold_durable')
  const receipt = await settling
  if (!isExceeded) assertRecorded(receipt)
  return {
    ...describe(opened, deployment, answer.adjusted),
    text: answer.text,
    refusal: answer.refusal,
    reasoningText: answer.reasoningText,
    toolCalls: answer.toolCalls,
    citations: answer.citations ?? [],
    mismatch,
    ...(answer.replay && { replay: answer.replay }),
    ...(answer.native && { native: answer.native }),
    ...(answer.hostedItems && { hostedItems: answer.hostedItems }),
    ...(answer.logprobs && { logprobs: answer.logprobs }),
    ...(answer.furtherChoices && { furtherChoices: answer.furtherChoices }),
    finishReason: answer.finishReason,
    usage,
    receipt,
  }
}

type Choice = Pick<ProviderAnswer, 'text' | 'finishReason' | 'toolCalls'>

const answersOf = (answer: Choice & { furtherChoices?: Choice[] }): Choice[] => [
  answer,
  ...(answer.furtherChoices ?? []),
]

function countAnswer(opened: OpenedCall, { usage, text, reasoningText, refusal }: ProviderAnswer) {
  return usage ? completeUsage(opened, usage) : countUsage(opened, text + reasoningText + (refusal ?? ''))
}

/**
 * The provider bills hidden reasoning that the gateway has not seen: the gateway reads on for a while to bill the exact cost.
 * False: the provider's call ends with its client, because nothing is hidden, no provider works or too many answers are awaited.
 */
function readOnWhole(
  opened: OpenedCall,
  answering: Promise<{ value: ProviderAnswer; deployment: Deployment }>,
): boolean {
  if (!opened.working?.deployment.wire.reasoning) return false
  return opened.readOn.start(opened.call.organisation.id, async (signal) => {
    try {
      const { value: answer, deployment } = await raceSignal(answering, signal)
      const usage = await countAnswer(opened, answer)
      const { finishReason } = answer
      const estimated = !isCounted(answer.usage)
      await settleLater(opened, deployment, { ending: 'client_closed', usage, estimated, finishReason })
    } catch (error) {
      await settleFailure(opened, error)
    }
  })
}

/** Settles a call that brought no answer, and returns the error to throw. */
async function settleFailure(opened: OpenedCall, thrown: unknown): Promise<AppError> {
  const { call, work } = opened
  const error = toAppError(thrown, call.signal)
  work.abort(error)
  const ending = endingOf(error, call.signal)
  const outcome = abandonedOutcome(opened, ending)
  const settling = outcome ? settleLater(opened, ...outcome) : settleUnanswered(opened, error.code)
  // While the database is unavailable, the client still gets its error.
  await withDeadline(settleWaitMs, () => settling).catch(() => {})
  return error
}

/** Ended by the gateway while the provider worked: bills at least the prompt, and an estimate of unseen output. */
function abandonedOutcome(
  opened: OpenedCall,
  ending: (Outcome & { kind: 'answered' })['ending'],
): [Deployment, Parameters<typeof settleLater>[2]] | undefined {
  const { working } = opened
  if (!working || (ending !== 'client_closed' && ending !== 'shutdown')) return undefined
  const prompt = { ...noUsage, promptTokens: opened.promptTokensEstimate }
  const isHidden = ending === 'client_closed' && working.deployment.wire.reasoning
  const usage = isHidden ? usageByTime(opened, prompt, 0) : prompt
  return [working.deployment, { ending, usage, estimated: true, finishReason: null }]
}
