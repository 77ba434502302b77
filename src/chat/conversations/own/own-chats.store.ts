import type { OwnedDatabase, SqlValue } from '../../../platform/database/index.ts'
import { type ListPage, type ListPlace, pageOf, searchBounds, searchInChunks } from '../list-pages.ts'
import type { StoredTurn } from '../turn-reader.store.ts'
import type { ChatOwner } from './chat-owner.ts'

export interface OwnChat {
  id: string
  title: string
  firstAt: Date
  lastAt: Date
  turns: number
}

export type StoredOwnTurn = Pick<
  StoredTurn,
  | 'number'
  | 'requestId'
  | 'at'
  | 'question'
  | 'questionCut'
  | 'answer'
  | 'answerCut'
  | 'references'
  | 'sources'
  | 'model'
  | 'totalMs'
  | 'outcome'
  | 'errorCode'
>

const chatColumns = `c.id, c.title, c.first_at AS "firstAt", c.last_at AS "lastAt", c.turns`
/** Pages of turns end before this many bytes of texts, unless one turn is larger. */
const pageBytes = 2 * 1024 ** 2
const turnsOfPage = 50

/** Newest first. `search`: a part of a title, a question or an answer; null: all. */
export async function loadOwnChats(
  database: OwnedDatabase,
  owner: ChatOwner,
  { search, after, limit }: { search: string | null; after: ListPlace | null; limit: number },
): Promise<ListPage<OwnChat>> {
  if (search !== null)
    return searchInChunks<OwnChat>({ after, limit }, (place) => searchChunk(database, owner, search, place))
  const { where, parameters } = placeCondition(owner, after)
  const rows = await database.query<OwnChat>(
    `SELECT ${chatColumns} FROM own_chats c WHERE ${where} ORDER BY c.last_at DESC, c.id DESC LIMIT ${limit + 1}`,
    parameters,
  )
  return pageOf(rows, limit)
}

function placeCondition({ personId, spaceId }: ChatOwner, after: ListPlace | null) {
  const parameters: SqlValue[] = [personId, spaceId]
  const owned = 'c.person_id = $1 AND c.space_id = $2'
  if (!after) return { where: owned, parameters }
  return {
    where: `${owned} AND (c.last_at, c.id) < ($3, $4::uuid)`,
    parameters: [...parameters, new Date(after.lastAtMs), after.id],
  }
}

function searchChunk(database: OwnedDatabase, owner: ChatOwner, search: string, after: ListPlace | null) {
  const { where, parameters } = placeCondition(owner, after)
  const text = `lower($${parameters.length + 1}::text)`
  return database.query<OwnChat & { matches: boolean }>(
    `WITH next AS MATERIALIZED (
       SELECT * FROM (
         SELECT c.*, sum(c.bytes) OVER (ORDER BY c.last_at DESC, c.id DESC) - c.bytes AS before
           FROM (SELECT c.* FROM own_chats c WHERE ${where}
                  ORDER BY c.last_at DESC, c.id DESC LIMIT ${searchBounds.conversations}) c) counted
        WHERE before < ${searchBounds.bytes})
     SELECT ${chatColumns}, strpos(lower(c.title), ${text}) > 0 OR EXISTS (
         SELECT FROM own_chat_turns t WHERE t.chat_id = c.id
            AND (strpos(lower(t.question), ${text}) > 0 OR strpos(lower(t.answer), ${text}) > 0)) AS matches
       FROM next c ORDER BY c.last_at DESC, c.id DESC`,
    [...parameters, search],
  )
}

/** One conversation with its turns after the number `after`; undefined unless it is the person's. `next` is null at the end. */
export async function loadOwnChat(
  database: OwnedDatabase,
  { spaceId, personId }: ChatOwner,
  { chatId, after }: { chatId: string; after: number },
): Promise<{ chat: OwnChat; turns: StoredOwnTurn[]; next: number | null } | undefined> {
  const [chat] = await database.query<OwnChat>(
    `SELECT ${chatColumns} FROM own_chats c WHERE c.person_id = $1 AND c.space_id = $2 AND c.id = $3`,
    [personId, spaceId, chatId],
  )
  if (!chat) return undefined
  const turns = await database.query<StoredOwnTurn & { last: number }>(
    `SELECT number, request_id AS "requestId", at, question, question_cut AS "questionCut", answer, answer_cut AS "answerCut",
       cited AS "references", sources, model, total_ms AS "totalMs", outcome, error_code AS "errorCode"
       FROM (SELECT *, sum(bytes) OVER (ORDER BY number) - bytes AS before
               FROM (SELECT * FROM own_chat_turns WHERE chat_id = $1 AND number > $2 ORDER BY number LIMIT ${turnsOfPage}) first) counted
      WHERE before < ${pageBytes} ORDER BY number`,
    [chatId, after],
    { background: true },
  )
  const last = turns.at(-1)?.number ?? after
  const [more] = await database.query(`SELECT 1 FROM own_chat_turns WHERE chat_id = $1 AND number > $2 LIMIT 1`, [
    chatId,
    last,
  ])
  return { chat, turns, next: more ? last : null }
}

/** Whether the person has this conversation with the Space. `none`: it is not stored. */
export async function whoseChat(
  database: OwnedDatabase,
  { spaceId, personId }: ChatOwner,
  chatId: string,
): Promise<'own' | 'other' | 'none'> {
  const [chat] = await database.query<{ isOwn: boolean }>(
    `SELECT coalesce(person_id = $2 AND space_id = $3, false) AS "isOwn" FROM own_chats WHERE id = $1`,
    [chatId, personId, spaceId],
  )
  return chat ? (chat.isOwn ? 'own' : 'other') : 'none'
}

/** False unless the person has this conversation. */
export async function renameOwnChat(
  database: OwnedDatabase,
  { spaceId, personId }: ChatOwner,
  { chatId, title }: { chatId: string; title: string },
): Promise<boolean> {
  const renamed = await database.execute(
    `UPDATE own_chats SET title = $4 WHERE person_id = $1 AND space_id = $2 AND id = $3`,
    [personId, spaceId, chatId, title],
  )
  return renamed > 0
}

/** One conversation, or all (null) of the person with the Space. Resolves to their number. */
export async function removeOwnChats(
  database: OwnedDatabase,
  { spaceId, personId }: ChatOwner,
  chatId: string | null,
): Promise<number> {
  let removed = 0
  for (let batch = removedAtOnce; batch === removedAtOnce; removed += batch)
    batch = await database.execute(
      `DELETE FROM own_chats WHERE id IN (
         SELECT id FROM own_chats WHERE person_id = $1 AND space_id = $2 AND ($3::uuid IS NULL OR id = $3)
          LIMIT ${removedAtOnce})`,
      [personId, spaceId, chatId],
    )
  return removed
}

/** A conversation has up to 200 turns and 4 MiB. */
const removedAtOnce = 10
