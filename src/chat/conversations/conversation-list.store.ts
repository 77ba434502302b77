import type { OwnedDatabase, SqlValue } from '../../platform/database/index.ts'
import { type ListPage, type ListPlace, pageOf, searchBounds, searchInChunks } from './list-pages.ts'

export interface ConversationFilter {
  /** The last answer is of this time; `from` included, `to` not. */
  from: Date | null
  to: Date | null
  user: string | null
  /** With such a turn; `failed` includes answers that the client left. */
  having: 'failed' | 'unanswered' | 'disliked' | null
  /** A part of a question or an answer, not case-sensitive. */
  search: string | null
}

export interface ListedConversation {
  id: string
  user: string | null
  startedAt: Date
  lastAt: Date
  turns: number
  failed: number
  unanswered: number
  disliked: number
  billedPicoUsd: bigint
  /** The beginning of its first question. */
  opening: string
}

export interface StoredTotals {
  conversations: number
  turns: number
  bytes: number
}

export interface ConversationPage extends ListPage<ListedConversation> {
  stored: StoredTotals
}

const openingCharacters = 200

/** Newest first. */
export async function loadConversations(
  database: OwnedDatabase,
  spaceId: string,
  filter: ConversationFilter,
  { after, limit }: { after: ListPlace | null; limit: number },
): Promise<ConversationPage> {
  const store = await findStore(database, spaceId)
  if (!store) return { stored: { conversations: 0, turns: 0, bytes: 0 }, items: [], next: null, searchedTo: null }
  const stored = {
    conversations: Number(store.conversations),
    turns: Number(store.turns),
    bytes: Number(store.bytes),
  }
  const { search } = filter
  if (search !== null) {
    const read = (place: ListPlace | null) => searchTextsOf(database, store.id, { ...filter, search }, place)
    return { stored, ...(await searchInChunks<ListedConversation>({ after, limit }, read)) }
  }
  const { where, parameters } = conditionsOf(store.id, filter, after)
  const rows = await database.query<ListedConversation>(
    `SELECT ${columns} FROM conversations v ${firstTurn} WHERE ${where}
      ORDER BY v.last_at DESC, v.id DESC LIMIT ${limit + 1}`,
    parameters,
  )
  return { stored, ...pageOf(rows, limit) }
}

/** The store of a Space; undefined where nothing was stored since it was turned on. */
export async function findStore(database: OwnedDatabase, spaceId: string) {
  const [store] = await database.query<{ id: string; conversations: bigint; turns: bigint; bytes: bigint }>(
    `SELECT id, conversations, turns, bytes FROM conversation_stores WHERE space_id = $1`,
    [spaceId],
  )
  return store
}

export const columns = `v.id, v.user_tag AS "user", v.started_at AS "startedAt", v.last_at AS "lastAt", v.turns, v.failed,
  v.unanswered, v.disliked, v.billed_pico_usd AS "billedPicoUsd", coalesce(left(opening.question, ${openingCharacters}), '') AS opening`
export const firstTurn = `LEFT JOIN LATERAL (SELECT question FROM conversation_turns
  WHERE conversation_id = v.id ORDER BY number LIMIT 1) AS opening ON true`

/** Only the given conditions, so that the planner can choose the index of the narrowest one. */
function conditionsOf(storeId: string, { from, to, user, having }: ConversationFilter, after: ListPlace | null) {
  const parameters: SqlValue[] = [storeId]
  const conditions = ['v.store_id = $1']
  const add = (value: SqlValue, condition: (name: string) => string) => {
    if (value === null) return
    parameters.push(value)
    conditions.push(condition(`$${parameters.length}`))
  }
  add(from, (value) => `v.last_at >= ${value}`)
  add(to, (value) => `v.last_at < ${value}`)
  add(user, (value) => `v.user_tag = ${value}`)
  if (having !== null) conditions.push(`v.${having} > 0`)
  if (after) {
    parameters.push(new Date(after.lastAtMs), after.id)
    conditions.push(`(v.last_at, v.id) < ($${parameters.length - 1}, $${parameters.length}::uuid)`)
  }
  return { where: conditions.join(' AND '), parameters }
}

/** The next conversations, at least one, and whether a text of theirs has the words. */
function searchTextsOf(
  database: OwnedDatabase,
  storeId: string,
  filter: ConversationFilter & { search: string },
  after: ListPlace | null,
) {
  const { where, parameters } = conditionsOf(storeId, filter, after)
  const search = `$${parameters.length + 1}::text`
  // strpos: the text is no pattern.
  return database.query<ListedConversation & { matches: boolean }>(
    `WITH next AS MATERIALIZED (
       SELECT * FROM (
         SELECT v.*, sum(v.bytes) OVER (ORDER BY v.last_at DESC, v.id DESC) - v.bytes AS before
           FROM (SELECT v.* FROM conversations v WHERE ${where}
                  ORDER BY v.last_at DESC, v.id DESC LIMIT ${searchBounds.conversations}) v) counted
        WHERE before < ${searchBounds.bytes})
     SELECT ${columns}, EXISTS (
         SELECT FROM conversation_turns t WHERE t.conversation_id = v.id
            AND (strpos(lower(t.question), lower(${search})) > 0 OR strpos(lower(t.answer), lower(${search})) > 0)) AS matches
       FROM next v ${firstTurn} ORDER BY v.last_at DESC, v.id DESC`,
    [...parameters, filter.search],
  )
}
