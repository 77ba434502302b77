import { costOf, createLedger, type HoldRequest, type LedgerService } from '../../src/gateway/billing/index.ts'
import {
  answered,
  callOf,
  fixturePrices,
  organisationWith,
  usageOf,
} from '../../src/gateway/billing/testing/ledger-fixture.ts'
import { isAppError, parseAttoUsd, parsePicoUsd, silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import type { Chance } from './random.ts'

const promptTokens = 100
const floorTokens = 128
const comfortableTokens = 1024
const modelMaximum = 16_384
/** Prices of the uses of tools, which the model adds to the tokens. */
const useAttoUsd = parseAttoUsd('0.0003')
const prices = { ...fixturePrices, toolUses: { web_search: useAttoUsd } }
/** What tokens and uses cost, rounded up once. */
const costAt = (output: number, markup: number, uses = 0) => {
  const base = costOf(usageOf(promptTokens, output), fixturePrices, 0).baseAttoUsd + BigInt(uses) * useAttoUsd
  return (base * (10_000n + BigInt(markup)) + 9_999_999_999n) / 10_000_000_000n
}

interface ModelCall {
  hold: Awaited<ReturnType<LedgerService['hold']>>
  heldPicoUsd: bigint
  /** Most uses of tools. */
  most: number
}

/**
 * Compares the ledger with a model of a dozen lines: budget, settled and held amounts. One instance, no waiting, whole answers
 * with a client's cap, so that every decision can be predicted exactly. Throws at the first difference.
 */
export async function runModel(
  database: Database,
  chance: Chance,
  steps: number,
  journalFolder?: string,
): Promise<{ decisions: number }> {
  const journal = journalFolder === undefined ? undefined : { mode: 'local' as const, folder: journalFolder }
  const ledger = await createLedger({ database, clock: systemClock, log: silentLog, holdWaitMs: 0, journal })
  let decisions = 0
  try {
    while (decisions < steps) decisions += await runOrganisation(ledger, chance, Math.min(60, steps - decisions))
    const { findings } = await ledger.audit()
    if (findings.length > 0) throw new Error(`audit: ${JSON.stringify(findings[0])}`)
  } finally {
    await ledger.close()
  }
  return { decisions }
}

async function runOrganisation(ledger: LedgerService, chance: Chance, steps: number): Promise<number> {
  const markupBasisPoints = chance.pick([0, 1, 999, 2500])
  let organisation = organisationWith('0', { markupBasisPoints, timeZone: 'UTC' })
  let budget = 0n
  let settled = 0n
  const calls: ModelCall[] = []
  const held = () => calls.reduce((sum, call) => sum + call.heldPicoUsd, 0n)

  for (let step = 0; step < steps; step += 1) {
    if (step === 0 || chance.happens(0.1)) {
      budget = parsePicoUsd(chance.pick(['0', '0.0011', '0.004', '0.02', '0.1', '0.5']))
      organisation = { ...organisation, monthlyBudgetPicoUsd: budget }
      // The ledger reads a changed budget from the organisation that the caller passes.
      ledger.hasCredit(organisation)
    }
    if (calls.length > 0 && chance.happens(0.45)) {
      const [call] = calls.splice(chance.integer(0, calls.length - 1), 1)
      settled += await settleOne(call!)
    } else {
      const cap = chance.integer(1, 3000)
      const most = chance.pick([0, 0, 1, 5])
      const expected = expectedTokens(budget - settled - held(), cap, budget - settled, most)
      const hold = await tryHold(
        ledger,
        callOf(organisation, {
          outputCapTokens: cap,
          promptTokensBound: promptTokens,
          candidates: [{ deploymentId: 'fixture-deployment', prices: [prices] }],
          ...(most > 0 && { toolUses: [{ kinds: ['web_search'], most }] }),
        }),
      )
      const found = hold === undefined ? undefined : (hold.outputCapTokens ?? modelMaximum)
      if (found !== expected) {
        throw new Error(
          `budget ${budget}, settled ${settled}, held ${held()}: a cap of ${cap} should give ${expected}, gave ${found}`,
        )
      }
      if (hold) calls.push({ hold, heldPicoUsd: costAt(expected!, markupBasisPoints, most), most })
    }
    const state = await ledger.loadBudget(organisation)
    if (state.settledPicoUsd !== settled || state.heldPicoUsd !== held()) {
      throw new Error(
        `the database has ${state.settledPicoUsd} settled and ${state.heldPicoUsd} held; the model ${settled} and ${held()}`,
      )
    }
  }
  for (let call = calls.shift(); call; call = calls.shift()) settled += await settleOne(call)
  return steps

  /** Output tokens that the hold must cover; undefined: 402. */
  function expectedTokens(free: bigint, cap: number, unbilled: bigint, most: number): number | undefined {
    const floor = Math.min(cap, floorTokens)
    if (unbilled <= 0n || costAt(floor, markupBasisPoints, most) > unbilled) return undefined
    const fits = largest(cap, (tokens) => costAt(tokens, markupBasisPoints, most) <= free)
    if (fits >= Math.min(cap, comfortableTokens)) return fits
    return fits >= floor ? fits : undefined
  }

  /** Settles below, at or above the hold and returns what must have been billed. */
  async function settleOne(call: ModelCall): Promise<bigint> {
    const free = budget - settled - held() - call.heldPicoUsd
    const output = chance.integer(0, 3500)
    const unanswered = chance.happens(0.1)
    const uses = chance.integer(0, call.most)
    const cost = unanswered ? 0n : costAt(output, markupBasisPoints, uses)
    const billable = call.heldPicoUsd + (free > 0n ? free : 0n)
    const expected = cost < billable ? cost : billable
    const receipt = await call.hold.settle(
      unanswered
        ? { kind: 'unanswered', reason: 'model' }
        : answered(promptTokens, output, {
            usage: { ...usageOf(promptTokens, output), ...(uses > 0 && { toolUses: { web_search: uses } }) },
          }),
    )
    if (receipt.billedPicoUsd !== expected || receipt.writtenOffPicoUsd !== cost - expected) {
      throw new Error(
        `billed ${receipt.billedPicoUsd} and wrote off ${receipt.writtenOffPicoUsd} of ${cost}; the model bills ${expected}`,
      )
    }
    return expected
  }
}

/** The largest count up to `most` that fits, by bisection; -1 when not even 0 fits. */
function largest(most: number, fits: (count: number) => boolean): number {
  if (!fits(0)) return -1
  let low = 0
  let high = most
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

async function tryHold(ledger: LedgerService, request: HoldRequest) {
  try {
    const hold = await ledger.hold(request)
    await hold.durable
    return hold
  } catch (error) {
    if (isAppError(error, 'insufficient_quota')) return undefined
    throw error
  }
}
