import type { RequestId } from '../../platform/kernel/index.ts'
import { toolLimits } from './tools/tool-budget.ts'

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
