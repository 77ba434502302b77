import type { KeptRoom, Receipt } from '../../gateway/billing/index.ts'
import type { ProviderRequest } from '../../gateway/providers/index.ts'
import { AppError, type RequestId } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'

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

/**
 * Money for the last call of an answer. It is set aside before each call that comes earlier, so that rewriting and tools cannot use up
 * the budget that the answer itself needs.
 */
export type AnswerRoom = ReturnType<typeof createAnswerRoom>

export function createAnswerRoom(
  dependencies: Pick<AnswerDependencies, 'completions' | 'findOrganisation'>,
  call: AnswerCall,
  { model, whenExhausted }: Pick<PreparedAnswer, 'model' | 'whenExhausted'>,
) {
  let room: KeptRoom | undefined
  return {
    /**
     * Sets the cost of this request aside, with `furtherPromptTokens` for what is not in it yet. False where the budget does not cover it:
     * the next call has to be the last one. What was set aside before stays then.
     */
    async keep(request: ProviderRequest, furtherPromptTokens: number = 0): Promise<boolean> {
      // The operator pays, whatever the budget has.
      if (whenExhausted === 'write_off') return true
      const next = await dependencies.completions.keepRoom({
        requestId: call.requestId,
        organisation: currentOrganisation(dependencies, call),
        surface: 'space_chat',
        spaceId: call.space.id,
        model,
        request,
        furtherPromptTokens,
        room,
        spending: call.spending,
        signal: call.signal,
      })
      if (next) room = next
      return next !== null
    },
    /** For the last call, which uses it up. */
    kept: (): KeptRoom | undefined => room,
    release: (): void => room?.release(),
  }
}

/** The organisation as it is now: an answer may call the model minutes after its request. */
export function currentOrganisation(
  { findOrganisation }: Pick<AnswerDependencies, 'findOrganisation'>,
  { organisation }: Pick<AnswerCall, 'organisation'>,
): Organisation {
  const current = findOrganisation(organisation.id)
  if (!current) throw notOffered()
  return current
}

/** Throws `endpoint_not_found` once the Space is no longer offered. */
export function assertOffered({ isOffered }: Pick<AnswerCall, 'isOffered'>): void {
  if (isOffered?.() === false) throw notOffered()
}

function notOffered(): AppError {
  return new AppError('endpoint_not_found', 'The Space was unpublished or removed while it answered.')
}

/**
 * A turn without tools follows the last round of tools; where the budget refuses it, one follows with the money set aside. A model that calls
 * tools all the same gets one more.
 */
const lastRound = toolLimits.rounds + 2

/** The call that rewrites the question. Each call of an answer has its own usage record, named after the request. */
export const queryCallId = (requestId: RequestId) => `${requestId}_query` as RequestId

/** The call of one round, from 0. The first one has the id of the request. */
export const roundCallId = (requestId: RequestId, round: number) =>
  (round === 0 ? requestId : `${requestId}_${round}`) as RequestId

/** The ids that the calls of an answer may have. */
export const callIdsOf = (requestId: RequestId): RequestId[] => [
  queryCallId(requestId),
  ...Array.from({ length: lastRound + 1 }, (_none, round) => roundCallId(requestId, round)),
]

/** What the tools of one answer have used. */
export type ToolBudget = ReturnType<typeof createToolBudget>

/** `receipts` grows with each call of the model. `maximumCostUsd`: of the Space, for one answer; null: none. */
export function createToolBudget(
  receipts: readonly Pick<Receipt, 'billedPicoUsd'>[],
  maximumCostUsd: number | null,
  limits = toolLimits,
) {
  const startMs = performance.now()
  const maximumPicoUsd = maximumCostUsd === null ? null : BigInt(Math.round(maximumCostUsd * 1e12))
  let bytes = 0
  let ownUses = 0
  const remainingMs = () => limits.answerMs - (performance.now() - startMs)
  const isUsedUp = () => bytes >= limits.resultBytes || remainingMs() <= 0
  return {
    isUsedUp,
    /** Takes one use of a tool of the Space's own. False: there is none left. */
    takeOwnUse: (): boolean => ++ownUses <= limits.ownUses,
    /** A further round of calls is allowed. */
    mayCall: (round: number): boolean =>
      round < limits.rounds &&
      !isUsedUp() &&
      (maximumPicoUsd === null ||
        receipts.reduce((sum, { billedPicoUsd }) => sum + billedPicoUsd, 0n) < maximumPicoUsd),
    noteResult: (content: string): void => void (bytes += Buffer.byteLength(content)),
    /** Aborts when a call that begins now must end. */
    deadlineOfCall: (): AbortSignal =>
      AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(limits.callMs, remainingMs())))),
  }
}
