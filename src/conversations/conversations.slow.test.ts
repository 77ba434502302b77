import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertOrganisation, insertSpace } from '../../test/harness/control-rows.ts'
import { makeTestFolder, openTestDatabases, type TestDatabases } from '../../test/harness/database.ts'
import { createFakeClock } from '../../test/harness/fake-clock.ts'
import { createLedger } from '../billing/index.ts'
import { later, settledCall } from '../billing/testing/journal-stage.ts'
import type { Database } from '../database/index.ts'
import { createUuid, formatPicoUsd, type Log, silentLog, systemClock } from '../kernel/index.ts'
import { serviceActor } from '../operators/index.ts'
import { createConversationAccess } from './conversation-access.ts'
import type { ConversationFilter } from './conversation-list.store.ts'
import { createConversations } from './conversations.ts'
import { conversationLimits } from './limits.ts'
import { renderExport } from './render-conversations.ts'
import type { GivenAnswer, Message } from './turn.ts'

const startMs = Date.parse('2026-11-21T18:00:00Z')
const dayMs = 86_400_000
const organisationId = createUuid(startMs)

let databases: TestDatabases
let spaceId: string

beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisationId)
})
afterAll(() => databases.drop())
beforeEach(async () => {
  spaceId = await createSpace()
})

async function createSpace(settings: object = { keepConversations: true, conversationDays: 10 }): Promise<string> {
  const id = createUuid(startMs)
  await insertSpace(databases.control, { id, organisationId, settings })
  return id
}

let requests = 0
const given: GivenAnswer = {
  outcome: 'complete',
  errorCode: null,
  text: 'A',
  references: [{ id: 1, title: 'file.md', documentId: createUuid(startMs) }],
  sources: [{ source: 'UPLOADED_FILES', status: 'RETRIEVED', count: 3, query: 'q', milliseconds: 5 }],
  receipts: [{ requestId: 'req_receipt', model: 'answering-model', billedPicoUsd: 7n }],
  firstTextMs: 10,
  totalMs: 20,
}
const everything: ConversationFilter = { from: null, to: null, user: null, having: null, search: null }

const callIdsOf = (requestId: string) => [`${requestId}_query`, requestId]

interface Parts {
  database?: Database
  log?: Log
  flushLedger?: () => Promise<void>
}

function start({ database = databases.control, log = silentLog, flushLedger = () => Promise.resolve() }: Parts = {}) {
  const clock = createFakeClock(startMs)
  const service = createConversations({ database, subjectDigest: (...parts) => parts.join(' '), clock, log })
  const read = { organisationOf: () => organisationId, flushLedger, callIdsOf }
  const access = createConversationAccess({ database, service, clock, ...read })
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
    erase: (erasure: Parameters<typeof access.erase>[2]) => access.erase(spaceId, serviceActor, erasure),
  }
}

const countRows = async () => {
  const [row] = await databases.control.query<{ stores: bigint; conversations: bigint; turns: bigint }>(
    `SELECT (SELECT count(*) FROM conversation_stores) AS stores, (SELECT count(*) FROM conversations) AS conversations,
       (SELECT count(*) FROM conversation_turns) AS turns`,
  )
  return [row!.stores, row!.conversations, row!.turns].map(Number)
}

/** The sums of conversations and stores are those of their turns. */
async function expectSums() {
  const wrong = await databases.control.query(
    `SELECT v.id FROM conversations v LEFT JOIN LATERAL (
         SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes, count(*) FILTER (WHERE outcome <> 'complete') AS failed,
           count(*) FILTER (WHERE unanswered) AS unanswered, coalesce(sum(billed_pico_usd), 0) AS billed,
           min(at) AS first, max(at) AS last, max(number) AS number
           FROM conversation_turns WHERE conversation_id = v.id) t ON true
      WHERE (v.turns, v.bytes, v.failed, v.unanswered, v.billed_pico_usd, v.started_at, v.last_at)
        IS DISTINCT FROM (t.turns, t.bytes, t.failed, t.unanswered, t.billed, t.first, t.last) OR v.last_number < t.number
     UNION ALL
     SELECT k.id FROM conversation_stores k LEFT JOIN LATERAL (
         SELECT count(*) AS conversations, coalesce(sum(turns), 0) AS turns, coalesce(sum(bytes), 0) AS bytes
           FROM conversations WHERE store_id = k.id) v ON true
      WHERE k.space_id IS NOT NULL AND (k.conversations, k.turns, k.bytes) IS DISTINCT FROM (v.conversations, v.turns, v.bytes)`,
  )
  expect(wrong).toEqual([])
}

