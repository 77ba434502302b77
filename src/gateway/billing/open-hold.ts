import {
  AppError,
  describeError,
  type InstanceId,
  type Log,
  noUsage,
  type OrganisationId,
  type RequestId,
  type TokenCounts,
} from '../../platform/kernel/index.ts'
import { bill, freePicoUsd, type Lease, release, unbill, unleasedPicoUsd } from './lease.ts'
import {
  affordableOutput,
  type CallPricing,
  growFor,
  nextCover,
  type Reservation,
  type ReservationDeps,
  shouldGrow,
} from './reservation.ts'
import type { Entry } from './ledger-rows.ts'
import { type LedgerWriter, type SettleResult, unavailable } from './ledger-writer.ts'
import type { Hold, HoldRequest, Outcome, Receipt } from './port.ts'
import {
  clampUsage,
  type ComparedCosts,
  costOf,
  displayedBaseCost,
  priceUses,
  scheduleInForce,
  statedCost,
  storableUsage,
  unitPricesAt,
} from './prices.ts'

export interface OpenHoldDeps {
  reservation: ReservationDeps
  writer: LedgerWriter
  log: Log
  now(): number
  /** Called once, when the hold is over. */
  onSettled(lease: Lease, receipt: Receipt, compared: ComparedCosts | null): void
  /** Called once when the settlement is in the database; a hold whose settlement failed stays open. */
  onClosed(requestId: RequestId): void
}

/** What was decided about a call when it began. */
export interface HeldCall {
  lease: Lease
  request: HoldRequest
  pricing: CallPricing
  startedAt: number
}

/** A hold in memory. Money has been reserved already; this writes the hold and follows it to its settlement. */
export class OpenHold implements Hold {
  readonly instanceId: InstanceId
  readonly requestId: RequestId
  readonly organisationId: OrganisationId
  readonly durable: Promise<void>
  readonly outputCapTokens: number | null
  readonly capReduced: boolean
  private readonly deps: OpenHoldDeps
  private readonly call: HeldCall
  private readonly isWrittenOff: boolean
  private readonly wantedTokens: number
  private amountPicoUsd: bigint
  private coveredTokens: number
  private outputTokens = 0
  private writtenOutputTokens = 0
  private growth: Promise<void> | undefined
  /** Ends the wait for growth. */
  private growing: AbortController | undefined
  private settlement: Promise<Receipt> | undefined
  private isRevoked = false

  constructor(deps: OpenHoldDeps, call: HeldCall, reserved: Reservation | 'write_off') {
    const { lease, request, startedAt } = call
    this.deps = deps
    this.call = call
    this.instanceId = lease.instanceId
    this.requestId = request.requestId
    this.organisationId = lease.organisationId
    this.isWrittenOff = reserved === 'write_off'
    const reservation = reserved === 'write_off' ? nothing(request) : reserved
    this.outputCapTokens = reservation.outputCapTokens
    this.capReduced = reservation.capReduced
    this.wantedTokens = reservation.wantedTokens
    this.amountPicoUsd = reservation.amountPicoUsd
    this.coveredTokens = reservation.coveredTokens
    const first = scheduleInForce(request.candidates[0]!.prices, startedAt)
    lease.openHolds += 1
    this.durable = deps.writer.open(this.instanceId, openingRow(call, first, this.amountPicoUsd))
    // Nothing may be shown: the money is released, and the row is deleted if it was written after all.
    this.durable.catch(
      () => void this.settle({ kind: 'unanswered', reason: 'the hold could not be written' }).catch(() => {}),
    )
  }

  makeDurable(): Promise<void> {
    this.deps.writer.hurry()
    return this.durable
  }

  grant(boundTokens: number, estimateTokens = boundTokens): true | Promise<void> {
    if (this.isRevoked) return Promise.reject(unavailable())
    const tokens = Math.min(boundTokens, this.wantedTokens)
    if (tokens > this.coveredTokens && !this.settlement) {
      return this.cover(tokens).then(() => this.note(estimateTokens))
    }
    this.note(estimateTokens)
    if (!this.growth && !this.settlement && shouldGrow(tokens, this.coveredTokens, this.wantedTokens)) {
      this.growAhead(tokens)
    }
    return true
  }

  settle(outcome: Outcome): Promise<Receipt> {
    this.settlement ??= this.write(outcome)
    return this.settlement
  }

  /** Another instance has settled it: no more output may be shown. */
  revoke(): void {
    this.isRevoked = true
    this.growing?.abort(unavailable())
  }

