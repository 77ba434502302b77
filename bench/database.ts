/**
 * What one logical database does per second: bin/run bench/database.ts [--seconds 2] [--rounds 1] [--json FILE]. Commits are
 * compared with fdatasyncs of a file, in turns. On the embedded engine in a new folder, or on the server that PORTICO_TEST_DATABASE_URL
 * names (in its schema portico_control; the bench's tables are dropped again).
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { encodeVector } from '../src/platform/database/index.ts'
import { silentLog, systemClock } from '../src/platform/kernel/index.ts'
import { openPlainFile, type PlainStore } from './ledger/plain-stores.ts'
import { figureWriter, rotated } from './runner/figures.ts'
import { type TestDatabase, openDatabases } from '../test/harness/statements.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const write = figureWriter(values.json)
const runMs = Number(values.seconds) * 1_000
const vectorDimensions = 384
const vectorsInStatement = 50
const rowsInBatch = 100

interface Measure {
  name: string
  /** The table that each call adds `rows` to; undefined where it only reads. */
  writes?: 'bench_entry' | 'bench_vector'
  /** Rows of one call. */
  rows: number
  /** Calls under way at once. */
  parallel: number
  /** The case of the run's figures, where the measure has one. */
  case?: string
  call(): Promise<unknown>
}

/** Runs one measure and resolves to the rows that its calls claim to have written or read. */
async function measure({ name, rows, parallel, call, ...figure }: Measure, round: number): Promise<number> {
  const timesMs: number[] = []
  const processor = process.cpuUsage()
  const startMs = performance.now()
  const endMs = startMs + runMs
  async function worker() {
    while (performance.now() < endMs) {
      const callMs = performance.now()
      await call()
      timesMs.push(performance.now() - callMs)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  const seconds = (performance.now() - startMs) / 1_000
  timesMs.sort((a, b) => a - b)
  const at = (share: number) => timesMs[Math.min(timesMs.length - 1, Math.floor(timesMs.length * share))]!.toFixed(2)
  const perSecond = Math.round((timesMs.length * rows) / seconds)
  if (figure.case !== undefined) {
    const { user, system } = process.cpuUsage(processor)
    const subject = { case: figure.case, round, subject: name, reference: name.startsWith('fdatasync') }
    write({ ...subject, quantity: 'records/s', value: perSecond, better: 'higher' })
    write({ ...subject, quantity: 'processor us', value: (user + system) / timesMs.length, better: 'lower' })
  }
  console.log(`${name.padEnd(44)} ${String(perSecond).padStart(8)} rows/s   p50 ${at(0.5)} ms   p99 ${at(0.99)} ms`)
  return timesMs.length * rows
}

function measures({ control, corpus }: { control: TestDatabase; corpus: TestDatabase }, file: PlainStore): Measure[] {
  const insert = 'insert into bench_entry (note) values ($1)'
  const select = 'select note from bench_entry where id = $1'
  const notes = Array.from({ length: rowsInBatch }, (_, index) => `note ${index}`)
  const vectors = Array.from({ length: vectorsInStatement }, () =>
    encodeVector(Array.from({ length: vectorDimensions }, () => Math.random() - 0.5)),
  )
  const insertVectors = `insert into bench_vector values ${vectors.map((_, index) => `($${index + 1})`).join(', ')}`
  return [
    { name: 'fdatasync', case: 'one record at a time', rows: 1, parallel: 1, call: () => file.write() },
    { name: 'fdatasync, 16 at once', case: '16 records at once', rows: 1, parallel: 16, call: () => file.write() },
    { name: 'select by key', rows: 1, parallel: 1, call: () => control.query(select, [1n]) },
    { name: 'select by key, 16 at once', rows: 1, parallel: 16, call: () => control.query(select, [1n]) },
    {
      name: 'commit of one row',
      case: 'one record at a time',
      writes: 'bench_entry',
      rows: 1,
      parallel: 1,
      call: () => control.execute(insert, ['x']),
    },
    {
      name: 'commit of one row, 16 at once',
      case: '16 records at once',
      writes: 'bench_entry',
      rows: 1,
      parallel: 16,
      call: () => control.execute(insert, ['x']),
    },
    {
      name: 'transaction of two statements',
      writes: 'bench_entry',
      rows: 1,
      parallel: 1,
      call: () =>
        control.transaction(async (transaction) => {
          await transaction.query(select, [1n])
          await transaction.execute(insert, ['x'])
        }),
    },
    {
      name: `commit of ${rowsInBatch} rows (unnest)`,
      writes: 'bench_entry',
      rows: rowsInBatch,
      parallel: 1,
      call: () => control.execute('insert into bench_entry (note) select * from unnest($1::text[])', [notes]),
    },
    {
      name: `commit of ${vectorsInStatement} vectors of ${vectorDimensions}`,
      writes: 'bench_vector',
      rows: vectorsInStatement,
      parallel: 1,
      call: () => corpus.execute(insertVectors, vectors),
    },
  ]
}

/** A figure counts only when every row that it counts is in the table. */
async function assertWritten(database: TestDatabase, table: string, claimed: number): Promise<void> {
  const [row] = await database.query<{ count: bigint }>(`select count(*) from ${table}`)
  if (row!.count !== BigInt(claimed)) throw new Error(`${table} has ${row!.count} rows, the figures claim ${claimed}`)
}

/** Without both a commit is not on the disk when it is acknowledged, and its figure is not one of durable commits. */
async function describeDurability(database: TestDatabase): Promise<string> {
  const [row] = await database.query<{ fsync: string; synchronous: string }>(
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous`,
  )
  const isDurable = row!.fsync === 'on' && row!.synchronous !== 'off'
  return `fsync ${row!.fsync}, synchronous_commit ${row!.synchronous}: commits are ${isDurable ? '' : 'NOT '}durable`
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-bench-'))
const databaseUrl = process.env['PORTICO_TEST_DATABASE_URL'] || undefined
try {
  const openMs = performance.now()
  let databases = await openDatabases({ dataFolder: folder, databaseUrl, clock: systemClock, log: silentLog })
  const firstMs = performance.now() - openMs
  await databases.close()
  const againMs = performance.now()
  databases = await openDatabases({ dataFolder: folder, databaseUrl, clock: systemClock, log: silentLog })
  const { control, corpus } = databases
  console.log(
    `${control.engine}, PostgreSQL ${control.features.serverVersion}, Node ${process.version}, data in ${folder}`,
  )
  console.log(
    `opened in ${firstMs.toFixed(0)} ms the first time, ${(performance.now() - againMs).toFixed(0)} ms the next`,
  )
  console.log(await describeDurability(control))
  await control.execute('create table bench_entry (id bigint generated always as identity primary key, note text)')
  await corpus.execute(`create table bench_vector (embedding vector(${vectorDimensions}))`)
  await control.execute(`insert into bench_entry (note) values ('first')`)
  const claimed = { bench_entry: 1, bench_vector: 0 }
  const file = openPlainFile(folder)
  const all = measures(databases, file)
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const one of rotated(all, round)) {
      const rows = await measure(one, round)
      if (one.writes) claimed[one.writes] += rows
    }
  }
  await file.close()
  await assertWritten(control, 'bench_entry', claimed.bench_entry)
  await assertWritten(corpus, 'bench_vector', claimed.bench_vector)
  await control.execute('drop table bench_entry')
  await corpus.execute('drop table bench_vector')
  await databases.close()
  console.log(`${Math.round(process.memoryUsage.rss() / 1e6)} MB resident at the end`)
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
