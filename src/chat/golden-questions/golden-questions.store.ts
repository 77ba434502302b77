import { goldenLimits } from '../../contract/golden-questions.ts'
import { columnsOf, countRows, type OwnedDatabase, type Queryable, type Stored } from '../../platform/database/index.ts'
import { AppError, isUuid } from '../../platform/kernel/index.ts'
import { type Actor, type NewAdminLogEntry, recordAdminChange } from '../../tenants/operators/index.ts'
import { lockSpace } from '../spaces/index.ts'
import { describeForLog, type GoldenQuestion, hashesOf, questionOf } from './golden-question.ts'

export type GoldenQuestionStore = ReturnType<typeof createGoldenQuestionStore>

export function createGoldenQuestionStore(database: OwnedDatabase) {
  return {
    /** The oldest first. */
    async loadPage({ spaceId, search = null, limit, offset }: PageFilter) {
      // strpos: the text is no pattern.
      const matches = `space_id = $1 AND ($2::text IS NULL OR strpos(lower(question), lower($2::text)) > 0)`
      const total = await countRows(database, `golden_questions WHERE ${matches}`, [spaceId, search])
      const rows = await database.query<QuestionRow>(
        `${selectQuestions} WHERE ${matches} ORDER BY created_at, id LIMIT $3 OFFSET $4`,
        [spaceId, search, limit, offset],
      )
      return { total, questions: rows.map(toQuestion) }
    },
    async find(spaceId: string, id: string): Promise<GoldenQuestion | undefined> {
      if (!isUuid(id)) return undefined
      const [row] = await database.query<QuestionRow>(`${selectQuestions} WHERE space_id = $1 AND id = $2`, [
        spaceId,
        id,
      ])
      return row && toQuestion(row)
    },
    /** Hashes of the last messages, hexadecimal. */
    async loadHashes(spaceId: string): Promise<string[]> {
      const rows = await database.query<{ hash: string }>(
        `SELECT encode(question_hash, 'hex') AS hash FROM golden_questions WHERE space_id = $1`,
        [spaceId],
      )
      return rows.map(({ hash }) => hash)
    },
    /** A text that changes with each change of a question. */
    async loadStamp(spaceId: string): Promise<string> {
      const [row] = await database.query<{ stamp: string | null }>(
        `SELECT md5(string_agg(id::text || ' ' || updated_at::text, ',' ORDER BY id)) AS stamp
           FROM golden_questions WHERE space_id = $1`,
        [spaceId],
      )
      return row?.stamp ?? ''
    },
    /** Throws `space_not_found`, and `conflict` above the limit and for a conversation that is there already. */
    insert: (question: GoldenQuestion, actor: Actor) => insert(database, question, actor),
    /** Applies `change` to the current row, which stays locked until the commit. Undefined: there is no such question. */
    update: (spaceId: string, id: string, change: (current: GoldenQuestion) => GoldenQuestion, actor: Actor) =>
      update(database, { spaceId, id }, change, actor),
    /** False: there is no such question. */
    remove: (spaceId: string, id: string, actor: Actor, nowMs: number) =>
      remove(database, { spaceId, id }, { actor, nowMs }),
  }
}

const insert = (database: OwnedDatabase, question: GoldenQuestion, actor: Actor) =>
  database.transaction(async (transaction) => {
    await lockSpace(transaction, question.spaceId)
    await assertRoom(transaction, question.spaceId)
    if ((await insertRows(transaction, [question])) === 0) throw repeated()
    const change = { before: null, after: describeForLog(question) }
    await log(transaction, question, actor, { atMs: question.createdAt, action: 'golden_question.created', ...change })
  })

interface Place {
  spaceId: string
  id: string
}

const update = (
  database: OwnedDatabase,
  { spaceId, id }: Place,
  makeNext: (current: GoldenQuestion) => GoldenQuestion,
  actor: Actor,
) =>
  database.transaction(async (transaction) => {
    // Before the question, as the deletion of a Space does. It also makes two changes to the same conversation wait.
    await lockSpace(transaction, spaceId)
    const current = await lock(transaction, spaceId, id)
    if (!current) return undefined
    const next = makeNext(current)
    if (!(await updateRow(transaction, next))) throw repeated()
    const change = { before: describeForLog(current), after: describeForLog(next) }
    await log(transaction, next, actor, { atMs: next.updatedAt, action: 'golden_question.updated', ...change })
    return next
  })

const remove = (database: OwnedDatabase, { spaceId, id }: Place, { actor, nowMs }: { actor: Actor; nowMs: number }) =>
  database.transaction(async (transaction) => {
    const current = await lock(transaction, spaceId, id)
    if (!current) return false
    await transaction.execute(`DELETE FROM golden_questions WHERE id = $1`, [id])
    const change = { before: describeForLog(current), after: null }
    await log(transaction, current, actor, { atMs: nowMs, action: 'golden_question.removed', ...change })
    return true
  })

