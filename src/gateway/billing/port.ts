import type {
  EndSignal,
  HostedToolKind,
  OrganisationId,
  RequestId,
  SpaceId,
  StatedUsage,
  TokenCounts,
} from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { ComparedCosts, CostBasis, PricedUses, PriceSchedule } from './prices.ts'

/** The product that caused the cost. */
export type Surface = 'gateway' | 'space_chat' | 'embeddings'

export interface HoldRequest {
  requestId: RequestId
  organisation: Organisation
  surface: Surface
  spaceId: SpaceId | null
  /** Canonical model id, with `eu/` cut off. */
  model: string
  /** Every deployment that the call may reach; the hold covers the dearest. */
  candidates: readonly { deploymentId: string; prices: readonly PriceSchedule[] }[]
  /** Upper bound of the prompt's tokens; the settled prompt is expected at or below it. */
  promptTokensBound: number
  /** Best guess of the prompt's tokens; what a crash bills. */
  promptTokensEstimate: number
  /** The client's output cap, null where it gave none. */
  outputCapTokens: number | null
  modelMaxOutputTokens: number
  /** The prompt may be written to a cache that keeps it for an hour, which costs more than other writes. */
  writesHourCache?: boolean
  /** Most uses of tools that the provider runs: each bound is for all of its kinds together. Absent: none. */
  toolUses?: readonly ToolUseBound[]
  /** True where `grant` receives the output as it grows, so that the hold may start small. */
  stream: boolean
  /**
   * `write_off`: where the budget has no room, the operator pays for the call and nothing is billed. For the base-tier
   * fallback of Space chat only; default `refuse`.
   */
  whenExhausted?: 'refuse' | 'write_off'
  /** Set aside for this call by `keepRoom`. The hold uses it up; a refused hold leaves it as it was. */
  room?: KeptRoom | undefined
  /** Set aside by the caller for a call after this one: not available, and no reason to wait. */
  roomOfNext?: KeptRoom | undefined
  /** A limit inside of the budget. The call is held as a whole, also a stream, with an output cap that the limit covers. */
  spending?: SpendLimit | undefined
  /** What the client states about the call, for usage reports. Within the limits of `usageTagLimits`. */
  tags?: CallTags | undefined
  signal: EndSignal
}

export interface ToolUseBound {
  kinds: readonly HostedToolKind[]
  most: number
}

/** Money that is set aside for a later call, in memory: no other call gets it, and nothing is left of it after a crash. */
export interface KeptRoom {
  /** The organisation's lease that it is a part of. */
  readonly lease: object
  /** What is left of it; 0 once it is used up or released. */
  readonly amountPicoUsd: bigint
  /** Gives it back. Idempotent. */
  release(): void
}

/**
 * A limit inside of the budget that several calls share. Each hold, room and bill of them stays within it; a bill above the hold takes what
 * is free and the rest is written off.
 */
export interface SpendLimit {
  /** Granted, and neither set aside nor billed. */
  readonly freePicoUsd: bigint
  /** Grants more until this much is free, or as much as the limit has left. */
  obtain(amountPicoUsd: bigint): Promise<void>
  /** Sets a part of what is free aside. */
  reserve(amountPicoUsd: bigint): void
  /** The end of a hold or of a room: what it had set aside, and what was billed of that. A hold that cannot be settled stays set aside. */
  release(reservedPicoUsd: bigint, billedPicoUsd: bigint): void
}

/** `user`, and the pairs of `metadata` with the prefix `metadata.`. */
export type CallTags = Readonly<Record<string, string>>

/**
 * Money set aside for one call. Life: `ledger.hold()` → wait for `durable` before the first byte of an answer leaves →
 * `grant` as output grows → `settle` once, whatever the end was, and wait for it before the answer's end leaves.
 */
export interface Hold {
  readonly requestId: RequestId
  /** Rejects when the hold could not be written: nothing may be shown then. Its write waits a moment for others, such as the settlement. */
  readonly durable: Promise<void>
  /** `durable`, for a caller that waits for it: its write waits for no other. */
  makeDurable(): Promise<void>
  /** The output cap to send to the provider: the client's, a smaller one that fits the budget, or null for the provider's default. */
  readonly outputCapTokens: number | null
  /** True when outputCapTokens was made smaller than asked, for `x-adjusted-params`. */
  readonly capReduced: boolean
  /**
   * Reports that at most `outputTokensBound` tokens of output exist so far. Synchronous `true` while the hold covers
   * them, which is the common case; else a promise that resolves when the hold has grown durably, or rejects with
   * `insufficient_quota` when the budget has no more: the caller then ends the provider's call. `outputTokensEstimate` is the
   * best guess of the same count, which a crash bills; without it a crash bills the bound.
   */
  grant(outputTokensBound: number, outputTokensEstimate?: number): true | Promise<void>
  /**
   * Turns the hold into its cost, durably and once; later calls return the first result. A receipt with another `ending` than the
   * outcome's was written by another instance, or nothing was written: the answer's end must not be delivered then.
   */
  settle(outcome: Outcome): Promise<Receipt>
}

