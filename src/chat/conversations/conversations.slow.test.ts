import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeTestFolder } from '../../../test/harness/database.ts'
import { createLedger } from '../../gateway/billing/index.ts'
import { later, settledCall } from '../../gateway/billing/testing/journal-stage.ts'
import type { TestDatabase } from '../../../test/harness/statements.ts'
import { createUuid, formatPicoUsd, type Log, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { conversationLimits } from './limits.ts'
import {
  type ConversationStage,
  everything,
  given,
  openConversationStage,
  startMs,
} from './testing/conversation-stage.ts'

const dayMs = 86_400_000

let stage: ConversationStage
beforeAll(async () => {
  stage = await openConversationStage()
})
beforeEach(() => stage.beginTest())
afterAll(() => stage.drop())

describe('answers of a Space', () => {
  test('are stored once although each request repeats the conversation', async () => {
    const { answer, service, list, view } = stage.start()
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
    await stage.expectSums()
  })

  test('name the bill of an answer that is only in the journal of the ledger yet', async () => {
    const folder = makeTestFolder()
    const ledger = await createLedger({
      database: { ...stage.databases.control, engine: 'embedded' },
      clock: systemClock,
      log: silentLog,
      journal: { mode: 'local', folder: path.join(folder, 'journal'), ...later },
    })
    const { requestId, billedPicoUsd } = await settledCall(ledger)
    const { answer, service, list, view } = stage.start({ flushLedger: () => ledger.flush() })
    answer(['billed?', 'A'], { receipts: [{ requestId, model: 'answering-model', billedPicoUsd }] })
    await service.flush()
    const { turns } = (await view((await list()).items[0]!.id))!
    expect(turns[0]!.receipts).toEqual([{ requestId, billedUsd: formatPicoUsd(billedPicoUsd) }])
    await ledger.close()
    fs.rmSync(folder, { recursive: true })
  })

  test('of two instances that write at the same time are all stored, in one order', async () => {
    const [here, there] = [stage.start(), stage.start()]
    for (let round = 0; round < 10; round++) {
      here.answer([`here ${round}`, 'A'])
      there.answer([`there ${round}`, 'A'])
      await Promise.all([here.service.flush(), there.service.flush()])
    }
    expect((await here.list()).stored).toMatchObject({ conversations: 20, turns: 20 })
    await stage.expectSums()
  })

  test('that failed or were left are found by that, with their code', async () => {
    const { answer, service, list, view } = stage.start()
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
    const { answer, service, access, clock } = stage.start()
    for (let index = 0; index < 23; index++) {
      answer([`question ${index}`, 'A'])
      if (index % 3 === 0) clock.jump(10)
    }
    await service.flush()
    for (const search of [null, 'QUESTION']) {
      const seen: string[] = []
      for (let after: { lastAtMs: number; id: string } | null = null; ;) {
        const page = await access.loadPage(stage.spaceId(), { ...everything, search }, { after, limit: 5 })
        seen.push(...page.items.map(({ id }) => id))
        after = page.next
        if (!after) break
      }
      expect([seen.length, new Set(seen).size]).toEqual([23, 23])
    }
  })

  test('keep within the limits of a conversation; the oldest turns go first', async () => {
    const { answer, service, list, view } = stage.start()
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
    await stage.expectSums()
    const { items: newest } = await list({ search: '39 xx' })
    // A turn has somewhat more than 131,072 bytes.
    expect(newest.map(({ turns }) => turns)).toEqual([31])
  })

  test('of a database that is lost wait for it', async () => {
    let isLost = true
    const { control } = stage.databases
    const lines: unknown[] = []
    const log = { ...silentLog, warn: (fields: unknown, text: unknown) => void lines.push([fields, text]) } as Log
    const failing: TestDatabase = {
      ...control,
      for: () => failing,
      transaction: (work, options) =>
        isLost
          ? (control.query('SELECT pg_sleep(1)', [], { timeoutMs: 1 }) as never)
          : control.transaction(work, options),
    }
    const { answer, service, list } = stage.start({ database: failing, log })
    answer(['secret question', 'secret answer'])
    await service.flush()
    expect(JSON.stringify(lines)).toContain('57014')
    expect(JSON.stringify(lines)).not.toContain('secret')
    isLost = false
    await service.flush()
    expect((await list()).stored.turns).toBe(1)
  })

  test('are stored once when a write is repeated', async () => {
    const { control } = stage.databases
    let writes = 0
    const doubting: TestDatabase = {
      ...control,
      for: () => doubting,
      async transaction(work, options) {
        const result = await control.transaction(work, options)
        if (++writes === 1) await control.query('SELECT pg_sleep(1)', [], { timeoutMs: 1 })
        return result
      },
    }
    const { answer, service, list } = stage.start({ database: doubting })
    answer(['question', 'A'])
    await service.flush()
    await service.flush()
    expect((await list()).stored).toMatchObject({ conversations: 1, turns: 1 })
    await stage.expectSums()
  })
})

describe('a Space', () => {
  test('without the setting stores nothing, also if the instance does not know yet', async () => {
    const closed = await stage.createSpace({ keepConversations: false })
    const { answer, service } = stage.start()
    const before = await stage.countRows()
    answer(['secret', 'secret'], {}, closed)
    answer(['secret', 'secret'], {}, createUuid(startMs))
    await service.flush()
    expect(await stage.countRows()).toEqual(before)
  })

  test('that was deleted keeps nothing', async () => {
    const { answer, service, list } = stage.start()
    answer(['question', 'A'])
    await service.flush()
    await stage.databases.control.execute(`DELETE FROM spaces WHERE id = $1`, [stage.spaceId()])
    answer(['late', 'A'])
    await service.flush()
    expect((await list()).items).toEqual([])
    await service.sweep()
    const [row] = await stage.databases.control.query<{ left: bigint }>(
      `SELECT count(*) AS left FROM conversation_turns t LEFT JOIN conversation_stores k ON k.id = t.store_id WHERE k.space_id IS NULL`,
    )
    expect(row!.left).toBe(0n)
  })

  test('keeps answers for its number of days', async () => {
    const { answer, service, clock, list } = stage.start()
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
    await stage.expectSums()
  })
})

describe('a rating of an answer', () => {
  test('replaces the one before, is shown and exported, and goes with the answer', async () => {
    const { answer, view, list, rate, erase, exported } = stage.start()
    answer(['q', 'a'], { user: 'u' })
    answer(['q', 'a', 'r', 'b'], { user: 'u' })
    // No flush: the answers wait in memory.
    const ratingsOf = async () => {
      const { items } = await list()
      return (await view(items[0]!.id))!.turns.map(({ rating }) => rating)
    }
    const [first, second] = [stage.lastRequest(1), stage.lastRequest()]
    expect(await rate(second, 'down', 'The price is wrong')).toBe(true)
    expect(await ratingsOf()).toEqual([
      null,
      { rating: 'down', reason: 'The price is wrong', at: new Date(startMs).toISOString() },
    ])
    expect((await list({ having: 'disliked' })).items).toMatchObject([{ disliked: 1 }])
    await rate(second, 'down')
    await rate(first, 'up')
    await stage.expectSums()
    expect(await ratingsOf()).toMatchObject([{ rating: 'up' }, { rating: 'down', reason: null }])
    expect(await exported('csv')).toMatch(/,up,.*\r\n.*,down,/)
    await rate(second, null)
    expect((await list({ having: 'disliked' })).items).toEqual([])
    await rate(first, 'down')
    await erase({ scope: 'user', user: 'u' })
    await stage.expectSums()
    expect(await rate(first, 'up')).toBe(false)
  })

  test('waits for an answer that another instance has not written yet, for a bounded time', async () => {
    const other = stage.start()
    const { clock, rate } = stage.start({ hasOtherInstances: true })
    const asleep = () => vi.waitFor(() => expect(clock.sleeping()).toBe(1))
    other.answer(['q', 'a'])
    const rated = rate(stage.lastRequest(), 'up')
    await asleep()
    await other.service.flush()
    await clock.advance(500)
    expect(await rated).toBe(true)

    const unknown = rate('req_unknown', 'up')
    for (let retry = 0; retry < 4; retry++) {
      await asleep()
      await clock.advance(500)
    }
    expect(await unknown).toBe(false)
  })

  test('is refused for an answer of another Space', async () => {
    const { answer, rate } = stage.start()
    answer(['q', 'a'])
    const request = stage.lastRequest()
    expect(await rate(request, 'up')).toBe(true)
    await stage.beginTest()
    expect(await stage.start().rate(request, 'down')).toBe(false)
  })
})
