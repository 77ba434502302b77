import { JsonText } from '../../platform/bodies/index.ts'
import {
  CallEnd,
  type Clock,
  isAppError,
  type Log,
  type OperationStart,
  type Pseudonyms,
  type Telemetry,
} from '../../platform/kernel/index.ts'
import { assertSubscription, type TokenLimiter } from '../../tenants/organisations/index.ts'
import type { Hold, HoldRequest, Ledger } from '../billing/index.ts'
import type { Catalogue, ResolvedModel } from '../models/index.ts'
import { type Capability, estimateMedia } from '../providers/index.ts'
import type { Router } from '../routing/index.ts'
import type { TokenCounting, TokenEstimate } from '../tokens/index.ts'
import { deploymentsFor, modelNotFound, pricedDeployments } from './find-deployments.ts'
import { type OpenedCall, type ReadOn, tagsOf, toAppError } from './opened-call.ts'
import type { CompletionCall, LaterCall } from './port.ts'
import { estimatePrompt, withRounds } from './prompt-size.ts'

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

export type OpeningDependencies = CompletionsDependencies & { readOn: ReadOn }

/** The call with its hold; a promise only where something waits. Throws AppError, at once or later. */
export function open(dependencies: OpeningDependencies, call: CompletionCall): OpenedCall | Promise<OpenedCall> {
  const { catalogue, clock } = dependencies
  const now = clock.now()
  const openedMs = clock.monotonicMs()
  const found = catalogue.resolve(call.organisation, call.model, now)
  if (!found || found.model.kind !== 'chat') throw modelNotFound(call.model, call.version)
  // Each hosted tool is a need as well.
  const deployments = call.needs
    ? pricedDeployments(deploymentsFor(dependencies, call, found), call, now)
    : found.deployments
  const resolved = { ...found, deployments }
  assertSubscription(call.organisation, now)
  const media = mediaOf(call, resolved)
  const openFor = (prompt: TokenEstimate) => openPrompt(dependencies, call, resolved, { openedMs, prompt, media })
  const { promptEstimate } = call
  return promptEstimate ? openFor(promptEstimate) : estimatePrompt(call.request).then(openFor)
}

interface Sizes {
  openedMs: number
  /** Without media. */
  prompt: TokenEstimate
  media: TokenEstimate | null
}

/** With the hold of a prompt whose size is known. */
function openPrompt(
  dependencies: OpeningDependencies,
  call: CompletionCall,
  resolved: ResolvedModel,
  sizes: Sizes,
): OpenedCall | Promise<OpenedCall> {
  const { ledger, limiter, telemetry } = dependencies
  const { media } = sizes
  const choices = call.request.choices ?? 1
  const prompt = plus(sizes.prompt, media)
  const taken = limiter.takeTokens(call.organisation, prompt.estimate, { refuse: call.surface === 'gateway' })
  const operation = telemetry ? telemetry.operation(operationOf(call, resolved)) : null
  const holdPrompt = (size: TokenEstimate) =>
    ledger.holdAtOnce({
      ...holdFor(call, resolved, withRounds(size, call.request, resolved)),
      outputCapTokens: call.request.maxOutputTokens === undefined ? null : choices * call.request.maxOutputTokens,
      modelMaxOutputTokens: choices * resolved.model.maxOutputTokens,
      // A hold grows with visible output. Hidden reasoning is invisible until it is billed, so the hold covers all of it.
      stream: call.stream && !resolved.deployments.some((deployment) => deployment.wire.reasoning),
      whenExhausted: call.whenExhausted,
      tags: tagsOf(call),
    })
  const refused = (error: unknown): never => {
    taken.correct(0)
    operation?.failed(toAppError(error, call.signal).code)
    throw error
  }
  const withHold = (hold: Hold) => {
    operation?.event('ledger.hold')
    return toOpened(dependencies, call, resolved, { ...sizes, prompt }, { hold, taken, operation })
  }
  let held: Hold | Promise<Hold>
  try {
    held = hasLongText(call.request) ? holdLongText(call, holdPrompt, prompt, media) : holdPrompt(prompt)
  } catch (error) {
    return refused(error)
  }
  return held instanceof Promise ? held.catch(refused).then(withHold) : withHold(held)
}

function toOpened(
  { catalogue, router, tokens, pseudonyms, clock, log, readOn }: OpeningDependencies,
  call: CompletionCall,
  resolved: ResolvedModel,
  { openedMs, prompt, media }: Sizes,
  { hold, taken, operation }: Pick<OpenedCall, 'hold' | 'taken' | 'operation'>,
): OpenedCall {
  const choices = call.request.choices ?? 1
  const maximumTokens = resolved.model.maxOutputTokens
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

export async function keepRoom({ catalogue, ledger, clock }: CompletionsDependencies, call: LaterCall) {
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
