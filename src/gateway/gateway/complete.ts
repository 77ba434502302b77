import type { Hold, HoldRequest, Ledger, Outcome } from '../billing/index.ts'
import { JsonText } from '../../platform/bodies/index.ts'
import {
  type AppError,
  CallEnd,
  type Clock,
  isAppError,
  type Log,
  noUsage,
  type OperationStart,
  type Pseudonyms,
  raceSignal,
  type Telemetry,
  withDeadline,
} from '../../platform/kernel/index.ts'
import type { Catalogue, Deployment, ResolvedModel } from '../models/index.ts'
import type { Router } from '../routing/index.ts'
import { assertSubscription, type TokenLimiter } from '../../tenants/organisations/index.ts'
import {
  type Capability,
  estimateMedia,
  type Provider,
  type ProviderAnswer,
  type ProviderCall,
} from '../providers/index.ts'
import type { TokenCounting, TokenEstimate } from '../tokens/index.ts'
import { estimatePrompt, withRounds } from './prompt-size.ts'
import { exceedsCalls, findMismatch, tooManyCalls } from './check-answer.ts'
import { deploymentsFor, modelNotFound, pricedDeployments } from './find-deployments.ts'
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
  type ReadOn,
  settleAnswered,
  settleLater,
  settleUnanswered,
  tagsOf,
  toAppError,
  usageByTime,
} from './opened-call.ts'
import type { CompletionCall, Completions, LaterCall, StreamedCompletion, WholeCompletion } from './port.ts'
import { readOnUnread, relay } from './relay.ts'

export interface CompletionsDependencies {
  catalogue: Catalogue
  router: Router
  ledger: Ledger
  tokens: TokenCounting
  /** Tokens per minute of the organisations. */
  limiter: TokenLimiter
  /** Providers receive no user names. */
  pseudonyms: Pseudonyms
  /** null or absent: calls are not traced. */
  telemetry?: Telemetry | null
  clock: Clock
  log: Log
}

/** How long a failed call waits for its settlement, so that its receipt is there when the client reads the error. */
const settleWaitMs = 1_000

/**
 * All completions, of the gateway and of Space chat: model → subscription → hold → provider → settle. The hold is
 * written while the provider works. No byte leaves before the hold is durable, and no answer ends before its cost is. Every failure is an AppError. The hold is settled once, however the call ends.
 */
