import { AppError, attoUsdPerPicoUsd, type Clock, type EndSignal } from '../../platform/kernel/index.ts'
import { FencedError } from './instance.store.ts'
import {
  freePicoUsd,
  type Lease,
  nextChange,
  reserve,
  reserveWith,
  roomIn,
  unbilledPicoUsd,
  unleasedPicoUsd,
} from './lease.ts'
import type { Leases } from './leases.ts'
import type { HoldRequest, KeptRoom } from './port.ts'
import {
  basisPointsPerWhole,
  hourWritePrice,
  type PriceSchedule,
  scheduleInForce,
  withDefaults,
  withMarkup,
} from './prices.ts'

/**
 * How much is set aside for a call and which output cap follows from it (pure, up to `shouldGrow`), and how that amount is taken from a lease,
 * with waits for other holds.
 */

/** Initial output tokens of a stream's hold; most answers are shorter. A smaller value costs growth writes, a larger one locks budgets. */
const likelyStreamTokens = 1024
/** The same for whole answers, whose hold cannot grow. Also the output cap under a small, busy budget. */
const likelyWholeTokens = 4096
/** With a cap above this, a call does not wait for other holds. */
const comfortableTokens = 1024
/** A smaller output cap is useless: the call gets a 402 instead. */
const floorTokens = 128
/** A stream's hold starts with at most this fraction of the remaining budget and grows later. */
const streamShare = 16n
/** A whole answer gets a fraction of the remaining budget: one divided by the number of open holds, or by this at most. */
const smallestWholeShare = 16

/** Upper bounds of one deployment's prices, attoUsd per token, whichever class and context step will apply. */
interface PriceBound {
  prompt: bigint
  output: bigint
  /** attoUsd of all uses of tools that the call may cause. */
  uses: bigint
}

export interface CallPricing {
  bounds: readonly PriceBound[]
  markupBasisPoints: number
}

/** Takes the dearest class of every context step that the prompt can reach: the actual usage never costs more per token. */
export function pricingOf(request: HoldRequest, startedAt: number): CallPricing {
  const bounds = request.candidates.map(({ prices }) => {
    const schedule = scheduleInForce(prices, startedAt)
    const reachable = schedule.contextSteps.filter((step) => step.abovePromptTokens < request.promptTokensBound)
    let prompt = 0n
    let output = 0n
    for (const table of [schedule.base, ...reachable.map((step) => step.prices)]) {
      const unit = withDefaults(table)
      prompt = greater(prompt, greater(unit.input, greater(unit.cacheRead, unit.cacheWrite)))
      if (request.writesHourCache) prompt = greater(prompt, hourWritePrice(table))
      output = greater(output, greater(unit.output, unit.reasoning))
    }
    return { prompt, output, uses: usesBound(request, schedule) }
  })
  return { bounds, markupBasisPoints: request.organisation.markupBasisPoints }
}

/** All uses of a bound at the price of its dearest kind. */
function usesBound({ toolUses = [] }: HoldRequest, schedule: PriceSchedule): bigint {
  let sum = 0n
  for (const { kinds, most } of toolUses) {
    let dearest = 0n
    for (const kind of kinds) {
      const price = schedule.toolUses?.[kind]
      if (price === undefined) throw new RangeError(`a use of ${kind} has no price`)
      dearest = greater(dearest, price)
    }
    sum += BigInt(most) * dearest
  }
  return sum
}

/** Upper bound in picoUsd of the cost of this many tokens at any of the call's deployments. */
export function holdCost(pricing: CallPricing, promptTokens: number, outputTokens: number): bigint {
  let cost = 0n
  for (const bound of pricing.bounds) {
    const base = BigInt(promptTokens) * bound.prompt + BigInt(outputTokens) * bound.output + bound.uses
    cost = greater(cost, withMarkup(base, pricing.markupBasisPoints))
  }
  return cost
}

