import type { Receipt } from '../../../gateway/billing/index.ts'

/** Limits of the tools of one agentic answer. They bound its steps, time and money; docs/use/chat.md states them. */
export const toolLimits = {
  /** Rounds of calls after the first search; each is followed by a call of the model. */
  rounds: 6,
  callsPerRound: 4,
  /** No round begins later than this after the beginning of the answer. */
  answerMs: 90_000,
  callMs: 20_000,
  /** UTF-8 bytes of all results; no call runs above it. */
  resultBytes: 120_000,
  /** Uses of tools of a Space's own. */
  ownUses: 8,
}

/** What the tools of one answer have used. */
export interface ToolBudget {
  /** A further round of calls is allowed. */
  mayCall: (round: number) => boolean
  isUsedUp: () => boolean
  /** Takes one use of a tool of the Space's own. False: there is none left. */
  takeOwnUse: () => boolean
  noteResult: (content: string) => void
  /** Aborts when a call that begins now must end. */
  deadlineOfCall: () => AbortSignal
}

/** `receipts` grows with each call of the model. `maximumCostUsd`: of the Space, for one answer; null: none. */
export function createToolBudget(
  receipts: readonly Pick<Receipt, 'billedPicoUsd'>[],
  maximumCostUsd: number | null,
  limits = toolLimits,
): ToolBudget {
  const startMs = performance.now()
  const maximumPicoUsd = maximumCostUsd === null ? null : BigInt(Math.round(maximumCostUsd * 1e12))
  let bytes = 0
  let ownUses = 0
  const remainingMs = () => limits.answerMs - (performance.now() - startMs)
  const isUsedUp = () => bytes >= limits.resultBytes || remainingMs() <= 0
  return {
    isUsedUp,
    takeOwnUse: () => ++ownUses <= limits.ownUses,
    mayCall: (round) =>
      round < limits.rounds &&
      !isUsedUp() &&
      (maximumPicoUsd === null ||
        receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n) < maximumPicoUsd),
    noteResult: (content) => void (bytes += Buffer.byteLength(content)),
    deadlineOfCall: () => AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(limits.callMs, remainingMs())))),
  }
}
