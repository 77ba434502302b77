import { columnsOf, countRows, type Database, type Queryable } from '../../platform/database/index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'

/** Bounds of the stored rows. */
export const insightLimits = {
  /** Documents of one organisation and day: after the day, the others are removed. */
  documentsPerDay: 1_000,
  countedDays: 400,
  questionsPerSpace: 1_000,
  questionDays: 90,
  questionCharacters: 1_000,
} as const

export interface CitationCount {
  organisationId: string
  day: string
  spaceId: string
  documentId: string
  citations: number
}

export interface AnswerCount {
  organisationId: string
  day: string
  spaceId: string
  answers: number
  unanswered: number
}

export interface AskedQuestion {
  organisationId: string
  spaceId: string
  /** Hexadecimal. */
  hash: string
  question: string
  asked: number
  lastAskedAtMs: number
}

export interface InsightBatch {
  citations: CitationCount[]
  answers: AnswerCount[]
  questions: AskedQuestion[]
}

export interface InsightQuery {
  organisationId: string
  /** Days in `timeZone`, both included. */
  from: string
  to: string
  timeZone: string
  spaceId: string | null
  limit: number
}

export interface Insights {
  documents: { documentId: string; spaceId: string; citations: number }[]
  spaces: { spaceId: string; answers: number; unanswered: number }[]
  questions: { spaceId: string; question: string; asked: number; lastAskedAt: Date }[]
}

export interface KeptQuestionsQuery {
  organisationId: string
  spaceId: string
  /** Hashes of questions to leave out, hexadecimal. */
  except: readonly string[]
  limit: number
  offset: number
}

export interface KeptQuestions {
  total: number
  /** The most frequent first. */
  questions: { question: string; asked: number; lastAskedAt: Date }[]
}

export type InsightStore = ReturnType<typeof createInsightStore>

/** So that a lost database holds up neither a stop nor the next batch. */
const writeTimeoutMs = 10_000
const maintenanceTimeoutMs = 60_000

export function createInsightStore(database: Database) {
  return {
    /** Adds the counts. Rows of Spaces that no longer exist are left out. */
    add: (batch: InsightBatch) =>
      database.for(sharedOwner).transaction(async (transaction) => {
        await addCitations(transaction, batch.citations)
        await addAnswers(transaction, batch.answers)
        await addQuestions(transaction, batch.questions)
      }),
    load: (query: InsightQuery) => loadInsights(database, query),
    loadQuestions: (query: KeptQuestionsQuery) => loadQuestions(database, query),
    /** Removes what is too old, above the bounds, or of a Space that no longer keeps questions. */
    prune: (nowMs: number) => prune(database, nowMs),
  }
}

// All inserts are in the order of the primary key: batches of two instances lock their common rows in the same order.

async function addCitations(transaction: Queryable, rows: readonly CitationCount[]) {
  if (rows.length === 0) return
  await transaction.execute(
    `INSERT INTO insight_citations (organisation_id, day, space_id, document_id, citations)
     SELECT n.organisation_id, n.day, n.space_id, n.document_id, n.citations
       FROM unnest($1::uuid[], $2::date[], $3::uuid[], $4::uuid[], $5::int8[])
         AS n (organisation_id, day, space_id, document_id, citations)
       JOIN spaces s ON s.id = n.space_id
      ORDER BY 1, 2, 3, 4
     ON CONFLICT (organisation_id, day, space_id, document_id)
       DO UPDATE SET citations = insight_citations.citations + excluded.citations`,
    columnsOf(rows, 'organisationId', 'day', 'spaceId', 'documentId', 'citations'),
    { timeoutMs: writeTimeoutMs },
  )
}

async function addAnswers(transaction: Queryable, rows: readonly AnswerCount[]) {
  if (rows.length === 0) return
  await transaction.execute(
    `INSERT INTO insight_answers (organisation_id, day, space_id, answers, unanswered)
     SELECT n.organisation_id, n.day, n.space_id, n.answers, n.unanswered
       FROM unnest($1::uuid[], $2::date[], $3::uuid[], $4::int8[], $5::int8[])
         AS n (organisation_id, day, space_id, answers, unanswered)
       JOIN spaces s ON s.id = n.space_id
      ORDER BY 1, 2, 3
     ON CONFLICT (organisation_id, day, space_id)
       DO UPDATE SET answers = insight_answers.answers + excluded.answers,
         unanswered = insight_answers.unanswered + excluded.unanswered`,
    columnsOf(rows, 'organisationId', 'day', 'spaceId', 'answers', 'unanswered'),
    { timeoutMs: writeTimeoutMs },
  )
}

