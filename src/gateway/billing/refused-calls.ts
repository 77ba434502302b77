import type { RequestId } from '../../platform/kernel/index.ts'
import type { Entry } from './ledger-rows.ts'
import type { SettleResult } from './ledger-writer.ts'
import type { QueuedWrite } from './write-queue.ts'

/**
 * Calls whose client got an error because their hold could not be written in time. The hold may be written all the same, and the answer of
 * the provider may be here already: such a call is billed nothing.
 */
export class RefusedCalls {
  /** Until their settlement is written. Every call with a hold has one. */
  private readonly ids = new Set<RequestId>()

  /** The promise of a hold; its rejection refuses the call. */
  noting(requestId: RequestId, begin: (resolve: () => void, reject: (error: unknown) => void) => void): Promise<void> {
    return new Promise((resolve, reject) =>
      begin(resolve, (error) => {
        this.ids.add(requestId)
        reject(error as Error)
      }),
    )
  }

  /** Before a settlement is written: that of a refused call becomes an entry without a bill. True: it has changed. */
  withdraw(write: { entry: Entry; resolve(result: SettleResult): void }): boolean {
    if (!this.ids.delete(write.entry.receipt.requestId) || write.entry.receipt.ending === 'unanswered') return false
    const entry = unbilled(write.entry)
    const { resolve } = write
    write.entry = entry
    write.resolve = (result) =>
      resolve(result.kind === 'entered' ? { kind: 'existing', receipt: entry.receipt } : result)
    return true
  }

  /** Its settlement is over. */
  forget(requestId: RequestId): void {
    this.ids.delete(requestId)
  }
}

/**
 * To be called for the writes of one commit: once a hold is on its way together with its bill, the call can no longer be refused, because the
 * bill may be stored although no answer comes. Its client waits, like at the end of every running call. Returns the writes that could be
 * refused before: they can be again if the commit was certainly not sent.
 */
export function keepWithSettlements<Write extends QueuedWrite>(
  writes: readonly Write[],
  holdOf: (write: Write) => RequestId | undefined,
  settlementOf: (write: Write) => RequestId | undefined,
): Write[] {
  const settled = new Set(writes.map(settlementOf))
  const kept = writes.filter((write) => {
    const requestId = holdOf(write)
    return write.mayExpire && requestId !== undefined && settled.has(requestId)
  })
  for (const write of kept) write.mayExpire = false
  return kept
}

const noTokens = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

function unbilled({ receipt, tags }: Entry): Entry {
  return {
    receipt: {
      ...receipt,
      deploymentId: null,
      providerId: null,
      hosting: null,
      usage: noTokens,
      baseCostPicoUsd: 0n,
      billedPicoUsd: 0n,
      writtenOffPicoUsd: 0n,
      costBasis: 'tokens',
      rawUsage: null,
      estimated: false,
      ending: 'unanswered',
      finishReason: null,
      firstTokenMs: null,
      failure: 'overloaded',
      schemaMismatch: null,
    },
    statedAttoUsd: null,
    tags,
  }
}
