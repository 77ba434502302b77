/** How much is set aside for a call, and which output cap follows from it. Pure. */
import { attoUsdPerPicoUsd } from '../../platform/kernel/index.ts'
import type { HoldRequest } from './port.ts'
import {
  basisPointsPerWhole,
  hourWritePrice,
  type PriceSchedule,
  scheduleInForce,
  withDefaults,
  withMarkup,
} from './prices.ts'

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

export interface HoldPlan {
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
