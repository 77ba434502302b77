import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabases } from '../harness/statements.ts'
import { createJobQueue } from '../../src/platform/jobs/index.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'

const victimFile = fileURLToPath(new URL('../harness/database-process.ts', import.meta.url))
let place: DatabasePlace
let children: ChildProcess[] = []

beforeEach(async () => {
  place = await freshDatabasePlace()
})
afterEach(async () => {
  for (const child of children) await kill(child)
  children = []
  await place.remove()
})

function open() {
  return openDatabases({ ...place, clock: systemClock, log: silentLog })
}

function startVictim(task: string): ChildProcess {
  const child = spawn(process.execPath, [
    victimFile,
    task,
    place.dataFolder,
    ...[place.databaseUrl, place.databaseDirectUrl].filter((url) => url !== undefined),
  ])
  children.push(child)
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Reads the output of the process until it has `count` lines, kills it, and resolves to all lines written by then. */
async function killAfter(child: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line)
    if (lines.length === count) child.kill('SIGKILL')
  }
  await kill(child)
  return lines
}

test('kill -9 during commits loses no acknowledged commit, and the database opens again, three times in a row', async () => {
  const prepared = await open()
  await prepared.control.execute('create table committed (id bigint generated always as identity primary key)')
  await prepared.close()
  const acknowledged: string[] = []
  for (const count of [7, 60, 200]) {
    acknowledged.push(...(await killAfter(startVictim('commit'), count)))
    const databases = await open()
    const rows = await databases.control.query<{ id: bigint }>('select id from committed')
    const found = new Set(rows.map((row) => String(row.id)))
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
    await databases.close()
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(267)
})

test('jobs that run when the process is killed are run again once each and counted', async () => {
  const prepared = await open()
  const queue = createJobQueue({ database: prepared.corpus, clock: systemClock, log: silentLog })
  await prepared.corpus.transaction(async (transaction) => {
    for (const key of ['one', 'two']) await queue.enqueue(transaction, { kind: 'survivor', key, payload: {} })
  })
  await prepared.close()
  expect((await killAfter(startVictim('work'), 2)).toSorted()).toEqual(['one', 'two'])

  const databases = await open()
  // A server cannot know that the process is dead before its lease has run out; here it is made to have run out.
  await databases.corpus.execute(`update job set lease_until = clock_timestamp() - interval '1 second'`)
  const next = createJobQueue({ database: databases.corpus, clock: systemClock, log: silentLog })
  const ran: string[] = []
  const both = Promise.withResolvers<void>()
  const options = { concurrency: 1, maximumAttempts: 3, backoffMs: 1, onExhausted: async () => {} }
  next.work('survivor', options, async (job) => {
    ran.push(`${job.key} attempt ${job.attempt}`)
    if (ran.length === 2) both.resolve()
  })
  await both.promise
  await next.close()
  expect(ran.toSorted()).toEqual(['one attempt 2', 'two attempt 2'])
  expect(await databases.corpus.query('select key from job')).toEqual([])
  await databases.close()
})

test.skipIf(testServerUrl() !== undefined)(
  'a second process is refused with the name of the folder, and opens it after the first is killed',
  async () => {
    const first = startVictim('hold')
    await once(first.stdout!, 'data')
    await expect(open()).rejects.toThrow(`${place.dataFolder}/database is in use by another Portico process`)
    const second = startVictim('hold')
    let complaint = ''
    second.stderr!.on('data', (bytes) => (complaint += String(bytes)))
    const [code] = (await once(second, 'close')) as [number]
    expect(code).toBe(1)
    expect(complaint).toMatch(/^DatabaseStartError: the data folder .+ is in use by another Portico process: [^\n]+\n$/)
    await kill(first)
    await (await open()).close()
  },
)