interface PageFilter {
  spaceId: string
  search?: string | null | undefined
  limit: number
  offset: number
}

export const selectQuestions = `SELECT id, space_id AS "spaceId", organisation_id AS "organisationId", messages,
    expected_documents AS "expectedDocuments", expected_facts AS "expectedFacts", must_abstain AS "mustAbstain",
    created_at AS "createdAt", updated_at AS "updatedAt"
  FROM golden_questions`

export type QuestionRow = Stored<GoldenQuestion, 'createdAt' | 'updatedAt'>

export function toQuestion({ createdAt, updatedAt, ...question }: QuestionRow): GoldenQuestion {
  return { ...question, createdAt: createdAt.getTime(), updatedAt: updatedAt.getTime() }
}

export const countQuestions = (transaction: Queryable, spaceId: string): Promise<number> =>
  countRows(transaction, 'golden_questions WHERE space_id = $1', [spaceId])

async function assertRoom(transaction: Queryable, spaceId: string): Promise<void> {
  if ((await countQuestions(transaction, spaceId)) < goldenLimits.questionsPerSpace) return
  throw new AppError(
    'conflict',
    `The Space has ${goldenLimits.questionsPerSpace} golden questions, which is the limit. Delete one first.`,
  )
}

function repeated(): AppError {
  return new AppError('conflict', 'The Space has a golden question with these `messages` already.', {
    param: 'messages',
  })
}

async function lock(transaction: Queryable, spaceId: string, id: string): Promise<GoldenQuestion | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await transaction.query<QuestionRow>(`${selectQuestions} WHERE space_id = $1 AND id = $2 FOR UPDATE`, [
    spaceId,
    id,
  ])
  return row && toQuestion(row)
}

/** Leaves out conversations that the Space has; returns the number of added questions. */
export function insertRows(transaction: Queryable, questions: readonly GoldenQuestion[]): Promise<number> {
  return transaction.execute(
    `INSERT INTO golden_questions (id, space_id, organisation_id, messages, question, question_hash, messages_hash,
       expected_documents, expected_facts, must_abstain, created_at, updated_at)
     SELECT id, space_id, organisation_id, messages::jsonb, question, decode(question_hash, 'hex'), decode(messages_hash, 'hex'),
       documents::jsonb, facts::jsonb, must_abstain, created_at, updated_at
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
         $10::bool[], $11::timestamptz[], $12::timestamptz[]) AS given (id, space_id, organisation_id, messages, question,
         question_hash, messages_hash, documents, facts, must_abstain, created_at, updated_at)
     ON CONFLICT (space_id, messages_hash) DO NOTHING`,
    columnsOf(
      questions.map((question) => ({ ...question, hashes: hashesOf(question) })),
      'id',
      'spaceId',
      'organisationId',
      ({ messages }) => JSON.stringify(messages),
      questionOf,
      ({ hashes }) => hashes.question,
      ({ hashes }) => hashes.messages,
      ({ expectedDocuments }) => JSON.stringify(expectedDocuments),
      ({ expectedFacts }) => JSON.stringify(expectedFacts),
      'mustAbstain',
      ({ createdAt }) => new Date(createdAt),
      ({ updatedAt }) => new Date(updatedAt),
    ),
  )
}

/** False: another question of the Space has the same conversation. */
async function updateRow(transaction: Queryable, question: GoldenQuestion): Promise<boolean> {
  const hashes = hashesOf(question)
  const updated = await transaction.execute(
    `UPDATE golden_questions SET messages = $3::jsonb, question = $4, question_hash = decode($5, 'hex'),
       messages_hash = decode($6, 'hex'), expected_documents = $7::jsonb, expected_facts = $8::jsonb, must_abstain = $9,
       updated_at = $10
     WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM golden_questions other
       WHERE other.space_id = $2 AND other.messages_hash = decode($6, 'hex') AND other.id <> $1)`,
    [
      question.id,
      question.spaceId,
      JSON.stringify(question.messages),
      questionOf(question),
      hashes.question,
      hashes.messages,
      JSON.stringify(question.expectedDocuments),
      JSON.stringify(question.expectedFacts),
      question.mustAbstain,
      new Date(question.updatedAt),
    ],
  )
  return updated > 0
}

function log(
  transaction: Queryable,
  { id, organisationId }: GoldenQuestion,
  actor: Actor,
  change: Pick<NewAdminLogEntry, 'atMs' | 'action' | 'before' | 'after'>,
) {
  return recordAdminChange(transaction, {
    actor,
    subjectType: 'golden_question',
    subjectId: id,
    organisationId,
    ...change,
  })
}
