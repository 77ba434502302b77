import {
  AppError,
  type InstanceId,
  isAppError,
  type Log,
  type RequestId,
  withDeadline,
} from '../../platform/kernel/index.ts'
import {
  noteRefusal,
  pricingOf,
  type Reservation,
  type ReservationDeps,
  reserveAtOnce,
  reserveFor,
} from './reservation.ts'
import { FencedError } from './instance.store.ts'
import { createRoom, type Lease } from './lease.ts'
import type { Hold, HoldRequest, KeptRoom, LedgerObserver } from './port.ts'
import { type LedgerWriter, refused, unavailable } from './ledger-writer.ts'
import { type HeldCall, OpenHold, type OpenHoldDeps } from './open-hold.ts'

/** Longest wait of a call for this process to start again as a new instance. */
const renewalTimeoutMs = 4_000
/** Most streams whose output is written in one round, so that no hold or settlement waits long for these writes. */
const streamsPerRound = 512

export interface OpenHoldsDeps {
  reservation: ReservationDeps
  writer: LedgerWriter
  log: Log
  observer: LedgerObserver
  /** Makes this process a new instance; resolves when it is registered. */
  onFenced(fenced: InstanceId): Promise<void>
}

type Decide<Result> = (lease: Lease, startedAt: number) => Promise<Result>

/** The holds of this process, from the decision about a call to its settlement. */
export class OpenHolds {
  private readonly deps: OpenHoldsDeps
  private readonly ofHolds: OpenHoldDeps
  private readonly holds = new Map<RequestId, OpenHold>()
  /** Ids of open holds and of those that are still looking for room. */
  private readonly ids = new Set<RequestId>()
  private isRefusing = false
  /** The holds that were open when the last turn of all began, and whose output has not been written in it. */
  private waitingForTurn: OpenHold[] = []

  constructor(deps: OpenHoldsDeps) {
    this.deps = deps
    const { reservation, writer, log, observer } = deps
    const { clock } = reservation
    this.ofHolds = {
      reservation,
      writer,
      log,
      now: () => clock.now(),
      onSettled(lease, receipt, compared) {
        lease.lastUsedMs = clock.monotonicMs()
        observer.settled?.(receipt)
        if (compared) observer.costStated?.(receipt, compared)
      },
      onClosed: (requestId) => {
        this.holds.delete(requestId)
        this.ids.delete(requestId)
      },
    }
  }

  get size(): number {
    return this.holds.size
  }

  /** Refuses new holds from now on. */
  refuse(): void {
    this.isRefusing = true
  }

  open(request: HoldRequest): Hold | Promise<Hold> {
    this.assertOpen(request)
    if (this.ids.has(request.requestId)) throw new AppError('conflict', 'This request id is in use.')
    const admission = this.deps.writer.admission(request.organisation.id)
    const hold = admission ? undefined : this.decideAtOnce(request)
    this.ids.add(request.requestId)
    return hold ?? this.openLater(request, admission)
  }

  private async openLater(request: HoldRequest, admission: Promise<void> | undefined): Promise<Hold> {
    try {
      if (admission) {
        await admission
        this.assertOpen(request)
      }
      return await this.decided(request, (lease, startedAt) => this.decide(lease, request, startedAt))
    } catch (error) {
      this.ids.delete(request.requestId)
      throw error
    }
  }

  /** Sets the cost of a later call aside. */
  async keepRoom(request: HoldRequest): Promise<KeptRoom> {
    this.assertOpen(request)
    return this.decided(request, async (lease, atMs) => {
      const { amountPicoUsd } = await reserveFor(this.deps.reservation, lease, request, pricingOf(request, atMs))
      return createRoom(lease, amountPicoUsd, request.spending)
    })
  }

  private assertOpen({ signal, candidates }: HoldRequest): void {
    if (this.isRefusing) throw new AppError('shutting_down', 'The service is shutting down.', { retryAfterSeconds: 5 })
    signal.throwIfAborted()
    const reason = this.deps.writer.reasonToRefuse()
    if (reason) throw refused(reason)
    if (candidates.length === 0) throw new AppError('internal_error', 'No deployment to hold money for.')
  }