describe('answers of a Space', () => {
  test('are stored once although each request repeats the conversation', async () => {
    const { answer, service, list, view } = start()
    const texts: string[] = []
    for (let turn = 0; turn < 6; turn++) {
      texts.push(`question ${turn}`, `answer ${turn} [1]`)
      answer(texts, { user: 'visitor' })
      if (turn % 2) await service.flush()
    }
    await service.flush()
    const { items, stored } = await list()
    expect(items).toMatchObject([
      { user: 'visitor', turns: 6, failed: 0, unanswered: 0, billedPicoUsd: 42n, opening: 'question 0' },
    ])
    expect(stored).toMatchObject({ conversations: 1, turns: 6 })
    const found = (await view(items[0]!.id))!
    expect(
      found.turns.map(({ number, follows, question, answer: text, given: more }) => [
        number,
        follows,
        question,
        text,
        more,
      ]),
    ).toEqual(
      Array.from({ length: 6 }, (_none, turn) => [
        turn + 1,
        turn || null,
        `question ${turn}`,
        `answer ${turn} [1]`,
        null,
      ]),
    )
    expect(found.turns[0]).toMatchObject({
      model: 'answering-model',
      references: given.references,
      sources: given.sources,
      billedUsd: '0.000000000007',
      firstTextMs: 10,
      totalMs: 20,
      outcome: 'complete',
    })
    await expectSums()
  })

  test('name the bill of an answer that is only in the journal of the ledger yet', async () => {
    const folder = makeTestFolder()
    const ledger = await createLedger({
      database: { ...databases.control, engine: 'embedded' },
      clock: systemClock,
      log: silentLog,
      journal: { mode: 'local', folder: path.join(folder, 'journal'), ...later },
    })
    const { requestId, billedPicoUsd } = await settledCall(ledger)
    const { answer, service, list, view } = start({ flushLedger: () => ledger.flush() })
    answer(['billed?', 'A'], { receipts: [{ requestId, model: 'answering-model', billedPicoUsd }] })
    await service.flush()
    const { turns } = (await view((await list()).items[0]!.id))!
    expect(turns[0]!.receipts).toEqual([{ requestId, billedUsd: formatPicoUsd(billedPicoUsd) }])
    await ledger.close()
    fs.rmSync(folder, { recursive: true })
  })

  test('of two instances that write at the same time are all stored, in one order', async () => {
    const [here, there] = [start(), start()]
    for (let round = 0; round < 10; round++) {
      here.answer([`here ${round}`, 'A'])
      there.answer([`there ${round}`, 'A'])
      await Promise.all([here.service.flush(), there.service.flush()])
    }
    expect((await here.list()).stored).toMatchObject({ conversations: 20, turns: 20 })
    await expectSums()
  })

  test('that failed or were left are found by that, with their code', async () => {
    const { answer, service, list, view } = start()
    answer(['fine', 'A'])
    answer(['nothing found', 'A'], { references: [] })
    answer(['broken', 'Ha'], { outcome: 'failed', errorCode: 'upstream_error', receipts: [], references: [] })
    answer(['gone', ''], { outcome: 'left', receipts: [], references: [] })
    await service.flush()
    const openings = async (having: 'failed' | 'unanswered') =>
      (await list({ having })).items.map(({ opening }) => opening).toSorted()
    expect(await openings('failed')).toEqual(['broken', 'gone'])
    expect(await openings('unanswered')).toEqual(['nothing found'])
    const broken = (await list({ search: 'BROK' })).items
    expect((await view(broken[0]!.id))!.turns).toMatchObject([
      { outcome: 'failed', errorCode: 'upstream_error', answer: 'Ha', billedUsd: null, receipts: [] },
    ])
  })

  test('are listed newest first in pages that neither repeat nor miss one', async () => {
    const { answer, service, access, clock } = start()
    for (let index = 0; index < 23; index++) {
      answer([`question ${index}`, 'A'])
      if (index % 3 === 0) clock.jump(10)
    }
    await service.flush()
    for (const search of [null, 'QUESTION']) {
      const seen: string[] = []
      for (let after: { lastAtMs: number; id: string } | null = null; ;) {
        const page = await access.loadPage(spaceId, { ...everything, search }, { after, limit: 5 })
        seen.push(...page.items.map(({ id }) => id))
        after = page.next
        if (!after) break
      }
      expect([seen.length, new Set(seen).size]).toEqual([23, 23])
    }
  })

  test('keep within the limits of a conversation; the oldest turns go first', async () => {
    const { answer, service, list, view } = start()
    const texts: string[] = []
    for (let turn = 0; turn < conversationLimits.turnsPerConversation + 5; turn++) {
      texts.push(`question ${turn}`, 'A')
      answer(texts)
      if (turn % 20 === 0) await service.flush()
    }
    await service.flush()
    const { items } = await list()
    expect(items).toMatchObject([{ turns: 200, opening: 'question 5' }])
    expect((await view(items[0]!.id))!.next).toBe(55)
    const large: string[] = []
    for (let turn = 0; turn < 40; turn++) {
      large.push(`${turn} ${'x'.repeat(66_000)}`, 'y'.repeat(70_000))
      answer(large)
      if (turn % 4 === 0) await service.flush()
    }
    await service.flush()
    await expectSums()
    const { items: newest } = await list({ search: '39 xx' })
    // A turn has somewhat more than 131,072 bytes.
    expect(newest.map(({ turns }) => turns)).toEqual([31])
  })

  test('of a database that is lost wait for it', async () => {
    let isLost = true
    const { control } = databases
    const lines: unknown[] = []
    const log = { ...silentLog, warn: (fields: unknown, text: unknown) => void lines.push([fields, text]) } as Log
    const failing: Database = {
      ...control,
      transaction: (work, options) =>
        isLost
          ? (control.query('SELECT pg_sleep(1)', [], { timeoutMs: 1 }) as never)
          : control.transaction(work, options),
    }
    const { answer, service, list } = start({ database: failing, log })
    answer(['secret question', 'secret answer'])
    await service.flush()
    expect(JSON.stringify(lines)).toContain('57014')
    expect(JSON.stringify(lines)).not.toContain('secret')
    isLost = false
    await service.flush()
    expect((await list()).stored.turns).toBe(1)
  })

  test('are stored once when a write is repeated', async () => {
    const { control } = databases
    let writes = 0
    const doubting: Database = {
      ...control,
      async transaction(work, options) {
        const result = await control.transaction(work, options)
        if (++writes === 1) await control.query('SELECT pg_sleep(1)', [], { timeoutMs: 1 })
        return result
      },
    }
    const { answer, service, list } = start({ database: doubting })
    answer(['question', 'A'])
    await service.flush()
    await service.flush()
    expect((await list()).stored).toMatchObject({ conversations: 1, turns: 1 })
    await expectSums()
  })
})

