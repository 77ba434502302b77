import { expect } from 'vitest'
import { insertOrganisation, insertSpace } from '../../../../test/harness/control-rows.ts'
import { openTestDatabases } from '../../../../test/harness/database.ts'
import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import { createUuid, type Log, silentLog } from '../../../platform/kernel/index.ts'
import { serviceActor } from '../../../tenants/operators/index.ts'
import { createConversationAccess } from '../conversation-access.ts'
import type { ConversationFilter } from '../conversation-list.store.ts'
import { createConversations } from '../conversations.ts'
import { renderExport } from '../render-conversations.ts'
import type { GivenAnswer, Message } from '../turn.ts'

export const startMs = Date.parse('2026-11-21T18:00:00Z')

export const given: GivenAnswer = {
  outcome: 'complete',
  errorCode: null,
  text: 'A',
  references: [{ id: 1, title: 'file.md', documentId: createUuid(startMs) }],
  sources: [{ source: 'UPLOADED_FILES', status: 'RETRIEVED', count: 3, query: 'q', milliseconds: 5 }],
  receipts: [{ requestId: 'req_receipt', model: 'answering-model', billedPicoUsd: 7n }],
  firstTextMs: 10,
  totalMs: 20,
}

export const everything: ConversationFilter = { from: null, to: null, user: null, having: null, search: null }

const callIdsOf = (requestId: string) => [`${requestId}_query`, requestId]

interface Parts {
  database?: TestDatabase
  log?: Log
  flushLedger?: () => Promise<void>
  hasOtherInstances?: boolean
}

export type ConversationStage = Awaited<ReturnType<typeof openConversationStage>>

/** Conversations of one organisation on a real database; each test has a separate Space. */
export async function openConversationStage() {
  const databases = await openTestDatabases()
  const organisationId = createUuid(startMs)
  await insertOrganisation(databases.control, organisationId)
  let spaceId = ''
  let requests = 0

  async function createSpace(settings: object = { keepConversations: true, conversationDays: 10 }): Promise<string> {
    const id = createUuid(startMs)
    await insertSpace(databases.control, { id, organisationId, settings })
    return id
  }

  function start({
    database = databases.control,
    log = silentLog,
    flushLedger = () => Promise.resolve(),
    hasOtherInstances = false,
  }: Parts = {}) {
    const clock = createFakeClock(startMs)
    const service = createConversations({ database, subjectDigest: (...parts) => parts.join(' '), clock, log })
    const read = { organisationOf: () => organisationId, flushLedger, callIdsOf }
    const access = createConversationAccess({ database, service, clock, hasOtherInstances, ...read })
    return {
      clock,
      service,
      access,
      /** Questions and answers in alternation, the last one is the answer. */
      answer(
        texts: string[],
        { user = null, ...more }: { user?: string | null } & Partial<GivenAnswer> = {},
        space = spaceId,
      ) {
        const messages = texts
          .slice(0, -1)
          .map((content, index): Message => ({ role: index % 2 ? 'assistant' : 'user', content }))
        const end = service.begin({
          requestId: `req_${++requests}`,
          organisationId,
          spaceId: space,
          user,
          messages,
          model: 'm',
        })
        end({ ...given, text: texts.at(-1)!, ...more })
      },
      list: (filter: Partial<ConversationFilter> = {}) =>
        access.loadPage(spaceId, { ...everything, ...filter }, { after: null, limit: 50 }),
      view: (id: string) => access.loadOne(spaceId, id, 0),
      async exported(format: 'jsonl' | 'csv' = 'jsonl', filter: { user?: string } = {}) {
        const pages = await access.export(spaceId, serviceActor, {
          from: null,
          to: new Date(clock.now() + 1),
          user: null,
          conversationId: null,
          ...filter,
        })
        return (await Array.fromAsync(renderExport(pages, format))).join('')
      },
      rate: (requestId: string, rating: 'up' | 'down' | null, reason: string | null = null) =>
        access.rate(spaceId, requestId, rating && { rating, reason }),
      erase: (erasure: Parameters<typeof access.erase>[2]) => access.erase(spaceId, serviceActor, erasure),
    }
  }

  return {
    databases,
    spaceId: () => spaceId,
    /** The id of the newest request, or of one before it. */
    lastRequest: (before = 0) => `req_${requests - before}`,
    createSpace,
    start,
    countRows: () => countRows(databases.control),
    expectSums: () => expectSums(databases.control),
    async beginTest(): Promise<void> {
      spaceId = await createSpace()
    },
    drop: () => databases.drop(),
  }
}

async function countRows(control: TestDatabase) {
  const [row] = await control.query<{ stores: bigint; conversations: bigint; turns: bigint }>(
    `SELECT (SELECT count(*) FROM conversation_stores) AS stores, (SELECT count(*) FROM conversations) AS conversations,
       (SELECT count(*) FROM conversation_turns) AS turns`,
  )
  return [row!.stores, row!.conversations, row!.turns].map(Number)
}

/** The sums of conversations and stores are those of their turns. */
async function expectSums(control: TestDatabase) {
  const wrong = await control.query(
    `SELECT v.id FROM conversations v LEFT JOIN LATERAL (
         SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes, count(*) FILTER (WHERE outcome <> 'complete') AS failed,
           count(*) FILTER (WHERE unanswered) AS unanswered, count(*) FILTER (WHERE rating = -1) AS disliked, coalesce(sum(billed_pico_usd), 0) AS billed,
           min(at) AS first, max(at) AS last, max(number) AS number
           FROM conversation_turns WHERE conversation_id = v.id) t ON true
      WHERE (v.turns, v.bytes, v.failed, v.unanswered, v.disliked, v.billed_pico_usd, v.started_at, v.last_at)
        IS DISTINCT FROM (t.turns, t.bytes, t.failed, t.unanswered, t.disliked, t.billed, t.first, t.last) OR v.last_number < t.number
     UNION ALL
     SELECT k.id FROM conversation_stores k LEFT JOIN LATERAL (
         SELECT count(*) AS conversations, coalesce(sum(turns), 0) AS turns, coalesce(sum(bytes), 0) AS bytes
           FROM conversations WHERE store_id = k.id) v ON true
      WHERE k.space_id IS NOT NULL AND (k.conversations, k.turns, k.bytes) IS DISTINCT FROM (v.conversations, v.turns, v.bytes)`,
  )
  expect(wrong).toEqual([])
}
