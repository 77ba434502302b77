import type { OwnedDatabase, Queryable } from '../../platform/database/index.ts'
import type { OrganisationId, SpaceId } from '../../platform/kernel/index.ts'
import { type Actor, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
import { assertRoom, type GoldenQuestion } from './golden-question.ts'
import { countQuestions, insertRows, type QuestionRow, selectQuestions, toQuestion } from './golden-questions.store.ts'

/** The longest questions of one statement have about 600,000 characters, so that no statement holds up other requests. */
export const questionsPerPart = 25

export type GoldenTransferStore = ReturnType<typeof createGoldenTransferStore>

/** Many golden questions at once, for export and import. */
export function createGoldenTransferStore(database: OwnedDatabase) {
  return {
    /** The ids of all questions, the oldest first. */
    async loadIds(spaceId: string): Promise<string[]> {
      const rows = await database.query<{ id: string }>(
        `SELECT id FROM golden_questions WHERE space_id = $1 ORDER BY created_at, id`,
        [spaceId],
      )
      return rows.map(({ id }) => id)
    },
    /** The questions with these ids that still exist, the oldest first. */
    async loadMany(spaceId: string, ids: readonly string[]): Promise<GoldenQuestion[]> {
      const rows = await database.query<QuestionRow>(
        `${selectQuestions} WHERE space_id = $1 AND id = ANY($2::uuid[]) ORDER BY created_at, id`,
        [spaceId, ids],
      )
      return rows.map(toQuestion)
    },
    /** Hashes of all messages of each question, hexadecimal. */
    async loadConversationHashes(spaceId: string): Promise<string[]> {
      const rows = await database.query<{ hash: string }>(
        `SELECT encode(messages_hash, 'hex') AS hash FROM golden_questions WHERE space_id = $1`,
        [spaceId],
      )
      return rows.map(({ hash }) => hash)
    },
    /**
     * Adds the questions whose conversations the Space does not have, and returns their number. `given` is the number of questions of
     * the request, for the admin log. Throws `space_not_found`, and `conflict` above the limit; then none is added.
     */
    insertMany: (space: SpaceKey, questions: readonly GoldenQuestion[], request: ImportRequest) =>
      insertMany(database, space, questions, request),
  }
}

/** Adds those whose conversations are not in their Space yet. The caller keeps to the limit of a Space. */
export async function insertGoldenQuestions(
  transaction: Queryable,
  questions: readonly GoldenQuestion[],
): Promise<number> {
  let added = 0
  for (let start = 0; start < questions.length; start += questionsPerPart)
    added += await insertRows(transaction, questions.slice(start, start + questionsPerPart))
  return added
}

interface SpaceKey {
  id: SpaceId
  organisationId: OrganisationId
}

interface ImportRequest {
  given: number
  actor: Actor
  nowMs: number
}

const insertMany = (
  database: OwnedDatabase,
  space: SpaceKey,
  questions: readonly GoldenQuestion[],
  { given, actor, nowMs }: ImportRequest,
) =>
  database.transaction(async (transaction) => {
    await lockSpace(transaction, space.id)
    const existing = await countQuestions(transaction, space.id)
    const added = await insertGoldenQuestions(transaction, questions)
    assertRoom(added, existing)
    if (added === 0) return 0
    await recordAdminChange(transaction, {
      actor,
      atMs: nowMs,
      action: 'golden_questions.imported',
      subjectType: 'space',
      subjectId: space.id,
      organisationId: space.organisationId,
      after: { added, existing: given - added },
    })
    return added
  })