/** Most output tokens, up to `most`, whose holdCost fits in the amount; -1 where not even the prompt fits. */
export function affordableOutput(pricing: CallPricing, promptTokens: number, picoUsd: bigint, most: number): number {
  let tokens = most
  const attoWithoutMarkup =
    (picoUsd * attoUsdPerPicoUsd * basisPointsPerWhole) / (basisPointsPerWhole + BigInt(pricing.markupBasisPoints))
  for (const bound of pricing.bounds) {
    const left = attoWithoutMarkup - BigInt(promptTokens) * bound.prompt - bound.uses
    if (left < 0n) return -1
    if (bound.output > 0n) {
      const fits = left / bound.output
      if (fits < BigInt(tokens)) tokens = Number(fits)
    }
  }
  return tokens
}

interface HoldPlan {
  /** Output tokens that the call can use at most. */
  wantedTokens: number
  /** What to hold where the budget allows. */
  desiredTokens: number
  /** Less than desired, but not worth a wait. */
  comfortableTokens: number
  /** Less is refused. */
  floorTokens: number
}

/**
 * What to hold for a call while `leftPicoUsd` can still be bought. A client's own cap on a whole answer is held in full. A
 * stream starts with its worst case where that is a small part of what is left, and else with a likely size.
 */
export function planHold(request: HoldRequest, pricing: CallPricing, leftPicoUsd: bigint, openHolds: number): HoldPlan {
  const modelMaximum = Math.max(0, request.modelMaxOutputTokens)
  const wantedTokens = Math.min(request.outputCapTokens ?? modelMaximum, modelMaximum)
  return {
    wantedTokens,
    desiredTokens: Math.min(wantedTokens, desiredTokensOf(request, pricing, leftPicoUsd, openHolds, wantedTokens)),
    comfortableTokens: Math.min(wantedTokens, comfortableTokens),
    floorTokens: Math.min(wantedTokens, floorTokens),
  }
}

function desiredTokensOf(
  request: HoldRequest,
  pricing: CallPricing,
  leftPicoUsd: bigint,
  openHolds: number,
  wantedTokens: number,
): number {
  const grows = request.stream && !request.spending
  if (!grows && request.outputCapTokens !== null) return wantedTokens
  const share = grows ? streamShare : BigInt(Math.min(2 + openHolds, smallestWholeShare))
  const bought = affordableOutput(pricing, request.promptTokensBound, leftPicoUsd / share, wantedTokens)
  return Math.max(grows ? likelyStreamTokens : likelyWholeTokens, bought)
}

/** How many tokens a growing hold should cover next: twice what is there, so that a long answer costs few writes. */
export function nextCover(outputTokens: number, coveredTokens: number, wantedTokens: number): number {
  return Math.min(wantedTokens, Math.max(2 * coveredTokens, outputTokens + likelyStreamTokens))
}

/** A hold grows before it is used up, so that the stream does not wait for the write. */
export function shouldGrow(outputTokens: number, coveredTokens: number, wantedTokens: number): boolean {
  return coveredTokens < wantedTokens && outputTokens * 2 > coveredTokens
}

function greater(first: bigint, second: bigint): bigint {
  return first > second ? first : second
}

/** Longest wait of a call that does not fit. Other holds usually settle below their size. */
export const defaultHoldWaitMs = 5_000
/** Most calls of one organisation that wait like this. */
const maximumWaiters = 1_000
/** Longest single wait before the lease is checked again: other instances may have returned some of theirs. */
const checkAgainMs = 300

export interface Reservation {
  /** Already set aside in the lease. */
  amountPicoUsd: bigint
  coveredTokens: number
  /** Output beyond it cannot come: the cap that the provider is sent, or the model's maximum. */
  wantedTokens: number
  outputCapTokens: number | null
  capReduced: boolean
}

export interface ReservationDeps {
  leases: Leases
  clock: Clock
  holdWaitMs: number
}

/** Sets money aside as planned where that needs no wait; undefined: `reserveFor` decides. */
export function reserveAtOnce(
  { leases }: ReservationDeps,
  lease: Lease,
  request: HoldRequest,
  pricing: CallPricing,
): Reservation | undefined {
  if (!leases.isLive(lease) || request.spending) return undefined
  const plan = planNow(lease, request, pricing)
  if (!hasCredit(lease, request, pricing, plan)) return undefined
  const free = freePicoUsd(lease) + roomIn(lease, request.room)
  const fits = affordableOutput(pricing, request.promptTokensBound, free, plan.desiredTokens)
  return fits < plan.desiredTokens ? undefined : take(lease, request, pricing, plan, fits)
}

