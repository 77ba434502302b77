import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertOrganisation, insertSpace } from '../../../test/harness/control-rows.ts'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createUuid, type Log, silentLog } from '../../platform/kernel/index.ts'
import { createInsights, type GivenAnswer } from './insights.ts'
import { createInsightStore, insightLimits } from './insights.store.ts'

const nowMs = Date.parse('2026-11-21T18:00:00Z')
const dayMs = 86_400_000
const organisation = { id: createUuid(nowMs), timeZone: 'Asia/Tokyo' }
const [one, two, three] = [createUuid(nowMs), createUuid(nowMs), createUuid(nowMs)] as [string, string, string]

let databases: TestDatabases
let store: ReturnType<typeof createInsightStore>
let space: GivenAnswer['space']

beforeAll(async () => {
  databases = await openTestDatabases()
  store = createInsightStore(databases.control)
  await insertOrganisation(databases.control, organisation.id)
})
afterAll(() => databases.drop())
beforeEach(async () => {
  space = await createSpace(true)
})

async function createSpace(keepUnansweredQuestions: boolean): Promise<GivenAnswer['space']> {
  const id = createUuid(nowMs)
  await insertSpace(databases.control, { id, organisationId: organisation.id, settings: { keepUnansweredQuestions } })
  return { id, settings: { keepUnansweredQuestions } }
}

const setKeeps = (value: boolean) =>
  databases.control.execute(`UPDATE spaces SET settings = $2::jsonb WHERE id = $1`, [
    space.id,
    JSON.stringify({ keepUnansweredQuestions: value }),
  ])

function start({ add = store.add, log = silentLog }: { add?: typeof store.add; log?: Log } = {}) {
  const clock = createFakeClock(nowMs)
  const insights = createInsights({ store: { ...store, add }, clock, log })
  return {
    clock,
    insights,
    note: (documentIds: string[], question = 'Why?', given = space) =>
      insights.note({ organisation, space: given, documentIds, question }),
    load: (range: { from?: string; to?: string } = {}) =>
      insights.load({
        organisationId: organisation.id,
        // 18:00 UTC is the next day in Tokyo.
        from: '2026-11-22',
        to: '2026-11-22',
        timeZone: organisation.timeZone,
        spaceId: space.id,
        limit: 10,
        ...range,
      }),
  }
}