export type Outcome =
  /** An answer, whole or not, reached us: bill it. */
  | {
      kind: 'answered'
      ending: 'completed' | 'client_closed' | 'provider_failed' | 'budget_ended' | 'shutdown'
      deploymentId: string
      providerId: string
      hosting: string
      usage: TokenCounts & { stated?: StatedUsage }
      /** The usage was counted by us. */
      estimated: boolean
      finishReason: string | null
      /** Milliseconds from the start of the call to the first text of a stream. */
      firstTokenMs?: number | null
      /** Keyword of the client's schema that the answer breaks. */
      schemaMismatch?: string | null
    }
  /** No provider answered: nothing is billed, the hold is released. */
  | { kind: 'unanswered'; reason: string }

/** What one request cost and why. Money in picoUsd. */
export interface Receipt {
  requestId: RequestId
  organisationId: OrganisationId
  surface: Surface
  spaceId: SpaceId | null
  model: string
  deploymentId: string | null
  providerId: string | null
  hosting: string | null
  startedAt: number
  settledAt: number
  /** First day of the budget period that the request counts in, `YYYY-MM-DD` in the organisation's zone. */
  period: string
  usage: TokenCounts
  /** attoUsd per token that applied, by class; the receipt shows them as decimals. */
  unitPrices: { input: bigint; output: bigint; cacheRead: bigint; cacheWrite: bigint; reasoning: bigint }
  priceSource: string
  /** Uses of tools that the provider ran, with their prices. Absent: none. */
  toolUses?: PricedUses[]
  costBasis: CostBasis
  /** The provider's usage object, where it has more than `usage`. */
  rawUsage: Record<string, unknown> | null
  baseCostPicoUsd: bigint
  markupBasisPoints: number
  billedPicoUsd: bigint
  /** Cost above what the budget could bear; paid by the operator, never billed. 0 unless a provider ignores its output cap. */
  writtenOffPicoUsd: bigint
  estimated: boolean
  ending: string
  finishReason: string | null
  /** Milliseconds from the start of the call to the first text of a stream; null where nothing was streamed. */
  firstTokenMs: number | null
  /** Error code of a call that no provider answered. */
  failure: string | null
  /** Keyword of the client's schema that the answer breaks, `json` if it is no JSON; null if it matches or nothing was compared. */
  schemaMismatch: string | null
}

/** A call that was refused before it had a hold. */
export interface Refusal {
  organisationId: OrganisationId
  surface: Surface
  /** Canonical id; null if the client's name is not that of a model. */
  model: string | null
  code: string
}

export interface BudgetState {
  organisationId: OrganisationId
  period: string
  periodStartsAt: number
  periodEndsAt: number
  budgetPicoUsd: bigint
  settledPicoUsd: bigint
  heldPicoUsd: bigint
}

export interface Ledger {
  /**
   * Sets the worst or likely cost aside. Rejects with AppError `insufficient_quota` when not even the smallest hold fits. May
   * wait a bounded time for other holds, which usually settle below their size.
   */
  hold(request: HoldRequest): Promise<Hold>
  /** The same without a promise where the money is at hand, as for most calls; may throw what `hold` rejects with. */
  holdAtOnce(request: HoldRequest): Hold | Promise<Hold>
  /**
   * Sets the cost of a later call aside, as large as `hold` would. It replaces `request.room`. Waits and rejects as `hold` does; the
   * earlier room stays then. The caller releases it.
   */
  keepRoom(request: HoldRequest): Promise<KeptRoom>
  /** True when the organisation has credit left; from memory. Space chat checks it before retrieval. */
  hasCredit(organisation: Organisation): boolean
  /** When the next period of its budget begins, milliseconds. */
  budgetResetsAt(organisation: Organisation): number
  loadBudget(organisation: Organisation): Promise<BudgetState>
  loadReceipt(requestId: string, owner?: string): Promise<Receipt | undefined>
  /** Counts a call that was refused before it had a hold, for usage reports. Synchronous; never throws. */
  noteRefused(refusal: Refusal): void
  /** False while the database does not answer: new calls are refused with 503. */
  isAccepting(): boolean
  /** Settles open holds, returns leases, stops timers. */
  close(): Promise<void>
}

/** Called as things happen, for metrics. Must not throw. */
export interface LedgerObserver {
  held?(waitedMs: number): void
  refused?(organisationId: OrganisationId): void
  settled?(receipt: Receipt): void
  /** The provider stated the cost of a settled call. */
  costStated?(receipt: Receipt, compared: ComparedCosts): void
  recovered?(holds: number): void
  thresholdReached?(event: { organisationId: OrganisationId; period: string; percent: number }): void
  /** Old entries were removed. */
  removed?(entries: number): void
}