  /** Output known by now that is not in the database yet; undefined when there is nothing new. */
  takeProgress(): { requestId: RequestId; outputTokens: number } | undefined {
    const { requestId, outputTokens } = this
    if (this.settlement || outputTokens === this.writtenOutputTokens) return undefined
    this.writtenOutputTokens = outputTokens
    return { requestId, outputTokens }
  }

  /** Bills what recovery would bill: for a shutdown with calls in flight. */
  settleByPolicy(ending: 'shutdown'): Promise<Receipt> {
    const { request } = this.call
    return this.settle({
      kind: 'answered',
      ending,
      deploymentId: request.candidates[0]!.deploymentId,
      providerId: '',
      hosting: '',
      usage: { ...noUsage, promptTokens: request.promptTokensEstimate, completionTokens: this.outputTokens },
      estimated: true,
      finishReason: null,
    })
  }

  /** What a crash bills: only output that may be shown. */
  private note(tokens: number): void {
    if (tokens > this.outputTokens) this.outputTokens = Math.ceil(tokens)
  }

  /** Growth before it is needed: from the free part of the lease only, and at most a quarter of it. */
  private growAhead(tokens: number): void {
    const target = this.nextStep(tokens)
    if (target > this.coveredTokens) this.grow(target).catch(() => {})
  }

  private async cover(tokens: number): Promise<void> {
    while (tokens > this.coveredTokens) {
      if (this.settlement) return
      if (this.growth) await this.growth.catch(() => {})
      else await this.grow(Math.max(tokens, this.nextStep(tokens)))
    }
  }

  /** As far as a next step may go without taking more than a quarter of what is free. */
  private nextStep(tokens: number): number {
    const { lease, request, pricing } = this.call
    const target = nextCover(tokens, this.coveredTokens, this.wantedTokens)
    const limitPicoUsd = this.amountPicoUsd + freePicoUsd(lease) / 4n
    return affordableOutput(pricing, request.promptTokensBound, limitPicoUsd, target)
  }

  private grow(targetTokens: number): Promise<void> {
    this.growth = this.growNow(targetTokens).finally(() => {
      this.growth = undefined
    })
    return this.growth
  }

  private async growNow(targetTokens: number): Promise<void> {
    const { reservation, writer, log } = this.deps
    const { lease, request, pricing } = this.call
    const { promptTokensBound: promptTokens, roomOfNext } = request
    const held = { promptTokens, amountPicoUsd: this.amountPicoUsd, roomOfNext }
    if (this.isRevoked) throw unavailable()
    this.growing ??= new AbortController()
    const { signal } = this.growing
    const extra = await growFor(reservation, lease, pricing, held, targetTokens, signal).catch((error: unknown) => {
      // Settled by another instance, or the database does not answer: it cannot grow now.
      throw error instanceof AppError || signal.aborted ? error : unavailable(error)
    })
    if (this.settlement) return release(lease, extra)
    this.amountPicoUsd += extra > 0n ? extra : 0n
    const { requestId, amountPicoUsd, outputTokens } = this
    try {
      await writer.change(this.instanceId, lease.organisationId, { requestId, amountPicoUsd, outputTokens })
    } catch (error) {
      // The database may or may not have it; the money stays in the hold until the settlement either way.
      log.warn({ requestId, error: describeError(error) }, 'a hold could not grow')
      throw error
    }
    this.coveredTokens = Math.max(this.coveredTokens, targetTokens)
  }

  private async write(outcome: Outcome): Promise<Receipt> {
    const { writer, now, onClosed, onSettled } = this.deps
    const { lease } = this.call
    this.growing?.abort(new Error('the call is over'))
    const { compared, ...entry } = entryOf(this.call, outcome, now())
    const { receipt } = entry
    const costPicoUsd = receipt.billedPicoUsd
    const missing = costPicoUsd - this.amountPicoUsd
    const spare = missing > 0n && !this.isWrittenOff ? await this.claim(missing) : 0n
    const billable = this.amountPicoUsd + spare
    receipt.billedPicoUsd = costPicoUsd < billable ? costPicoUsd : billable
    receipt.writtenOffPicoUsd = costPicoUsd - receipt.billedPicoUsd
    const heldPicoUsd = billable
    bill(lease, heldPicoUsd, receipt.billedPicoUsd)
    let result: SettleResult
    try {
      result = await writer.settle(this.instanceId, entry)
    } catch (error) {
      // The row is still open in the database: keep its money set aside, so that it is not spent twice.
      unbill(lease, receipt.billedPicoUsd)
      lease.heldPicoUsd += heldPicoUsd
      throw error
    } finally {
      lease.openHolds -= 1
    }
    onClosed(this.requestId)
    const settled = this.receiptAfter(result, receipt)
    this.call.request.spending?.release(heldPicoUsd, settled.billedPicoUsd)
    onSettled(lease, settled, receipt.estimated ? null : compared)
    return settled
  }

