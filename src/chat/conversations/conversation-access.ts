import type { AnswerRatingBody } from '../../contract/answer-ratings.ts'
import type { ConversationViewBody } from '../../contract/conversations.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Clock, type RequestId, sharedOwner } from '../../platform/kernel/index.ts'
import type { Actor } from '../../tenants/operators/index.ts'
import { type ConversationFilter, type ConversationPage, loadConversations } from './conversation-list.store.ts'
import type { ListPlace } from './list-pages.ts'
import type { ConversationService } from './conversations.ts'
import type { Erasure } from './erasure.ts'
import { erase, logExport } from './erasure.store.ts'
import { rateTurn } from './rating.store.ts'
import { renderConversation, renderTurn } from './render-conversations.ts'
import {
  type ExportFilter,
  loadAllTurns,
  loadBilledCalls,
  loadConversation,
  type StoredTurn,
} from './turn-reader.store.ts'
import type { Removed } from './turn-removal.store.ts'

/** Reads, exports and erases what Spaces have stored. Unknown Spaces have nothing. */
export type Conversations = ReturnType<typeof createConversationAccess>

export interface ConversationAccessDependencies {
  database: Database
  service: Pick<ConversationService, 'flush' | 'sweep'>
  organisationOf: (spaceId: string) => string | undefined
  /** Resolves when every call that was billed before is in the ledger's tables. */
  flushLedger: () => Promise<void>
  /** The ids that the calls of an answer may have. */
  callIdsOf: (requestId: RequestId) => readonly string[]
  clock: Clock
  hasOtherInstances: boolean
}

/** Another instance writes its answers every second (`flushEveryMs`), and a busy database takes time. */
const retryEveryMs = 500
const maximumRetries = 4

export function createConversationAccess(dependencies: ConversationAccessDependencies) {
  const { database, service, organisationOf, flushLedger, callIdsOf, clock } = dependencies
  /** The ids of the calls: the receipts, or for an answer that did not end, those that it may have. */
  const callsOf = ({ requestId, receipts, outcome }: StoredTurn) =>
    outcome === 'complete' ? receipts : callIdsOf(requestId)
  const ownOf = (spaceId: string) => database.for(organisationOf(spaceId) ?? sharedOwner)
  const changeOf = (spaceId: string, actor: Actor) => {
    const organisationId = organisationOf(spaceId)
    return organisationId === undefined ? undefined : { organisationId, spaceId, actor, atMs: clock.now() }
  }
  return {
    loadPage: (
      spaceId: string,
      filter: ConversationFilter,
      place: { after: ListPlace | null; limit: number },
    ): Promise<ConversationPage> => loadConversations(ownOf(spaceId), spaceId, filter, place),

    /** A page of its turns; undefined if the Space has no such conversation. */
    async loadOne(spaceId: string, conversationId: string, after: number): Promise<ConversationViewBody | undefined> {
      const own = ownOf(spaceId)
      const found = await loadConversation(own, { spaceId, conversationId, after })
      if (!found) return undefined
      await flushLedger()
      const calls = await loadBilledCalls(own, found.turns.flatMap(callsOf))
      const byId = new Map(calls.map((call) => [call.requestId, call]))
      return {
        conversation: renderConversation(found.conversation),
        turns: found.turns.map((turn) =>
          renderTurn(
            turn,
            callsOf(turn).flatMap((id) => byId.get(id) ?? []),
          ),
        ),
        next: found.next,
      }
    },

    /** Also of an answer that no instance has written yet. False if none is stored, or only one of another user than the given one. */
    async rate(spaceId: string, requestId: string, given: AnswerRatingBody | null, user?: string): Promise<boolean> {
      const rateStored = () =>
        rateTurn(ownOf(spaceId), { spaceId, requestId, user: user ?? null, atMs: clock.now() }, given)
      await service.flush()
      let isRated = await rateStored()
      const retries = dependencies.hasOtherInstances ? maximumRetries : 0
      for (let retry = 0; !isRated && retry < retries; retry++) {
        await clock.sleep(retryEveryMs)
        isRated = await rateStored()
      }
      return isRated
    },

    /** Turns that ended before the call, and an entry in the admin log. */
    async export(
      spaceId: string,
      actor: Actor,
      { to, ...filter }: Omit<ExportFilter, 'to'> & { to: Date | null },
    ): Promise<AsyncIterable<StoredTurn[]>> {
      const change = changeOf(spaceId, actor)
      if (change) {
        const of = filter.user === null ? (filter.conversationId === null ? 'space' : 'conversation') : 'user'
        const times = { ...(filter.from && { from: filter.from.toISOString() }), ...(to && { to: to.toISOString() }) }
        await logExport(ownOf(spaceId), change, { scope: of, ...times })
      }
      return loadAllTurns(ownOf(spaceId), spaceId, { ...filter, to: to ?? new Date(clock.now()) })
    },

    /** What this instance has not written yet is erased as well. */
    async erase(spaceId: string, actor: Actor, erasure: Erasure): Promise<Removed> {
      const change = changeOf(spaceId, actor)
      if (!change) return { conversations: 0, turns: 0 }
      await service.flush()
      const removed = await erase(ownOf(spaceId), change, erasure)
      if (erasure.scope === 'space') void service.sweep()
      return removed
    },
  }
}