/** The setting of the Space counts as it is now. */
const keepsQuestions = `coalesce((s.settings->>'keepUnansweredQuestions')::bool, false)`

async function addQuestions(transaction: Queryable, rows: readonly AskedQuestion[]) {
  if (rows.length === 0) return
  await transaction.execute(
    `INSERT INTO insight_questions (space_id, question_hash, organisation_id, question, asked, last_asked_at)
     SELECT n.space_id, decode(n.hash, 'hex'), n.organisation_id, n.question, n.asked, to_timestamp(n.ms / 1000.0)
       FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::int8[], $6::int8[])
         AS n (space_id, hash, organisation_id, question, asked, ms)
       JOIN spaces s ON s.id = n.space_id AND ${keepsQuestions}
      ORDER BY 1, 2
     ON CONFLICT (space_id, question_hash)
       DO UPDATE SET asked = insight_questions.asked + excluded.asked, question = excluded.question,
         last_asked_at = greatest(insight_questions.last_asked_at, excluded.last_asked_at)`,
    columnsOf(rows, 'spaceId', 'hash', 'organisationId', 'question', 'asked', 'lastAskedAtMs'),
    { timeoutMs: writeTimeoutMs },
  )
  await transaction.execute(
    `DELETE FROM insight_questions q USING (
       SELECT space_id, question_hash FROM unnest($1::uuid[]) AS given (id)
         CROSS JOIN LATERAL (SELECT space_id, question_hash FROM insight_questions
           WHERE space_id = given.id ORDER BY last_asked_at DESC OFFSET $2::int8) AS beyond
     ) old WHERE q.space_id = old.space_id AND q.question_hash = old.question_hash`,
    [[...new Set(rows.map((row) => row.spaceId))].toSorted(), insightLimits.questionsPerSpace],
    { timeoutMs: writeTimeoutMs },
  )
}

async function loadInsights(database: Database, query: InsightQuery): Promise<Insights> {
  const { organisationId, from, to, timeZone, spaceId, limit } = query
  const own = database.for(organisationId)
  const range = [organisationId, from, to, spaceId, limit]
  const where = `organisation_id = $1 AND day BETWEEN $2::date AND $3::date AND ($4::uuid IS NULL OR space_id = $4::uuid)`
  const [documents, spaces, questions] = await Promise.all([
    own.query<{ documentId: string; spaceId: string; citations: string }>(
      `SELECT document_id AS "documentId", space_id AS "spaceId", sum(citations)::text AS citations
         FROM insight_citations WHERE ${where}
        GROUP BY document_id, space_id ORDER BY sum(citations) DESC, document_id LIMIT $5`,
      range,
    ),
    own.query<{ spaceId: string; answers: string; unanswered: string }>(
      `SELECT space_id AS "spaceId", sum(answers)::text AS answers, sum(unanswered)::text AS unanswered
         FROM insight_answers WHERE ${where}
        GROUP BY space_id ORDER BY sum(unanswered) DESC, sum(answers) DESC, space_id LIMIT $5`,
      range,
    ),
    own.query<Omit<Insights['questions'][number], 'asked'> & { asked: string }>(
      `SELECT q.space_id AS "spaceId", q.question, q.asked::text AS asked, q.last_asked_at AS "lastAskedAt"
         FROM insight_questions q JOIN spaces s ON s.id = q.space_id AND ${keepsQuestions}
        WHERE q.organisation_id = $1 AND ($4::uuid IS NULL OR q.space_id = $4::uuid)
          AND q.last_asked_at >= $2::date::timestamp AT TIME ZONE $6::text
          AND q.last_asked_at < ($3::date + 1)::timestamp AT TIME ZONE $6::text
        ORDER BY q.last_asked_at DESC LIMIT $5`,
      [...range, timeZone],
    ),
  ])
  return {
    documents: documents.map((row) => ({ ...row, citations: Number(row.citations) })),
    spaces: spaces.map((row) => ({ ...row, answers: Number(row.answers), unanswered: Number(row.unanswered) })),
    questions: questions.map((row) => ({ ...row, asked: Number(row.asked) })),
  }
}

