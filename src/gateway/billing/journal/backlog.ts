import { type Clock, FairShares, type OrganisationId } from '../../../platform/kernel/index.ts'
import { refused } from '../ledger-writer.ts'
import type { JournalRecord } from './records.ts'

export interface BacklogOptions {
  clock: Clock
  /** Records of all organisations. */
  maximum: number
  /** Longest wait of a call; then it is refused. */
  maximumWaitMs: number
}

interface Waiter {
  admit(): void
  refuse(): void
}

/**
 * The records that are durable in the journal and not in the database, by organisation. An organisation with as many of them as there is room for
 * waits until the database has caught up. One with few does not, so the flood of one organisation delays its own calls only.
 */
export class Backlog {
  private readonly options: BacklogOptions
  private readonly shares: FairShares
  /** Of the records, in their order; null: of none. */
  private owners: (OrganisationId | null)[] = []
  private readonly waiting = new Map<OrganisationId, Set<Waiter>>()

  constructor(options: BacklogOptions) {
    this.options = options
    this.shares = new FairShares(options.maximum)
  }

  /** A hold counts for its settlement too, which cannot be refused. */
  add(owner: OrganisationId | null, kind: JournalRecord['kind']): void {
    this.owners.push(owner)
    if (owner === null || kind === 'settle') return
    this.shares.take(owner, kind === 'open' ? recordsOfCall : 1)
  }

  /** A hold will never have a settlement in this journal. */
  noteLost(owner: OrganisationId | null): void {
    if (owner !== null) this.shares.release(owner)
  }

  /** The oldest records are in the database. */
  noteApplied(records: number): void {
    for (const owner of this.owners.splice(0, records)) if (owner !== null) this.shares.release(owner)
    this.admitNext()
  }

  /** What a new call waits for; undefined: nothing. Rejects with 503. */
  admission(owner: OrganisationId): Promise<void> | undefined {
    if (!this.waiting.has(owner) && this.shares.hasRoom(owner)) return undefined
    return this.wait(owner)
  }

  /** Refuses those that wait. */
  close(): void {
    for (const waiters of this.waiting.values()) for (const { refuse } of waiters) refuse()
  }

  private wait(owner: OrganisationId): Promise<void> {
    const { clock, maximumWaitMs } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = new AbortController()
    const waiters = this.waiting.get(owner) ?? new Set<Waiter>()
    this.waiting.set(owner, waiters)
    const end = (answer: () => void) => () => {
      timer.abort()
      waiters.delete(waiter)
      if (waiters.size === 0) this.waiting.delete(owner)
      answer()
    }
    const waiter: Waiter = { admit: end(resolve), refuse: end(() => reject(refused('behind'))) }
    waiters.add(waiter)
    clock.sleep(maximumWaitMs, timer.signal).then(waiter.refuse, () => {})
    return promise
  }

  /** One call of each organisation in turn, as many as there will be room for. */
  private admitNext(): void {
    const admitted: OrganisationId[] = []
    let before: number
    do {
      before = admitted.length
      for (const [owner, waiters] of this.waiting) {
        if (!this.shares.hasRoom(owner)) continue
        const [first] = waiters
        first!.admit()
        this.shares.take(owner, recordsOfCall)
        admitted.push(owner)
      }
    } while (admitted.length > before)
    // Their holds count when they are written.
    for (const owner of admitted) this.shares.release(owner, recordsOfCall)
  }
}

const recordsOfCall = 2