  /** A bill above the hold, which a provider that ignores its cap can cause, takes what is free; the rest is written off. */
  private async claim(missing: bigint): Promise<bigint> {
    const { lease, request } = this.call
    const { spending } = request
    if (freePicoUsd(lease) < missing && unleasedPicoUsd(lease) > 0n) {
      await this.deps.reservation.leases.extend(lease, missing).catch(() => {})
    }
    if (spending && spending.freePicoUsd < missing) await spending.obtain(missing).catch(() => {})
    const free = smaller(freePicoUsd(lease), spending?.freePicoUsd ?? missing)
    const claimed = smaller(missing, free)
    lease.heldPicoUsd += claimed
    spending?.reserve(claimed)
    return claimed
  }

  private receiptAfter(result: SettleResult, written: Receipt): Receipt {
    if (result.kind === 'entered') return written
    unbill(this.call.lease, written.billedPicoUsd)
    if (result.kind === 'existing') return result.receipt
    // The hold is not in the database: it never became durable, or the database has lost what it had acknowledged.
    const lost = written.billedPicoUsd + written.writtenOffPicoUsd
    if (lost > 0n) this.deps.log.error({ requestId: this.requestId }, 'an answer without a durable hold was not billed')
    return { ...written, ending: 'unanswered', billedPicoUsd: 0n, writtenOffPicoUsd: lost }
  }
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second
}

/** A call that the operator pays: nothing is set aside. */
function nothing({ outputCapTokens }: HoldRequest): Reservation {
  return { amountPicoUsd: 0n, coveredTokens: 0, wantedTokens: 0, outputCapTokens, capReduced: false }
}

function openingRow(
  { lease, request, startedAt }: HeldCall,
  schedule: ReturnType<typeof scheduleInForce>,
  amountPicoUsd: bigint,
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

/** Reasons that are no error code are texts for the log. */
function failureCode(reason: string): string {
  return /^[a-z_]{1,50}$/.test(reason) ? reason : 'internal_error'
}

/** The counts of a receipt; those of an hour are in the raw usage. */
function withoutHourTokens(usage: TokenCounts): TokenCounts {
  if (usage.cacheWriteHourTokens === undefined) return usage
  const { cacheWriteHourTokens: _, ...counts } = usage
  return counts
}

/** The entry with its full cost as billed; the caller cuts it to what is held. */
function entryOf(
  { lease, request, startedAt }: HeldCall,
  outcome: Outcome,
  settledAt: number,
): Entry & { compared: ComparedCosts | null } {
  const answered = outcome.kind === 'answered' ? outcome : undefined
  const candidate =
    request.candidates.find(({ deploymentId }) => deploymentId === answered?.deploymentId) ?? request.candidates[0]!
  const schedule = scheduleInForce(candidate.prices, startedAt)
  const usage = clampUsage(answered?.usage ?? noUsage)
  const stated = answered?.usage.stated
  const toolUses = priceUses(answered?.usage.toolUses, schedule)
  const { statedAttoUsd, costBasis, compared } = statedCost(usage, stated, schedule, toolUses)
  const { markupBasisPoints } = request.organisation
  const cost = costOf(usage, schedule, markupBasisPoints, statedAttoUsd)
  const receipt: Receipt = {
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
    usage: withoutHourTokens(usage),
    unitPrices: cost.unitPrices,
    priceSource: schedule.source,
    ...(toolUses.length > 0 && { toolUses }),
    costBasis,
    rawUsage: storableUsage(stated?.raw ?? null),
    baseCostPicoUsd: displayedBaseCost(cost.baseAttoUsd),
    markupBasisPoints,
    billedPicoUsd: cost.totalPicoUsd,
    writtenOffPicoUsd: 0n,
    estimated: answered?.estimated ?? false,
    ending: answered?.ending ?? 'unanswered',
    finishReason: answered?.finishReason ?? null,
    firstTokenMs: answered?.firstTokenMs ?? null,
    failure: outcome.kind === 'unanswered' ? failureCode(outcome.reason) : null,
    schemaMismatch: answered?.schemaMismatch ?? null,
  }
  return { receipt, statedAttoUsd, tags: request.tags ?? null, compared }
}
