import { createHash } from 'node:crypto'
import { type Clock, describeError, type Log } from '../../platform/kernel/index.ts'
import {
  type AnswerCount,
  type AskedQuestion,
  type CitationCount,
  insightLimits,
  type InsightQuery,
  type Insights,
  type InsightStore,
  type KeptQuestions,
  type KeptQuestionsQuery,
} from './insights.store.ts'

/** An answer of a published chat that has reached its references. */
export interface GivenAnswer {
  organisation: { readonly id: string; readonly timeZone: string }
  space: { readonly id: string; readonly settings: { readonly keepUnansweredQuestions: boolean } }
  /** The documents of its references. None: the answer counts as unanswered. */
  documentIds: readonly string[]
  question: string
}

export type InsightService = ReturnType<typeof createInsights>

const flushEveryMs = 5_000
const pruneEveryMs = 3_600_000
/** Rows in memory above which further ones are dropped until the next write: bounds the memory while the database is lost. */
const maximumNoted = 20_000
/** A question is cut to this many UTF-16 units before anything else looks at it. */
const maximumReadUnits = 4 * insightLimits.questionCharacters

/** Counts cited documents and unanswered questions of published chats, in batches next to the answers. */
export function createInsights({ store, clock, log }: { store: InsightStore; clock: Clock; log: Log }) {
  let noted = createNoted()
  let dropped = 0
  let writing = Promise.resolve()
  const dayOf = createDays()

  async function writeNoted() {
    if (dropped > 0) log.warn({ answers: dropped }, 'answers were not counted for insights: too many are waiting')
    dropped = 0
    if (noted.size() === 0) return
    const batch = noted
    noted = createNoted()
    try {
      await store.add(batch.rows())
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'insights could not be written; retrying')
      // The earlier counts continue; what was noted meanwhile is added to them.
      batch.merge(noted.rows())
      noted = batch
    }
  }
  const flush = () => (writing = writing.then(writeNoted))
  const prune = () =>
    void store
      .prune(clock.now())
      .catch((error: unknown) => log.warn({ reason: describeError(error) }, 'old insights could not be removed'))
  const stops = [clock.every(flushEveryMs, () => void flush()), clock.every(pruneEveryMs, prune)]

  return {
    /** Counts an answer in memory; never throws and never waits. A process that is killed loses the last seconds. */
    note(answer: GivenAnswer): void {
      if (noted.size() >= maximumNoted) {
        dropped++
        return
      }
      try {
        noted.merge(rowsOf(answer, dayOf(answer.organisation.timeZone, clock.now()), clock.now()))
      } catch (error) {
        log.warn({ reason: describeError(error) }, 'an answer could not be counted for insights')
      }
    },
    /** Counts of this instance appear some seconds later, of others as well. */
    load: (query: InsightQuery): Promise<Insights> => store.load(query),
    /** Kept questions of one Space that no answer had references for. */
    loadQuestions: (query: KeptQuestionsQuery): Promise<KeptQuestions> => store.loadQuestions(query),
    /** Writes what is noted. */
    flush,
    async close(): Promise<void> {
      for (const stop of stops) stop()
      await flush()
    },
  }
}

function rowsOf({ organisation, space, documentIds, question }: GivenAnswer, day: string, nowMs: number) {
  const place = { organisationId: organisation.id, spaceId: space.id }
  const isUnanswered = documentIds.length === 0
  const keeps = isUnanswered && space.settings.keepUnansweredQuestions
  const text = keeps ? readQuestion(question) : ''
  return {
    citations: [...new Set(documentIds)].map((documentId) => ({ ...place, day, documentId, citations: 1 })),
    answers: [{ ...place, day, answers: 1, unanswered: isUnanswered ? 1 : 0 }],
    questions: text === '' ? [] : [{ ...place, hash: hashOf(text), question: text, asked: 1, lastAskedAtMs: nowMs }],
  }
}

/** One line of at most 1,000 characters that a database can store. */
function readQuestion(question: string): string {
  const line = question.slice(0, maximumReadUnits).toWellFormed().replaceAll('\0', ' ').replaceAll(/\s+/g, ' ').trim()
  return [...line].slice(0, insightLimits.questionCharacters).join('')
}

/** Identifies a kept question, hexadecimal: questions that differ in spaces and capitals only are the same. */
export const hashQuestion = (question: string) => hashOf(readQuestion(question))

const hashOf = (text: string) => createHash('sha256').update(text.toLowerCase()).digest('hex')

/** Counts by their keys. */
function createNoted() {
  const citations = new Map<string, CitationCount>()
  const answers = new Map<string, AnswerCount>()
  const questions = new Map<string, AskedQuestion>()
  return {
    size: () => citations.size + answers.size + questions.size,
    rows: () => ({
      citations: [...citations.values()],
      answers: [...answers.values()],
      questions: [...questions.values()],
    }),
    merge(rows: { citations: CitationCount[]; answers: AnswerCount[]; questions: AskedQuestion[] }) {
      for (const row of rows.citations) {
        const key = `${row.day} ${row.spaceId} ${row.documentId}`
        citations.set(key, { ...row, citations: row.citations + (citations.get(key)?.citations ?? 0) })
      }
      for (const row of rows.answers) {
        const key = `${row.day} ${row.spaceId}`
        const known = answers.get(key)
        answers.set(key, {
          ...row,
          answers: row.answers + (known?.answers ?? 0),
          unanswered: row.unanswered + (known?.unanswered ?? 0),
        })
      }
      for (const row of rows.questions) {
        const key = `${row.spaceId} ${row.hash}`
        questions.set(key, { ...row, asked: row.asked + (questions.get(key)?.asked ?? 0) })
      }
    },
  }
}

/** `YYYY-MM-DD` in a time zone. A formatter takes long to make, so one per zone is kept; there are some hundreds of zones. */
function createDays() {
  const formats = new Map<string, Intl.DateTimeFormat>()
  return (timeZone: string, nowMs: number): string => {
    const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    formats.set(timeZone, format)
    return format.format(nowMs)
  }
}