describe('a Space', () => {
  test('without the setting stores nothing, also if the instance does not know yet', async () => {
    const closed = await createSpace({ keepConversations: false })
    const { answer, service } = start()
    const before = await countRows()
    answer(['secret', 'secret'], {}, closed)
    answer(['secret', 'secret'], {}, createUuid(startMs))
    await service.flush()
    expect(await countRows()).toEqual(before)
  })

  test('that was deleted keeps nothing', async () => {
    const { answer, service, list } = start()
    answer(['question', 'A'])
    await service.flush()
    await databases.control.execute(`DELETE FROM spaces WHERE id = $1`, [spaceId])
    answer(['late', 'A'])
    await service.flush()
    expect((await list()).items).toEqual([])
    await service.sweep()
    const [row] = await databases.control.query<{ left: bigint }>(
      `SELECT count(*) AS left FROM conversation_turns t LEFT JOIN conversation_stores k ON k.id = t.store_id WHERE k.space_id IS NULL`,
    )
    expect(row!.left).toBe(0n)
  })

  test('keeps answers for its number of days', async () => {
    const { answer, service, clock, list } = start()
    answer(['old', 'A'])
    clock.jump(5 * dayMs)
    answer(['old', 'A', 'newer', 'B'])
    answer(['other', 'A'])
    await service.flush()
    clock.jump(5 * dayMs + 1)
    await service.sweep()
    const { items, stored } = await list()
    expect(items.map(({ opening, turns }) => [opening, turns]).toSorted()).toEqual([
      ['newer', 1],
      ['other', 1],
    ])
    expect(stored.turns).toBe(2)
    await expectSums()
  })
})

