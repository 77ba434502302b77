/**
 * How long the lists of a Space with 100,000 documents take: bin/run bench/document-lists.ts [--documents N]
 * [--rounds 5] [--json FILE]. The pages are compared with 100 rows that are read by their keys. On the embedded engine in a
 * new folder, or on the server that PORTICO_TEST_DATABASE_URL names (its schema portico_corpus; the documents are removed again).
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createDocumentStore } from '../src/documents/documents/index.ts'
import { createJobQueue } from '../src/platform/jobs/index.ts'
import { createOrganisationId, createSpaceId, silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { insertDocumentRows } from '../test/harness/document-rows.ts'
import { figureWriter } from './runner/figures.ts'
import { runPaired } from './runner/paired.ts'
import { openDatabases } from '../test/harness/statements.ts'

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
})
const write = figureWriter(values.json)
const count = Number(values.documents)
const rounds = Number(values.rounds)
const repetitions = 8
const limitMs = 300

const dataFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-lists-'))
const databaseUrl = process.env['PORTICO_TEST_DATABASE_URL']
const databases = await openDatabases({ dataFolder, databaseUrl, clock: systemClock, log: silentLog })
const { corpus } = databases
const jobs = createJobQueue({ database: corpus, clock: systemClock, log: silentLog })
const store = createDocumentStore({ database: corpus, jobs, removeFromIndex: async () => {} })
const [organisationId, spaceId] = [createOrganisationId(), createSpaceId()]
type Query = Parameters<typeof store.loadList>[2]

async function measure(name: string, call: () => Promise<unknown>): Promise<number> {
  const byKey = () => corpus.query('select * from documents where id = any($1::uuid[])', [keys])
  const subjects = [
    { name: 'list', call },
    { name: '100 rows by key', reference: true, call: byKey },
  ]
  const times = await runPaired({ case: name, rounds, repetitions, subjects, write })
  const timesMs = times.get('list')!
  timesMs.sort((left, right) => left - right)
  const at = (share: number) => timesMs[Math.floor((timesMs.length - 1) * share)]!
  console.log(`${name.padEnd(44)} p50 ${at(0.5).toFixed(1).padStart(6)} ms   p95 ${at(0.95).toFixed(1).padStart(6)} ms`)
  return at(0.95)
}

let keys: string[] = []
const list = (query: Partial<Query>) =>
  store.loadList(organisationId, spaceId, {
    filter: {},
    sort: 'newest',
    after: undefined,
    offset: 0,
    limit: 100,
    ...query,
  })

try {
  await insertDocumentRows(corpus, { organisationId, spaceId, count })
  console.log(`${corpus.engine}, ${count} documents of one Space, pages of 100`)
  const middle = Math.floor(count / 2)
  const rows = await corpus.query<{ id: string }>(
    'select id from documents where space_id = $1 order by md5(id::text) limit 100',
    [spaceId],
  )
  keys = rows.map(({ id }) => id)
  const { last } = await list({ offset: middle })
  const queries: [string, Partial<Query>][] = [
    ['newest', {}],
    ['newest, from the middle', { offset: middle }],
    ['newest, the end', { offset: count - 100 }],
    ['newest, after a document of the middle', { after: last }],
    ['by name, from the middle', { sort: 'name', offset: middle }],
    ['by size, from the middle', { sort: 'largest', offset: middle }],
    ['failed', { filter: { status: 'failed' } }],
    ['one failure code', { filter: { failure: 'no_text' } }],
    ['ready, from the middle', { filter: { status: 'ready' }, offset: middle }],
    ['one format, from its middle', { filter: { format: 'csv' }, offset: Math.floor(count / 10) }],
    ['search with few matches', { filter: { search: 'ff00a' } }],
    ['search that matches all, from the middle', { filter: { search: 'report' }, sort: 'smallest', offset: middle }],
    ['search in failed', { filter: { search: 'ff', status: 'failed' }, sort: 'name' }],
  ]
  let slowest = 0
  for (const [name, query] of queries) slowest = Math.max(slowest, await measure(name, () => list(query)))
  slowest = Math.max(
    slowest,
    await measure('counts of the event stream', () => store.loadContents(organisationId, spaceId)),
  )
  console.log(`slowest p95 ${slowest.toFixed(0)} ms, limit ${limitMs} ms`)
  if (slowest > limitMs) process.exitCode = 1
} finally {
  await corpus.execute('delete from documents where space_id = $1', [spaceId], { timeoutMs: 600_000 })
  await databases.close()
  fs.rmSync(dataFolder, { recursive: true, force: true })
}
