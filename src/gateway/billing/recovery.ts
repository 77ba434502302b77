import { type Clock, describeError, type InstanceId, type Log } from '../../platform/kernel/index.ts'
import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import { boundedTransaction } from './lease.store.ts'
import { loadHoldsOf, writeBatch } from './ledger.store.ts'
import type { Entry, HoldRow } from './ledger-rows.ts'
import {
  closeInstance,
  loadDeadInstances,
  loadLeaseRoom,
  lockInstance,
  registerMissingInstances,
} from './instance.store.ts'
import type { Receipt } from './port.ts'
import { costOf, displayedBaseCost } from './prices.ts'

/** Rows that are settled in one statement. */
const pageSize = 200
/** Thousands of holds take seconds, and no call waits for them. */
const recoveryTimeoutMs = 60_000

/**
 * Settles what dead processes left open, once: the prompt's estimate plus the output that was known, at the prices of the
 * call's first choice, never more than was held, marked estimated, ending `crashed`. Then frees their leases. Holds without an instance are
 * settled too; they have no lease, so nothing of them is billed.
 * `expiryMs` null: every other instance is dead (the embedded database has one owner). Returns the number of holds settled.
 */
export async function recoverDeadInstances(deps: {
  database: OwnedDatabase
  clock: Clock
  log: Log
  self: InstanceId | null
  expiryMs: number | null
  /** False: their silence does not show that they are dead. Read before each is settled, because a statement may have waited long. */
  isSteady(): boolean
}): Promise<number> {
  const { database, clock, log, self, expiryMs, isSteady } = deps
  let recovered = 0
  await registerMissingInstances(database)
  for (const dead of await loadDeadInstances(database, self, expiryMs)) {
    if (!isSteady()) break
    try {
      const holds = await recoverInstance(database, dead, { expiryMs, nowMs: clock.now() })
      recovered += holds
      log.warn({ instanceId: dead, holds }, 'settled what a dead instance left open')
    } catch (error) {
      log.error({ instanceId: dead, error: describeError(error) }, 'a dead instance could not be settled')
    }
  }
  return recovered
}

/** Settles one dead instance. Returns the number of holds. */
function recoverInstance(
  database: OwnedDatabase,
  dead: InstanceId,
  { expiryMs, nowMs }: { expiryMs: number | null; nowMs: number },
): Promise<number> {
  return boundedTransaction(database, recover, recoveryTimeoutMs)

  async function recover(transaction: Queryable): Promise<number> {
    // The lock excludes other recoveries, and the instance itself if it is alive after all.
    if (!(await lockInstance(transaction, dead, expiryMs))) return 0
    const room = await loadLeaseRoom(transaction, dead)
    let count = 0
    for (;;) {
      const holds = await loadHoldsOf(transaction, dead, pageSize)
      if (holds.length === 0) break
      const settlements = holds.map((hold) => {
        const entry = settleByPolicy(hold, nowMs)
        capTo(entry, room, hold)
        return { entry, unopened: false }
      })
      await writeBatch(transaction, { instanceId: dead, attempt: null }, { opens: [], changes: [], settlements })
      count += holds.length
    }
    await closeInstance(transaction, dead)
    return count
  }
}

/** What a crashed call is billed: never more than its hold. */
function settleByPolicy(hold: HoldRow, nowMs: number): Entry {
  const usage = {
    promptTokens: hold.promptTokens,
    completionTokens: hold.outputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
  const base = { input: hold.inputAttoUsd, output: hold.outputAttoUsd }
  const cost = costOf(usage, { source: hold.priceSource, validFrom: 0, base, contextSteps: [] }, hold.markupBasisPoints)
  const billedPicoUsd = cost.totalPicoUsd < hold.amountPicoUsd ? cost.totalPicoUsd : hold.amountPicoUsd
  const receipt: Receipt = {
    requestId: hold.requestId,
    organisationId: hold.organisationId,
    surface: hold.surface,
    spaceId: hold.spaceId,
    model: hold.model,
    deploymentId: null,
    providerId: null,
    hosting: null,
    startedAt: hold.startedAt,
    // The clock may have jumped back while the process was away.
    settledAt: Math.max(nowMs, hold.startedAt),
    period: hold.period,
    usage,
    unitPrices: cost.unitPrices,
    priceSource: hold.priceSource,
    baseCostPicoUsd: displayedBaseCost(cost.baseAttoUsd),
    markupBasisPoints: hold.markupBasisPoints,
    billedPicoUsd,
    writtenOffPicoUsd: cost.totalPicoUsd - billedPicoUsd,
    estimated: true,
    ending: 'crashed',
    finishReason: null,
    firstTokenMs: null,
    failure: null,
    schemaMismatch: null,
    costBasis: 'tokens',
    rawUsage: null,
  }
  return { receipt, statedAttoUsd: null, tags: null }
}

/** Holds always fit their lease. If one did not, the organisation would not pay for it, and the audit would report it. */
function capTo({ receipt }: Entry, room: Map<string, bigint>, hold: HoldRow): void {
  const key = `${hold.organisationId} ${hold.period}`
  const left = room.get(key) ?? 0n
  if (receipt.billedPicoUsd > left) {
    receipt.writtenOffPicoUsd += receipt.billedPicoUsd - left
    receipt.billedPicoUsd = left
  }
  room.set(key, left - receipt.billedPicoUsd)
}