  /** Decides with the lease of the present period. Every error is an AppError or the reason of the signal. */
  private async decided<Result>(request: HoldRequest, decide: Decide<Result>): Promise<Result> {
    const { writer, onFenced } = this.deps
    try {
      try {
        return await this.decideOnce(request, decide)
      } catch (error) {
        // Presumed dead between two calls: nothing was set aside yet, so start again on a new lease.
        if (!(error instanceof FencedError)) throw error
        await withDeadline(renewalTimeoutMs, () => onFenced(error.instanceId))
        return await this.decideOnce(request, decide)
      }
    } catch (error) {
      if (isAppError(error) || request.signal.aborted) throw error
      // Periods and leases could not be read or written: nothing was set aside, and the call may be sent again.
      if (!(error instanceof FencedError) && !isContention(error)) writer.noteDatabase(false)
      throw error instanceof FencedError ? unavailable(error) : refused('database', error)
    }
  }

  /** Writes the output known by now of running streams: of all, or of many thousands in turns. Not while the database is behind. */
  async writeProgress(): Promise<void> {
    if (this.deps.writer.isBehind()) return
    if (this.waitingForTurn.length === 0) this.waitingForTurn = [...this.holds.values()]
    const writes: Promise<void>[] = []
    while (writes.length < streamsPerRound) {
      const hold = this.waitingForTurn.pop()
      if (!hold) break
      const progress = hold.takeProgress()
      if (!progress) continue
      const change = { ...progress, amountPicoUsd: null }
      writes.push(this.deps.writer.change(hold.instanceId, hold.organisationId, change))
    }
    // One that fails belongs to a hold that is over, or to a database that is away: the settlement reports it.
    await Promise.allSettled(writes)
  }

  /** Another instance has settled the holds of this one. */
  revoke(fenced: InstanceId): void {
    for (const hold of this.holds.values()) if (hold.instanceId === fenced) hold.revoke()
  }

  async settleAll(ending: 'shutdown'): Promise<void> {
    await Promise.allSettled([...this.holds.values()].map((hold) => hold.settleByPolicy(ending)))
  }

  private async decideOnce<Result>(request: HoldRequest, decide: Decide<Result>): Promise<Result> {
    const { leases, clock } = this.deps.reservation
    const startedAt = clock.now()
    const lease = leases.find(request.organisation, startedAt) ?? (await leases.open(request.organisation, startedAt))
    lease.undecided += 1
    try {
      return await decide(lease, startedAt)
    } finally {
      lease.undecided -= 1
    }
  }

  /** For most calls: the lease is in memory and has the money. Without the promises of the other way. */
  private decideAtOnce(request: HoldRequest): Hold | undefined {
    const { reservation } = this.deps
    const startedMs = reservation.clock.monotonicMs()
    const startedAt = reservation.clock.now()
    const lease = reservation.leases.find(request.organisation, startedAt)
    if (!lease) return undefined
    const pricing = pricingOf(request, startedAt)
    const reserved = reserveAtOnce(reservation, lease, request, pricing)
    return reserved && this.begin({ lease, request, pricing, startedAt }, reserved, startedMs)
  }

  private async decide(lease: Lease, request: HoldRequest, startedAt: number): Promise<Hold> {
    const { reservation, observer } = this.deps
    const { clock } = reservation
    const startedMs = clock.monotonicMs()
    lease.lastUsedMs = startedMs
    const pricing = pricingOf(request, startedAt)
    const reserved = await reserveFor(reservation, lease, request, pricing).catch((error: unknown) => {
      if (!isAppError(error, 'insufficient_quota')) throw error
      noteRefusal(lease)
      if (request.whenExhausted === 'write_off') return 'write_off' as const
      observer.refused?.(request.organisation.id)
      throw error
    })
    return this.begin({ lease, request, pricing, startedAt }, reserved, startedMs)
  }

  private begin(call: HeldCall, reserved: Reservation | 'write_off', startedMs: number): Hold {
    const { reservation, observer } = this.deps
    const { clock } = reservation
    const { lease, request } = call
    const beganMs = clock.monotonicMs()
    lease.lastUsedMs = beganMs
    observer.held?.(beganMs - startedMs)
    const hold = new OpenHold(this.ofHolds, call, reserved)
    this.holds.set(request.requestId, hold)
    return hold
  }
}

/** Contention with another transaction of the organisation: SQLSTATE class 40 and 55P03. The database itself answers. */
function isContention(error: unknown): boolean {
  return /^(?:40|55P03)/.test(String((error as { code?: unknown }).code))
}