/**
 * Sets money aside for a call: as much as planned, or, where that does not fit, less with a smaller output cap; waits a bounded time
 * for other holds. The room of the request counts as free for it. Throws `insufficient_quota`.
 */
export async function reserveFor(
  { leases, clock, holdWaitMs }: ReservationDeps,
  lease: Lease,
  request: HoldRequest,
  pricing: CallPricing,
): Promise<Reservation> {
  const deadlineMs = clock.monotonicMs() + holdWaitMs
  await obtainFor(lease, request, pricing)
  for (;;) {
    if (!leases.isLive(lease)) throw new FencedError(lease.instanceId)
    const plan = planWithin(request, pricing, planNow(lease, request, pricing))
    if (!hasCredit(lease, request, pricing, plan)) throw insufficient(lease)
    const kept = roomIn(lease, request.room)
    const fits = affordableOutput(pricing, request.promptTokensBound, freePicoUsd(lease) + kept, plan.desiredTokens)
    if (fits >= plan.desiredTokens) return take(lease, request, pricing, plan, fits)
    if (unleasedPicoUsd(lease) > 0n) {
      await leases.extend(lease, holdCost(pricing, request.promptTokensBound, plan.desiredTokens) - kept)
      continue
    }
    if (fits >= plan.comfortableTokens) return take(lease, request, pricing, plan, fits)
    const mayHelp = lease.heldPicoUsd > kept + roomIn(lease, request.roomOfNext) || lease.othersLeasedPicoUsd > 0n
    const leftMs = deadlineMs - clock.monotonicMs()
    if (!mayHelp || leftMs <= 0 || request.whenExhausted === 'write_off') {
      if (fits >= plan.floorTokens) return take(lease, request, pricing, plan, fits)
      throw insufficient(lease)
    }
    await waitForRoom(leases, clock, lease, Math.min(leftMs, checkAgainMs), request.signal)
  }
}

/** Sets more aside for more output; at least `neededTokens` are covered then. Throws `insufficient_quota`. */
export async function growFor(
  { leases, clock, holdWaitMs }: ReservationDeps,
  lease: Lease,
  pricing: CallPricing,
  held: { promptTokens: number; amountPicoUsd: bigint; roomOfNext: KeptRoom | undefined },
  neededTokens: number,
  signal: EndSignal,
): Promise<bigint> {
  const deadlineMs = clock.monotonicMs() + holdWaitMs
  const extra = holdCost(pricing, held.promptTokens, neededTokens) - held.amountPicoUsd
  for (;;) {
    if (!leases.isLive(lease)) throw new FencedError(lease.instanceId)
    if (extra <= freePicoUsd(lease)) {
      if (extra > 0n) reserve(lease, extra)
      return extra
    }
    if (extra > unbilledPicoUsd(lease)) throw refused(lease)
    if (unleasedPicoUsd(lease) > 0n) {
      await leases.extend(lease, extra)
      continue
    }
    const leftMs = deadlineMs - clock.monotonicMs()
    const own = held.amountPicoUsd + roomIn(lease, held.roomOfNext)
    const mayHelp = lease.heldPicoUsd > own || lease.othersLeasedPicoUsd > 0n
    if (!mayHelp || leftMs <= 0) throw refused(lease)
    await waitForRoom(leases, clock, lease, Math.min(leftMs, checkAgainMs), signal)
  }
}

function planNow(lease: Lease, request: HoldRequest, pricing: CallPricing): HoldPlan {
  const left = freePicoUsd(lease) + roomIn(lease, request.room) + unleasedPicoUsd(lease)
  return planHold(request, pricing, left, lease.openHolds)
}

/** Output of one call that a limit is charged for in advance. The call's output cap is no higher. */
const limitedTokens = 8_192