export function createCompletions(dependencies: CompletionsDependencies): Completions {
  const readOn = createReadOn(dependencies)
  const opening = { ...dependencies, readOn }

  /** A call that is refused here has no entry in the ledger, so it is counted apart. */
  function refuse(call: CompletionCall, error: unknown): never {
    noteRefused(dependencies, call, toAppError(error, call.signal))
    throw error
  }

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
      const opened = await open(opening, call).catch((error: unknown) => refuse(call, error))
      const answering = run(opened, false, (provider, providerCall) => provider.complete(providerCall))
      let whole: WholeCompletion
      try {
        const { value: answer, deployment } = await raceSignal(answering, call.signal)
        whole = await settleWhole(opened, answer, deployment)
      } catch (error) {
        if (hasLeft(opened) && readOnWhole(opened, answering)) throw toAppError(error, call.signal)
        throw await settleFailure(opened, error)
      }
      if (exceedsCalls(call.needs, answersOf(whole))) throw tooManyCalls(call.needs)
      return whole
    },
    async stream(call) {
      const opened = await open(opening, call).catch((error: unknown) => refuse(call, error))
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

export function noteRefused(
  { ledger, catalogue, clock }: Pick<CompletionsDependencies, 'ledger' | 'catalogue' | 'clock'>,
  { organisation, surface, model }: Pick<CompletionCall, 'organisation' | 'surface' | 'model'>,
  { code }: AppError,
): void {
  if (code === 'client_closed') return
  const resolved = catalogue.resolve(organisation, model, clock.now())
  ledger.noteRefused({ organisationId: organisation.id, surface, model: resolved?.model.id ?? null, code })
}

async function open(
  dependencies: CompletionsDependencies & { readOn: ReadOn },
  call: CompletionCall,
): Promise<OpenedCall> {
  const { catalogue, router, ledger, tokens, limiter, pseudonyms, telemetry, clock, log, readOn } = dependencies
  const now = clock.now()
  const openedMs = clock.monotonicMs()
  const found = catalogue.resolve(call.organisation, call.model, now)
  if (!found || found.model.kind !== 'chat') throw modelNotFound(call.model, call.version)
  const deployments = pricedDeployments(deploymentsFor(dependencies, call, found), call, now)
  const resolved = { ...found, deployments }
  assertSubscription(call.organisation, now)
  const choices = call.request.choices ?? 1
  const maximumTokens = resolved.model.maxOutputTokens
  const media = mediaOf(call, resolved)
  const prompt = plus(call.promptEstimate ?? (await estimatePrompt(call.request)), media)
  const taken = limiter.takeTokens(call.organisation, prompt.estimate, { refuse: call.surface === 'gateway' })
  const operation = telemetry ? telemetry.operation(operationOf(call, resolved)) : null
  const holdPrompt = (size: TokenEstimate) =>
    ledger.holdAtOnce({
      ...holdFor(call, resolved, withRounds(size, call.request, resolved)),
      outputCapTokens: call.request.maxOutputTokens === undefined ? null : choices * call.request.maxOutputTokens,
      modelMaxOutputTokens: choices * maximumTokens,
      // A hold grows with visible output. Hidden reasoning is invisible until it is billed, so the hold covers all of it.
      stream: call.stream && !resolved.deployments.some((deployment) => deployment.wire.reasoning),
      whenExhausted: call.whenExhausted,
      tags: tagsOf(call),
    })
  let hold: Hold
  try {
    const held = hasLongText(call.request) ? holdLongText(call, holdPrompt, prompt, media) : holdPrompt(prompt)
    hold = held instanceof Promise ? await held : held
  } catch (error) {
    taken.correct(0)
    operation?.failed(toAppError(error, call.signal).code)
    throw error
  }
  operation?.event('ledger.hold')
  const work = new CallEnd()
  // Nothing may be shown without the hold, so the provider's call ends. The rejection is also handled where `durable` is awaited.
  hold.durable.catch((error: unknown) => work.abort(error))
  const request = { ...call.request }
  if (request.user !== undefined) request.user = pseudonyms(call.organisation.id, request.user)
  // The cap of a provider is that of each choice.
  if (hold.outputCapTokens !== null) request.maxOutputTokens = Math.max(1, Math.floor(hold.outputCapTokens / choices))
  return {
    call,
    model: resolved.model.id,
    deployments: resolved.deployments,
    provider: catalogue.provider,
    router,
    hold,
    taken,
    operation,
    openedMs,
    work,
    working: null,
    request,
    promptTokensEstimate: prompt.estimate,
    mediaTokensEstimate: media?.estimate ?? 0,
    outputTokensBound:
      hold.outputCapTokens ?? choices * Math.min(call.request.maxOutputTokens ?? Infinity, maximumTokens),
    readOn,
    tokens,
    clock,
    log,
  }
}

/** The bound of a long text and of tools is their bytes. A budget that is too small for them may be enough for the words in it. */
async function holdLongText(
  { request }: CompletionCall,
  holdPrompt: (size: TokenEstimate) => Hold | Promise<Hold>,
  prompt: TokenEstimate,
  media: TokenEstimate | null,
): Promise<Hold> {
  try {
    return await holdPrompt(prompt)
  } catch (error) {
    if (!isAppError(error, 'insufficient_quota')) throw error
    return holdPrompt(plus(await estimatePrompt(request), media))
  }
}

/** What images, files and audio take at the deployment that bills most for them; null without any. */
function mediaOf({ needs, request }: CompletionCall, { model, deployments }: ResolvedModel): TokenEstimate | null {
  if (!needs || !mediaCapabilities.some((capability) => needs.capabilities.has(capability))) return null
  const sizes = deployments.map(({ wire }) => estimateMedia(request.messages, wire, model.contextTokens))
  return {
    estimate: Math.max(...sizes.map(({ estimate }) => estimate)),
    bound: Math.max(...sizes.map(({ bound }) => bound)),
  }
}

const mediaCapabilities: readonly Capability[] = ['images', 'files', 'audio']

function plus(size: TokenEstimate, more: TokenEstimate | null): TokenEstimate {
  return more ? { estimate: size.estimate + more.estimate, bound: size.bound + more.bound } : size
}

const hasLongText = ({ messages, tools, responseFormat }: CompletionCall['request']) =>
  tools !== undefined || responseFormat !== undefined || messages.some(({ content }) => content instanceof JsonText)

function operationOf(
  { request, surface, stream, requestId }: CompletionCall,
  { model }: ResolvedModel,
): OperationStart {
  const { maxOutputTokens, temperature, topP } = request
  return { kind: 'chat', model: model.id, surface, stream, requestId, maxOutputTokens, temperature, topP }
}

/** What a hold and a room have in common. */
function holdFor(
  {
    requestId,
    organisation,
    surface,
    spaceId,
    request,
    room,
    roomOfNext,
    spending,
    signal,
  }: Omit<CompletionCall, 'stream'>,
  { model, deployments }: ResolvedModel,
  prompt: TokenEstimate,
) {
  return {
    requestId,
    organisation,
    surface,
    spaceId,
    model: model.id,
    candidates: deployments.map(({ id, prices }) => ({ deploymentId: id, prices })),
    promptTokensBound: prompt.bound,
    promptTokensEstimate: prompt.estimate,
    modelMaxOutputTokens: model.maxOutputTokens,
    ...(request.writesHourCache && { writesHourCache: true }),
    ...(request.hostedLimits && { toolUses: request.hostedLimits.uses }),
    room,
    roomOfNext,
    spending,
    signal,
  } satisfies Partial<HoldRequest>
}

/** Output tokens of a later call that money is set aside for: a long answer. The call itself takes more where the budget has it. */
const roomOutputTokens = 1_024

async function keepRoom({ catalogue, ledger, clock }: CompletionsDependencies, call: LaterCall) {
  const resolved = catalogue.resolve(call.organisation, call.model, clock.now())
  if (!resolved || resolved.model.kind !== 'chat') throw modelNotFound(call.model, call.version)
  const prompt = await estimatePrompt(call.request)
  const { furtherPromptTokens } = call
  try {
    return await ledger.keepRoom({
      ...holdFor(call, resolved, {
        bound: prompt.bound + furtherPromptTokens,
        estimate: prompt.estimate + furtherPromptTokens,
      }),
      outputCapTokens: Math.min(call.request.maxOutputTokens ?? roomOutputTokens, roomOutputTokens),
      stream: false,
    })
  } catch (error) {
    if (isAppError(error, 'insufficient_quota')) return null
    throw error
  }
}

async function settleWhole(
  opened: OpenedCall,
  answer: ProviderAnswer,
  deployment: Deployment,
): Promise<WholeCompletion> {
  const counted = countAnswer(opened, answer)
  const usage = counted instanceof Promise ? await counted : counted
  measureRate(opened, usage)
  const mismatch = findMismatch(opened.request, answersOf(answer))
  const isExceeded = exceedsCalls(opened.call.needs, answersOf(answer))
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
