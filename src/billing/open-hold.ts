import { AppError, describeError, type InstanceId, type Log, type RequestId } from '../kernel/index.ts'
import { type Lease, bill, freePicoUsd, release, unbill, unleasedPicoUsd } from './lease.ts'
import { affordableOutput, type CallPricing, nextCover, shouldGrow } from './hold-size.ts'
import type { Entry } from './ledger.store.ts'
import { type LedgerWriter, type SettleResult, unavailable } from './ledger-writer.ts'
import type { Hold, HoldRequest, Outcome, Receipt } from './port.ts'
import { clampUsage, costOf, displayedBaseCost, scheduleInForce, unitPricesAt } from './prices.ts'
import { statedCost, storableUsage } from './stated-cost.ts'
import { growFor, type Reservation, type ReservationDeps } from './reservation.ts'

/** A hold in memory, with what the ledger itself needs of it. */
export interface OpenHold extends Hold {
  readonly instanceId: InstanceId
  /** Output known by now that the database has not been told; undefined when there is nothing new. */
  takeProgress(): { requestId: RequestId; outputTokens: number } | undefined
  /** Another instance has settled it: no more output may be shown. */
  revoke(): void
  /** What recovery would bill: for a shutdown with calls in flight. */
  settleByPolicy(ending: 'shutdown'): Promise<Receipt>
}

export interface OpenHoldDeps {
  reservation: ReservationDeps
  writer: LedgerWriter
  log: Log
  now(): number
  /** Called once, when the hold is over. */
  onSettled(receipt: Receipt): void
  /** Called once when the settlement is in the database; a hold that could not be settled stays open. */
  onClosed(): void
}

/** Money has been reserved already; this writes the hold and follows it to its settlement. */
export function openHold(
  deps: OpenHoldDeps,
  lease: Lease,
  request: HoldRequest,
  pricing: CallPricing,
  reserved: Reservation | 'write_off',
  startedAt: number,
): OpenHold {
  const { writer, log } = deps
  const { instanceId } = lease
  const first = scheduleInForce(request.candidates[0]!.prices, startedAt)
  const wantedTokens = reserved === 'write_off' ? 0 : reserved.wantedTokens
  let amountPicoUsd = reserved === 'write_off' ? 0n : reserved.amountPicoUsd
  let coveredTokens = reserved === 'write_off' ? 0 : reserved.coveredTokens
  let outputTokens = 0
  let writtenOutputTokens = 0
  let growth: Promise<void> | undefined
  let settlement: Promise<Receipt> | undefined
  let isRevoked = false
  const settled = new AbortController()

  lease.openHolds += 1
  const durable = writer.open(instanceId, openingRow(lease, request, first, amountPicoUsd, startedAt))
  // Whatever became of the row, nothing may be shown: the money goes back, and a row that was written after all goes away.
  durable.catch(() => void settle({ kind: 'unanswered', reason: 'the hold could not be written' }).catch(() => {}))

  function grant(boundTokens: number, estimateTokens = boundTokens): true | Promise<void> {
    if (isRevoked) return Promise.reject(unavailable())
    const tokens = Math.min(boundTokens, wantedTokens)
    if (tokens > coveredTokens && !settlement) return cover(tokens).then(() => note(estimateTokens))
    note(estimateTokens)
    if (!growth && !settlement && shouldGrow(tokens, coveredTokens, wantedTokens)) growAhead(tokens)
    return true
  }

  /** What a crash bills: only output that may be shown. */
  function note(tokens: number): void {
    if (tokens > outputTokens) outputTokens = Math.ceil(tokens)
  }

  /** Growth before it is needed: from what is free at hand only, and never more than a quarter of it. */
  function growAhead(tokens: number): void {
    const target = stepWithin(freePicoUsd(lease) / 4n, tokens)
    if (target > coveredTokens) grow(target).catch(() => {})
  }

  async function cover(tokens: number): Promise<void> {
    while (tokens > coveredTokens) {
      if (settlement) return
      if (growth) await growth.catch(() => {})
      else await grow(Math.max(tokens, stepWithin(freePicoUsd(lease) / 4n, tokens)))
    }
  }

  /** As far as a next step may go without taking more than this. */
  function stepWithin(picoUsd: bigint, tokens: number): number {
    const target = nextCover(tokens, coveredTokens, wantedTokens)
    return affordableOutput(pricing, request.promptTokensBound, amountPicoUsd + picoUsd, target)
  }

  function grow(targetTokens: number): Promise<void> {
    growth = (async () => {
      const held = { promptTokens: request.promptTokensBound, amountPicoUsd }
      const extra = await growFor(deps.reservation, lease, pricing, held, targetTokens, settled.signal).catch(
        (error: unknown) => {
          // Settled by another instance, or the database does not answer: it cannot grow now.
          throw error instanceof AppError || settled.signal.aborted ? error : unavailable(error)
        },
      )
      if (settlement) return release(lease, extra)
      amountPicoUsd += extra > 0n ? extra : 0n
      try {
        await writer.change(instanceId, { requestId: request.requestId, amountPicoUsd, outputTokens })
      } catch (error) {
        // The database may or may not have it; the money stays in the hold until the settlement either way.
        log.warn({ requestId: request.requestId, error: describeError(error) }, 'a hold could not grow')
        throw error
      }
      coveredTokens = Math.max(coveredTokens, targetTokens)
    })().finally(() => {
      growth = undefined
    })
    return growth
  }

  function settle(outcome: Outcome): Promise<Receipt> {
    settlement ??= write(outcome)
    return settlement
  }

  async function write(outcome: Outcome): Promise<Receipt> {
    settled.abort(new Error('the call is over'))
    const entry = entryOf(lease, request, outcome, startedAt, deps.now())
    const costPicoUsd = entry.billedPicoUsd
    const spare =
      costPicoUsd > amountPicoUsd && reserved !== 'write_off' ? await claim(costPicoUsd - amountPicoUsd) : 0n
    const billable = amountPicoUsd + spare
    entry.billedPicoUsd = costPicoUsd < billable ? costPicoUsd : billable
    entry.writtenOffPicoUsd = costPicoUsd - entry.billedPicoUsd
    const heldPicoUsd = billable
    bill(lease, heldPicoUsd, entry.billedPicoUsd)
    let result: SettleResult
    try {
      result = await writer.settle(instanceId, entry)
    } catch (error) {
      // The row is still open in the database: keep its money set aside, so that nobody spends it twice.
      unbill(lease, entry.billedPicoUsd)
      lease.heldPicoUsd += heldPicoUsd
      throw error
    } finally {
      lease.openHolds -= 1
    }
    deps.onClosed()
    const { statedAttoUsd: _, ...written } = entry
    const receipt = receiptAfter(result, written)
    deps.onSettled(receipt)
    return receipt
  }

  /** A bill above the hold, which a provider that ignores its cap can cause, takes what is free; the rest is written off. */
  async function claim(missing: bigint): Promise<bigint> {
    if (freePicoUsd(lease) < missing && unleasedPicoUsd(lease) > 0n) {
      await deps.reservation.leases.extend(lease, missing).catch(() => {})
    }
    const free = freePicoUsd(lease)
    const claimed = missing < free ? missing : free
    lease.heldPicoUsd += claimed
    return claimed
  }

  function receiptAfter(result: SettleResult, written: Receipt): Receipt {
    if (result.kind === 'entered') return written
    unbill(lease, written.billedPicoUsd)
    if (result.kind === 'existing') return result.receipt
    // The hold is not in the database: it never became durable, or the database has lost what it had acknowledged.
    const lost = written.billedPicoUsd + written.writtenOffPicoUsd
    if (lost > 0n) log.error({ requestId: request.requestId }, 'an answer without a durable hold was not billed')
    return { ...written, ending: 'unanswered', billedPicoUsd: 0n, writtenOffPicoUsd: lost }
  }

  return {
    instanceId,
    requestId: request.requestId,
    durable,
    outputCapTokens: reserved === 'write_off' ? request.outputCapTokens : reserved.outputCapTokens,
    capReduced: reserved !== 'write_off' && reserved.capReduced,
    grant,
    settle,
    revoke() {
      isRevoked = true
      // A wait for growth ends as well.
      settled.abort(unavailable())
    },
    takeProgress() {
      if (settlement || outputTokens === writtenOutputTokens) return undefined
      writtenOutputTokens = outputTokens
      return { requestId: request.requestId, outputTokens }
    },
    settleByPolicy(ending) {
      return settle({
        kind: 'answered',
        ending,
        deploymentId: request.candidates[0]!.deploymentId,
        providerId: '',
        hosting: '',
        usage: { ...noUsage, promptTokens: request.promptTokensEstimate, completionTokens: outputTokens },
        estimated: true,
        finishReason: null,
      })
    },
  }
}

const noUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

function openingRow(
  lease: Lease,
  request: HoldRequest,
  schedule: ReturnType<typeof scheduleInForce>,
  amountPicoUsd: bigint,
  startedAt: number,
) {
  const promptTokens = clampUsage({ ...noUsage, promptTokens: request.promptTokensEstimate }).promptTokens
  const prices = unitPricesAt(schedule, promptTokens)
  return {
    requestId: request.requestId,
    organisationId: lease.organisationId,
    period: lease.period.name,
    amountPicoUsd,
    surface: request.surface,
    spaceId: request.spaceId,
    model: request.model,
    startedAt,
    promptTokens,
    outputTokens: 0,
    inputAttoUsd: prices.input,
    outputAttoUsd: prices.output,
    priceSource: schedule.source,
    markupBasisPoints: request.organisation.markupBasisPoints,
  }
}

/** The entry with its full cost as billed; the caller cuts it to what is held. */
function entryOf(lease: Lease, request: HoldRequest, outcome: Outcome, startedAt: number, settledAt: number): Entry {
  const answered = outcome.kind === 'answered' ? outcome : undefined
  const candidate =
    request.candidates.find(({ deploymentId }) => deploymentId === answered?.deploymentId) ?? request.candidates[0]!
  const schedule = scheduleInForce(candidate.prices, startedAt)
  const usage = clampUsage(answered?.usage ?? noUsage)
  const stated = answered?.usage.stated
  const { statedAttoUsd, costBasis } = statedCost(stated, schedule)
  const { markupBasisPoints } = request.organisation
  const cost = costOf(usage, schedule, markupBasisPoints, statedAttoUsd)
  return {
    requestId: request.requestId,
    organisationId: lease.organisationId,
    surface: request.surface,
    spaceId: request.spaceId,
    model: request.model,
    deploymentId: answered?.deploymentId ?? null,
    providerId: answered?.providerId || null,
    hosting: answered?.hosting || null,
    startedAt,
    settledAt,
    period: lease.period.name,
    usage,
    unitPrices: cost.unitPrices,
    priceSource: schedule.source,
    costBasis,
    rawUsage: storableUsage(stated?.raw ?? null),
    baseCostPicoUsd: displayedBaseCost(cost.baseAttoUsd),
    markupBasisPoints,
    billedPicoUsd: cost.totalPicoUsd,
    writtenOffPicoUsd: 0n,
    estimated: answered?.estimated ?? false,
    ending: answered?.ending ?? 'unanswered',
    finishReason: answered?.finishReason ?? null,
    statedAttoUsd,
  }
}