/** Makes the limit of a call grant what the call likely needs. */
async function obtainFor(lease: Lease, request: HoldRequest, pricing: CallPricing): Promise<void> {
  const { spending, room, promptTokensBound } = request
  if (!spending) return
  const tokens = Math.min(planNow(lease, request, pricing).desiredTokens, limitedTokens)
  const amount = holdCost(pricing, promptTokensBound, tokens) - (room?.amountPicoUsd ?? 0n)
  if (amount > spending.freePicoUsd) await spending.obtain(amount)
}

/** The plan with no more output than the limit of the call covers. Throws `insufficient_quota`. */
function planWithin(request: HoldRequest, pricing: CallPricing, plan: HoldPlan): HoldPlan {
  const { spending, room, promptTokensBound } = request
  if (!spending) return plan
  const free = spending.freePicoUsd + (room?.amountPicoUsd ?? 0n)
  const most = Math.min(plan.desiredTokens, limitedTokens)
  const desiredTokens = affordableOutput(pricing, promptTokensBound, free, most)
  if (desiredTokens < plan.floorTokens)
    throw new AppError('insufficient_quota', 'The spending limit of this chat does not cover this request.')
  return { ...plan, desiredTokens, comfortableTokens: Math.min(plan.comfortableTokens, desiredTokens) }
}

/** Exhausted credits refuse every call, also one to a model that costs nothing: see docs/decisions/0025-zero-overrun.md. */
function hasCredit(lease: Lease, request: HoldRequest, pricing: CallPricing, plan: HoldPlan): boolean {
  const unbilled = unbilledPicoUsd(lease)
  return unbilled > 0n && holdCost(pricing, request.promptTokensBound, plan.floorTokens) <= unbilled
}

function take(
  lease: Lease,
  request: HoldRequest,
  pricing: CallPricing,
  plan: HoldPlan,
  coveredTokens: number,
): Reservation {
  const capTokens =
    request.stream && !request.spending
      ? streamCap(lease, request, pricing, plan, coveredTokens)
      : cappedBy(plan, coveredTokens)
  const amountPicoUsd = holdCost(pricing, request.promptTokensBound, coveredTokens)
  reserveWith(lease, amountPicoUsd, request)
  return {
    amountPicoUsd,
    coveredTokens,
    wantedTokens: capTokens ?? plan.wantedTokens,
    outputCapTokens: capTokens ?? request.outputCapTokens,
    capReduced: capTokens !== null,
  }
}

/** A whole answer cannot grow: the provider gets exactly what is held. null: as the client asked. */
function cappedBy(plan: HoldPlan, coveredTokens: number): number | null {
  return coveredTokens < plan.wantedTokens ? coveredTokens : null
}

/** A stream may grow while budget is left, so the cap is what the whole remaining budget buys. */
function streamCap(
  lease: Lease,
  request: HoldRequest,
  pricing: CallPricing,
  plan: HoldPlan,
  coveredTokens: number,
): number | null {
  const left = freePicoUsd(lease) + roomIn(lease, request.room) + unleasedPicoUsd(lease) + lease.othersLeasedPicoUsd
  const buys = affordableOutput(pricing, request.promptTokensBound, left, plan.wantedTokens)
  return cappedBy(plan, Math.max(buys, coveredTokens))
}

async function waitForRoom(leases: Leases, clock: Clock, lease: Lease, ms: number, signal: EndSignal) {
  if (lease.waiters.size >= maximumWaiters) {
    throw new AppError('overloaded', 'Too many calls wait for this budget. Try again shortly.', {
      retryAfterSeconds: 1,
    })
  }
  // Listens first: room may become free during the request.
  const change = nextChange(lease, (done) => clock.sleep(ms, done), signal)
  await Promise.all([change, leases.requestRoom(lease)])
}

/** A call was refused: the thresholds of the budget are checked. */
export function noteRefusal(lease: Lease): void {
  lease.refused = true
  lease.dirty = true
}

function refused(lease: Lease): AppError {
  noteRefusal(lease)
  return insufficient(lease)
}

function insufficient(lease: Lease): AppError {
  const resets = new Date(lease.period.endsAt).toISOString()
  return new AppError(
    'insufficient_quota',
    `The organisation's AI budget does not cover this request. Raise the monthly budget, lower max_completion_tokens or ` +
      `shorten the prompt; the budget resets at ${resets}.`,
  )
}