async function loadQuestions(database: Database, query: KeptQuestionsQuery): Promise<KeptQuestions> {
  const { organisationId, spaceId, except, limit, offset } = query
  const own = database.for(organisationId)
  const matching = `insight_questions q JOIN spaces s ON s.id = q.space_id AND ${keepsQuestions}
    WHERE q.space_id = $1 AND NOT encode(q.question_hash, 'hex') = ANY($2::text[])`
  const total = await countRows(own, matching, [spaceId, except])
  const rows = await own.query<{ question: string; asked: string; lastAskedAt: Date }>(
    `SELECT q.question, q.asked::text AS asked, q.last_asked_at AS "lastAskedAt" FROM ${matching}
      ORDER BY q.asked DESC, q.last_asked_at DESC, q.question_hash LIMIT $3 OFFSET $4`,
    [spaceId, except, limit, offset],
  )
  return { total, questions: rows.map((row) => ({ ...row, asked: Number(row.asked) })) }
}

/** Removes kept questions of a Space by their hashes, hexadecimal. Returns how many. */
export const removeQuestions = (transaction: Queryable, spaceId: string, hashes: readonly string[]): Promise<number> =>
  transaction.execute(
    `DELETE FROM insight_questions WHERE space_id = $1
       AND question_hash IN (SELECT decode(hash, 'hex') FROM unnest($2::text[]) AS given (hash))`,
    [spaceId, [...hashes]],
  )

/** Removes the counts of citations of a document, at most `limit` rows. Returns how many. */
export const removeCitations = (
  transaction: Queryable,
  { organisationId, documentId, limit }: { organisationId: string; documentId: string; limit: number },
): Promise<number> =>
  transaction.execute(
    `DELETE FROM insight_citations WHERE (organisation_id, day, space_id, document_id) IN (
       SELECT organisation_id, day, space_id, document_id FROM insight_citations
        WHERE organisation_id = $1 AND document_id = $2 LIMIT $3::int8)`,
    [organisationId, documentId, limit],
  )

export function countCitations(database: Database, organisationId: string, documentId: string): Promise<number> {
  const matching = 'insight_citations WHERE organisation_id = $1 AND document_id = $2'
  return countRows(database.for(organisationId), matching, [organisationId, documentId], { background: true })
}

const dayMs = 86_400_000

/** A day that began 48 hours ago is over in every time zone. A week, in case that the service did not run. */
async function prune(database: Database, nowMs: number): Promise<void> {
  const oldestDay = new Date(nowMs - insightLimits.countedDays * dayMs).toISOString().slice(0, 10)
  const overDay = new Date(nowMs - 2 * dayMs).toISOString().slice(0, 10)
  const options = { timeoutMs: maintenanceTimeoutMs }
  for (const table of ['insight_citations', 'insight_answers'])
    await database.for(sharedOwner).execute(`DELETE FROM ${table} WHERE day < $1::date`, [oldestDay], options)
  await database.for(sharedOwner).execute(
    `DELETE FROM insight_citations c USING (
       SELECT organisation_id, day, space_id, document_id FROM (
         SELECT organisation_id, day, space_id, document_id,
           row_number() OVER (PARTITION BY organisation_id, day ORDER BY citations DESC, document_id) AS place
           FROM insight_citations WHERE day BETWEEN $1::date - 7 AND $1::date) ranked
        WHERE place > $2::int8
     ) old WHERE c.organisation_id = old.organisation_id AND c.day = old.day AND c.space_id = old.space_id
       AND c.document_id = old.document_id`,
    [overDay, insightLimits.documentsPerDay],
    options,
  )
  await database.for(sharedOwner).execute(
    `DELETE FROM insight_questions q USING spaces s
      WHERE s.id = q.space_id AND (q.last_asked_at < $1 OR NOT ${keepsQuestions})`,
    [new Date(nowMs - insightLimits.questionDays * dayMs)],
    options,
  )
}