describe('insights', () => {
  test('count the documents of references, once per answer, on the day of the organisation', async () => {
    const { insights, note, load } = start()
    note([one, two, one])
    note([one])
    note([two, one])
    await insights.flush()
    note([three])
    await insights.close()
    const { documents, spaces } = await load()
    expect(documents.map(({ documentId, citations }) => [documentId, citations])).toEqual([
      [one, 3],
      [two, 2],
      [three, 1],
    ])
    expect(spaces).toEqual([{ spaceId: space.id, answers: 4, unanswered: 0 }])
    expect(await load({ from: '2026-11-01', to: '2026-11-21' })).toEqual({ documents: [], spaces: [], questions: [] })
  })

  test('add the counts of two instances that write at the same time', async () => {
    const [here, there] = [start(), start()]
    for (let round = 0; round < 20; round++) {
      here.note([one, two])
      there.note([two, one])
      await Promise.all([here.insights.flush(), there.insights.flush()])
    }
    expect((await here.load()).documents.map(({ citations }) => citations)).toEqual([40, 40])
  })

  test('count an answer without a reference, and keep its question once with the number of times', async () => {
    const { insights, note, load } = start()
    note([], 'When  does the\nshop open?')
    note([], 'when does the shop open?')
    note([], 'x'.repeat(200_000))
    note([one], 'Answered')
    await insights.flush()
    const { spaces, questions } = await load()
    expect(spaces).toEqual([{ spaceId: space.id, answers: 4, unanswered: 3 }])
    expect(questions.map(({ question, asked }) => [question.length, asked]).toSorted()).toEqual([
      [1_000, 1],
      [24, 2],
    ])
  })

  test('keep no question of a Space without the setting, and none after it was turned off', async () => {
    const closed = await createSpace(false)
    const { insights, note, load } = start()
    note([], 'Secret', closed)
    note([], 'Kept')
    await insights.flush()
    const texts = async () =>
      (await databases.control.query<{ question: string }>(`SELECT question FROM insight_questions`)).map(
        ({ question }) => question,
      )
    expect(await texts()).not.toContain('Secret')
    await setKeeps(false)
    expect((await load()).questions).toEqual([])
    note([], 'Noted before the instance knew')
    await insights.flush()
    expect(await texts()).not.toContain('Noted before the instance knew')
    await store.prune(nowMs)
    expect(await texts()).not.toContain('Kept')
  })

  test('keep the newest questions of a Space, up to the limit, and remove them after 90 days', async () => {
    const questions = Array.from({ length: insightLimits.questionsPerSpace + 5 }, (_, index) => ({
      organisationId: organisation.id,
      spaceId: space.id,
      hash: index.toString(16).padStart(64, '0'),
      question: `Question ${index}`,
      asked: 1,
      lastAskedAtMs: nowMs + index,
    }))
    await store.add({ citations: [], answers: [], questions })
    const count = async () =>
      (
        await databases.control.query<{ first: string; count: number }>(
          `SELECT count(*)::int4 AS count, min(last_asked_at)::text AS first FROM insight_questions WHERE space_id = $1`,
          [space.id],
        )
      )[0]!
    expect((await count()).count).toBe(insightLimits.questionsPerSpace)
    expect((await start().load()).questions[0]!.question).toBe(`Question ${questions.length - 1}`)
    await store.prune(nowMs + (insightLimits.questionDays + 1) * dayMs)
    expect((await count()).count).toBe(0)
  })

  test('are removed after 400 days', async () => {
    const place = { organisationId: organisation.id, spaceId: space.id, day: '2026-11-18' }
    await store.add({
      citations: [{ ...place, documentId: createUuid(nowMs), citations: 1 }],
      answers: [{ ...place, answers: 1, unanswered: 0 }],
      questions: [],
    })
    const count = async () =>
      (
        await databases.control.query<{ count: number }>(
          `SELECT ((SELECT count(*) FROM insight_answers WHERE space_id = $1)
             + (SELECT count(*) FROM insight_citations WHERE space_id = $1))::int4 AS count`,
          [space.id],
        )
      )[0]!.count
    const dayAfter = Date.parse('2026-11-19T00:00:00Z')
    await store.prune(dayAfter + (insightLimits.countedDays - 1) * dayMs - 1)
    expect(await count()).toBe(2)
    await store.prune(dayAfter + insightLimits.countedDays * dayMs)
    expect(await count()).toBe(0)
  })

  test('keep the most cited documents of a day that is over', async () => {
    const citations = Array.from({ length: insightLimits.documentsPerDay + 3 }, (_, index) => ({
      organisationId: organisation.id,
      day: '2026-11-18',
      spaceId: space.id,
      documentId: createUuid(nowMs),
      citations: index + 1,
    }))
    await store.add({ citations, answers: [], questions: [] })
    await store.prune(Date.parse('2026-11-20T12:00:00Z'))
    const [row] = await databases.control.query<{ count: number; least: number }>(
      `SELECT count(*)::int4 AS count, min(citations)::int4 AS least FROM insight_citations WHERE space_id = $1`,
      [space.id],
    )
    expect(row).toEqual({ count: insightLimits.documentsPerDay, least: 4 })
  })

  test('survive a lost database without a lost count, and never fail an answer', async () => {
    let isLost = true
    const warnings: string[] = []
    const log = { ...silentLog, warn: (_fields: object, message: string) => warnings.push(message) } as unknown as Log
    const add: typeof store.add = (batch) => (isLost ? Promise.reject(new Error('lost')) : store.add(batch))
    const { insights, note, load, clock } = start({ add, log })
    note([one])
    await clock.advance(5_000)
    await expect.poll(() => warnings).toEqual(['insights could not be written; retrying'])
    note([one])
    insights.note({ organisation: { id: organisation.id, timeZone: 'No/Zone' }, space, documentIds: [], question: '' })
    expect(warnings.at(-1)).toBe('an answer could not be counted for insights')
    isLost = false
    await insights.flush()
    expect((await load()).documents).toEqual([{ documentId: one, spaceId: space.id, citations: 2 }])
  })

  test('of a deleted Space are removed, and do not stop the counts of others', async () => {
    const deleted = await createSpace(true)
    const { insights, note, load } = start()
    note([one], 'Why?', deleted)
    note([], 'Lost', deleted)
    note([two])
    await databases.control.execute(`DELETE FROM spaces WHERE id = $1`, [deleted.id])
    await insights.flush()
    expect((await load()).documents).toEqual([{ documentId: two, spaceId: space.id, citations: 1 }])
  })
})