describe('an erasure', () => {
  async function fill() {
    const started = start()
    for (const user of ['one', 'two', null]) {
      for (let turn = 0; turn < 3; turn++) started.answer([`${user} ${turn}`, 'A'], { user })
      started.answer([`${user} 0`, 'A', 'more', 'B'], { user })
    }
    await started.service.flush()
    return started
  }
  const logged = async () =>
    (
      await databases.control.query<{ before: unknown }>(
        `SELECT before FROM admin_log WHERE action = 'conversations.removed' AND subject_id = $1 ORDER BY at`,
        [spaceId],
      )
    ).map(({ before }) => before)

  test('of a user removes all of the user and nothing else, and states how much', async () => {
    const { erase, list, exported } = await fill()
    expect(await erase({ scope: 'user', user: 'one' })).toEqual({ conversations: 3, turns: 4 })
    expect(await erase({ scope: 'user', user: 'one' })).toEqual({ conversations: 0, turns: 0 })
    expect((await list({ user: 'one' })).items).toEqual([])
    expect((await list()).stored).toMatchObject({ conversations: 6, turns: 8 })
    expect(await exported()).not.toContain('one')
    expect(await logged()).toEqual([{ scope: 'user', conversations: 3, turns: 4 }])
    await expectSums()
  })

  test('of a conversation or a time range is as exact', async () => {
    const { erase, list, answer, clock } = await fill()
    const { items } = await list({ search: 'more' })
    expect(await erase({ scope: 'conversation', conversationId: items[0]!.id })).toEqual({ conversations: 1, turns: 2 })
    clock.jump(60_000)
    answer(['null 1', 'A', 'a later question', 'B'])
    const to = new Date(startMs + 60_000)
    expect(await erase({ scope: 'time', from: new Date(startMs), to })).toEqual({ conversations: 7, turns: 10 })
    expect((await list()).items).toMatchObject([{ opening: 'a later question', turns: 1 }])
    await expectSums()
  })

  test('of everything hides it at once; later answers begin a new one', async () => {
    const { erase, list, answer, service } = await fill()
    expect(await erase({ scope: 'space' })).toEqual({ conversations: 9, turns: 12 })
    expect((await list()).items).toEqual([])
    answer(['null 0', 'A', 'after', 'B'])
    await service.flush()
    expect((await list()).items).toMatchObject([{ opening: 'after', turns: 1 }])
    await service.sweep()
    expect((await list()).stored.turns).toBe(1)
    expect(await logged()).toEqual([{ scope: 'space', conversations: 9, turns: 12 }])
  })

  test('of more than one batch removes all', async () => {
    const { answer, service, erase, list } = start()
    for (let turn = 0; turn < 1_100; turn++) answer([`question ${turn}`, 'A'], { user: 'flood' })
    answer(['stays', 'A'])
    await service.flush()
    expect(await erase({ scope: 'user', user: 'flood' })).toEqual({ conversations: 1_100, turns: 1_100 })
    expect((await list()).items).toMatchObject([{ opening: 'stays' }])
  })
})

describe('an export', () => {
  test('has every turn of a user, and only those', async () => {
    const { answer, service, exported } = start()
    for (let turn = 0; turn < 3; turn++) answer([`mine ${turn}`, 'A'], { user: 'one' })
    answer(['of another', 'A'], { user: 'two' })
    await service.flush()
    const lines = (await exported('jsonl', { user: 'one' }))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ question, user }) => [question, user]).toSorted()).toEqual([
      ['mine 0', 'one'],
      ['mine 1', 'one'],
      ['mine 2', 'one'],
    ])
  })

  test('in pages has every turn once, whatever their size', async () => {
    const { answer, service, exported } = start()
    for (let turn = 0; turn < 60; turn++) answer([`${turn} ${'x'.repeat(turn % 2 ? 10 : 65_000)}`, 'A'])
    await service.flush()
    const lines = (await exported())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { question: string })
    expect(new Set(lines.map(({ question }) => question.split(' ')[0])).size).toBe(60)
    expect(lines).toHaveLength(60)
  })

  test('as CSV has no cell that a spreadsheet runs as a formula', async () => {
    const { answer, service, exported } = start()
    answer(['=HYPERLINK("https://evil.example")', '+1\n"x"'], { user: '@user' })
    await service.flush()
    const csv = await exported('csv')
    expect(csv).toContain(`,'@user,`)
    expect(csv).toContain(`,"'=HYPERLINK(""https://evil.example"")","'+1\n""x""",`)
  })
})
