/**
 * How long lists, views, search and writes take in a Space with 1,000,000 stored turns: bin/run bench/conversations.ts [--turns N]
 * [--rounds 5] [--json FILE]. The lists are compared with 50 rows that are read by their keys. On the
 * embedded engine in a new folder, or on the server that PORTICO_TEST_DATABASE_URL names (its rows are removed again).
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { callIdsOf } from '../src/chat/chat/index.ts'
import { createErasureKeys, deriveErasureKeys } from '../src/chat/erasures/index.ts'
import { createConversationAccess } from '../src/chat/conversations/index.ts'
import { loadConversations } from '../src/chat/conversations/conversation-list.store.ts'
import { createConversations } from '../src/chat/conversations/conversations.ts'
import {
  createOrganisationId,
  createSpaceId,
  createUuid,
  silentLog,
  systemClock,
} from '../src/platform/kernel/index.ts'
import { serviceActor } from '../src/tenants/operators/index.ts'
import { figureWriter } from './runner/figures.ts'
import { runPaired } from './runner/paired.ts'
import { insertOrganisation, insertSpace } from '../test/harness/control-rows.ts'
import { openDatabases } from '../test/harness/statements.ts'

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
})
const writeFigure = figureWriter(values.json)
const turns = Number(values.turns)
const turnsPerConversation = 5
const rounds = Number(values.rounds)
const repetitions = 6
const limitMs = 300
const options = { timeoutMs: 1_800_000 }

const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-conversations-'))
const databaseUrl = process.env['PORTICO_TEST_DATABASE_URL']
const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
const { control } = databases
const [organisationId, spaceId, storeId] = [createOrganisationId(), createSpaceId(), createUuid()]

async function fill() {
  await insertOrganisation(control, organisationId)
  await insertSpace(control, {
    id: spaceId,
    organisationId,
    settings: { keepConversations: true, conversationDays: 400 },
  })
  await control.execute(`INSERT INTO conversation_stores VALUES ($1, $2, $3, $4, $5)`, [
    storeId,
    spaceId,
    turns / turnsPerConversation,
    turns,
    turns * 600,
  ])
  const step = 50_000
  for (let from = 0; from < turns / turnsPerConversation; from += step / turnsPerConversation) {
    const range = [storeId, from, Math.min(from + step / turnsPerConversation, turns / turnsPerConversation) - 1]
    // One conversation a minute by one of 2,000 users; each 50th has a failed answer.
    await control.execute(
      `INSERT INTO conversations (id, store_id, user_tag, started_at, last_at, last_number, turns, failed, unanswered, bytes, billed_pico_usd)
       SELECT md5('conversation ' || n)::uuid, $1, 'user ' || n % 2000, now() - (200000 - n) * interval '1 minute',
         now() - (200000 - n) * interval '1 minute', ${turnsPerConversation}, ${turnsPerConversation}, (n % 50 = 0)::int, 0, 3000, 5
         FROM generate_series($2::int4, $3::int4) AS n`,
      range,
      options,
    )
    await control.execute(
      `INSERT INTO conversation_turns
       SELECT md5('conversation ' || n)::uuid, k, $1, 'user ' || n % 2000, nullif(k - 1, 0), decode(md5(n || ' ' || k), 'hex'),
         'req_bench_' || n || '_' || k, now() - (200000 - n) * interval '1 minute', null,
         'Question ' || k || ' of conversation ' || n || ': what does it cost, and when is it open?', false,
         repeat('An answer with some words that repeat. ', 10) || md5(n || ' answer ' || k), false, '[]', '[]', '{}', 'm', 1, 100,
         900, CASE WHEN n % 50 = 0 AND k = 1 THEN 'failed' ELSE 'complete' END, null, false, 600
         FROM generate_series($2::int4, $3::int4) AS n, generate_series(1, ${turnsPerConversation}) AS k`,
      range,
      options,
    )
  }
  await control.execute(`ANALYZE conversations`, [], options)
  await control.execute(`ANALYZE conversation_turns`, [], options)
}

async function measure(name: string, call: () => Promise<unknown>): Promise<number> {
  const byKey = () =>
    control.query(
      `SELECT * FROM conversations WHERE id IN (SELECT md5('conversation ' || n * 7)::uuid FROM generate_series(1, 50) AS n)`,
    )
  const subjects = [
    { name: 'Portico', call },
    { name: '50 rows by key', reference: true, call: byKey },
  ]
  const times = await runPaired({ case: name, rounds, repetitions, subjects, write: writeFigure })
  const timesMs = times.get('Portico')!
  timesMs.sort((left, right) => left - right)
  const at = (share: number) => timesMs[Math.floor((timesMs.length - 1) * share)]!
  console.log(`${name.padEnd(44)} p50 ${at(0.5).toFixed(1).padStart(6)} ms   p95 ${at(0.95).toFixed(1).padStart(6)} ms`)
  return at(0.95)
}

type Filter = Parameters<typeof loadConversations>[2]
const everything: Filter = { from: null, to: null, user: null, having: null, search: null }
const list = (filter: Partial<Filter> = {}, after: Parameters<typeof loadConversations>[3]['after'] = null) =>
  loadConversations(control, spaceId, { ...everything, ...filter }, { after, limit: 50 })

async function measureAll(): Promise<number> {
  const service = createConversations({
    database: control,
    subjectDigest: createErasureKeys(deriveErasureKeys('a secret key of benchmarks, 32 bytes')).digest,
    clock: systemClock,
    log: silentLog,
  })
  const organisationOf = () => organisationId
  const flushLedger = () => Promise.resolve()
  const read = { database: control, service, organisationOf, flushLedger, callIdsOf, clock: systemClock }
  const access = createConversationAccess({ ...read, hasOtherInstances: false })
  const middleMs = Date.now() - 100_000 * 60_000
  const middle = { lastAtMs: middleMs, id: createUuid() }
  const { items } = await list({}, middle)
  let asked = 0
  const write = async () => {
    for (let turn = 0; turn < 50; turn++) {
      const messages = [{ role: 'user' as const, content: `Question ${++asked}` }]
      const requestId = `req_${createUuid()}`
      service.begin({ requestId, organisationId, spaceId, user: 'writer', messages, model: 'm' })({
        outcome: 'complete',
        errorCode: null,
        text: `Answer ${asked}`,
        references: [],
        sources: [],
        receipts: [],
        firstTextMs: 1,
        totalMs: 2,
      })
    }
    await service.flush()
  }
  const measured = [
    await measure('newest', () => list()),
    await measure('from the middle', () => list({}, middle)),
    await measure('a day of the middle', () => list({ from: new Date(middleMs - 86_400_000), to: new Date(middleMs) })),
    await measure('of one user', () => list({ user: 'user 77' })),
    await measure('with failed answers', () => list({ having: 'failed' })),
    await measure('with unanswered questions (none)', () => list({ having: 'unanswered' })),
    await measure('search with many matches', () => list({ search: 'some WORDS' })),
    await measure('search without a match, one page', () => list({ search: 'nowhere to be found' })),
    await measure('search in the conversations of one user', () =>
      list({ search: 'conversation 77:', user: 'user 77' }),
    ),
    await measure('one conversation', () => access.loadOne(spaceId, items[0]!.id, 0)),
  ]
  await measure('storing 50 answers', write)
  await measure('erasing one user', () =>
    access.erase(spaceId, serviceActor, { scope: 'user', user: `user ${1_000 + ((asked += 1) % 1_000)}` }),
  )
  const startMs = performance.now()
  let exported = 0
  const pages = await access.export(spaceId, serviceActor, {
    ...everything,
    from: new Date(middleMs),
    to: null,
    conversationId: null,
  })
  for await (const page of pages) exported += page.length
  console.log(`export: ${Math.round(exported / ((performance.now() - startMs) / 1000))} turns/s`)
  await service.close()
  return Math.max(...measured)
}

try {
  const startMs = performance.now()
  await fill()
  console.log(
    `${control.engine}, ${turns} turns of one Space, filled in ${Math.round((performance.now() - startMs) / 1000)} s`,
  )
  const slowest = await measureAll()
  console.log(`slowest p95 ${slowest.toFixed(0)} ms, limit ${limitMs} ms`)
  if (slowest > limitMs) process.exitCode = 1
} finally {
  for (const table of ['conversation_turns', 'conversations'])
    await control.execute(`DELETE FROM ${table} WHERE store_id = $1`, [storeId], options)
  await control.execute(`DELETE FROM conversation_stores WHERE id = $1`, [storeId])
  await control.execute(`DELETE FROM spaces WHERE id = $1`, [spaceId])
  await control.execute(`DELETE FROM organisations WHERE id = $1`, [organisationId])
  await databases.close()
  fs.rmSync(dataFolder, { recursive: true, force: true })
}
