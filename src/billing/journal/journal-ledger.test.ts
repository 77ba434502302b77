import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  freshDataFolder,
  makeTestFolder,
  openTestDatabases,
  testServerUrl,
  type TestDatabases,
} from '../../../test/harness/database.ts'
import { type Database, openDatabases } from '../../database/index.ts'
import { createRequestId, parsePicoUsd, silentLog, systemClock } from '../../kernel/index.ts'
import { createLedger, type JournalOptions, type LedgerService } from '../ledger.ts'
import { answered, callOf, insertOrganisation, organisationWith } from '../testing/ledger-fixture.ts'
import { journalFiles } from './journal-files.ts'
import { JournalLog } from './journal-log.ts'
import { loadJournal } from './journal.store.ts'
import { openSegmentFolder } from './segments.ts'

/** The ledger with a journal over the real SQL: what is durable before the database has it, and what a start does with it. */

/** Applied only when something waits for it. */
const later = { projectionDelayMs: 3_600_000 }
let databases: TestDatabases
let control: Database
let folder: string
let entriesBefore: bigint
const ledgers: LedgerService[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
  // One process has the database to itself, also on a server.
  control = { ...databases.control, engine: 'embedded' }
})
afterAll(() => databases.drop())
beforeEach(async () => {
  entriesBefore = await loadEntryCount()
  folder = path.join(makeTestFolder(), 'journal')
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
  await control.execute('delete from ledger_journal_rejects')
  fs.rmSync(path.dirname(folder), { recursive: true, force: true })
})

async function openLedger(changes: Partial<JournalOptions> = {}, database = control): Promise<LedgerService> {
  const journal = { mode: 'local' as const, folder, ...changes }
  const ledger = await createLedger({ database, clock: systemClock, log: silentLog, journal })
  ledgers.push(ledger)
  return ledger
}

/** A ledger that dies with its next statement, and the way to let it die: no timer, no statement and no close reaches the database. */
async function openMortal(changes: Partial<JournalOptions> = {}) {
  let isDead = false
  const never = () => new Promise<never>(() => {})
  const timers: (() => void)[] = []
  const mortal: Database = {
    ...control,
    query: (...given) => (isDead ? never() : control.query(...given)),
    execute: (...given) => (isDead ? never() : control.execute(...given)),
    transaction: (...given) => (isDead ? never() : control.transaction(...given)),
  }
  const clock = {
    ...systemClock,
    every(ms: number, task: () => void) {
      timers.push(systemClock.every(ms, task))
      return timers.at(-1)!
    },
  }
  const journal = { mode: 'local' as const, folder, ...later, ...changes }
  const ledger = await createLedger({ database: mortal, clock, log: silentLog, journal })
  return {
    ledger,
    kill() {
      isDead = true
      for (const stop of timers) stop()
    },
  }
}

async function settledCall(ledger: LedgerService, organisation = organisationWith('10'), output = 40) {
  const hold = await ledger.hold(callOf(organisation))
  await hold.durable
  return hold.settle(answered(90, output))
}

async function loadEntryCount(): Promise<bigint> {
  return (await control.query<{ count: bigint }>('select count(*) from ledger_entries'))[0]!.count
}

/** Of this test. */
const countEntries = async () => (await loadEntryCount()) - entriesBefore

const isRefused = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code,
  )

describe('a call that is not in the database yet', () => {
  test('has a receipt, and counts in the budget and in reports that are requested then', async () => {
    const ledger = await openLedger(later)
    const organisation = organisationWith('10')
    await insertOrganisation(control, organisation)
    const receipt = await settledCall(ledger, organisation)
    expect(await countEntries()).toBe(0n)
    expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(receipt.billedPicoUsd)
    expect(await countEntries()).toBe(1n)
    expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
    const second = await settledCall(ledger, organisation)
    const days = [new Date().toISOString().slice(0, 10)]
    const query = { organisationId: organisation.id, days, timeZone: 'UTC', by: [], limit: 10 }
    const { requests, billedPicoUsd } = await ledger.loadUsageTotals(query)
    expect({ requests, billedPicoUsd }).toEqual({
      requests: 2,
      billedPicoUsd: receipt.billedPicoUsd + second.billedPicoUsd,
    })
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('costs the database one entry, in a statement with many others, and no hold', async () => {
    const applied: unknown[][] = []
    const observed: Database = {
      ...control,
      query(statement, parameters = [], options) {
        if (statement.includes('ledger_apply_journal')) applied.push([...parameters])
        return control.query(statement, parameters, options)
      },
    }
    const ledger = await openLedger(later, observed)
    const organisation = organisationWith('10')
    await Promise.all(Array.from({ length: 50 }, () => settledCall(ledger, organisation)))
    expect(applied).toEqual([])
    expect((await ledger.audit()).findings).toEqual([])
    expect(applied).toHaveLength(1)
    const [, first, last, , opens, changes, settlements] = applied[0]!
    expect({ first, last, opens, changes }).toEqual({ first: 1, last: 100, opens: '[]', changes: '{}' })
    expect(JSON.parse(String(settlements))).toHaveLength(50)
    expect(await countEntries()).toBe(50n)
  })

  test('keeps its request id: a second call with the id is refused and not billed', async () => {
    const ledger = await openLedger(later)
    const organisation = organisationWith('1')
    const requestId = createRequestId()
    const first = await (await ledger.hold(callOf(organisation, { requestId }))).settle(answered(100, 100))
    const again = await ledger.hold(callOf(organisation, { requestId }))
    await expect(again.durable).rejects.toMatchObject({ code: 'conflict' })
    expect(await again.settle(answered(100, 100))).toEqual(first)
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(first.billedPicoUsd)
    expect((await ledger.audit()).findings).toEqual([])
  })
})

test('a bill that crosses a threshold raises its event at the next check, although the database did not have it', async () => {
  const ledger = await openLedger(later)
  const organisation = organisationWith('0.01')
  // 0.0001 for the prompt and 0.0085 for the output: 86 %.
  await (await ledger.hold(callOf(organisation, { outputCapTokens: 850 }))).settle(answered(100, 850))
  await ledger.maintain()
  const reached = await control.query('select percent from ledger_thresholds where organisation_id = $1', [
    organisation.id,
  ])
  expect(reached).toEqual([{ percent: 80 }])
})

test('a request id of an applied call is never billed twice, and the audit names the second call', async () => {
  const ledger = await openLedger(later)
  const organisation = organisationWith('1')
  const { requestId, billedPicoUsd } = await settledCall(ledger, organisation)
  await ledger.loadBudget(organisation)
  await (await ledger.hold(callOf(organisation, { requestId }))).settle(answered(100, 500))
  expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(billedPicoUsd)
  expect((await ledger.audit()).findings).toMatchObject([
    { rule: 'every record of the journal is in the ledger', subject: requestId },
  ])
})

test('a start applies what a killed process has acknowledged, and settles its open holds by policy', async () => {
  const { ledger, kill } = await openMortal()
  const organisation = organisationWith('10')
  const receipts = await Promise.all([1, 2, 3].map((output) => settledCall(ledger, organisation, output)))
  const open = await ledger.hold(callOf(organisation, { stream: true }))
  await open.durable
  open.grant(70)
  await ledger.writeProgress()
  expect(await countEntries()).toBe(0n)
  kill()
  const next = await openLedger(later)
  for (const receipt of receipts) expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
  expect(await next.loadReceipt(open.requestId)).toMatchObject({ ending: 'crashed', usage: { completionTokens: 70 } })
  expect((await next.loadBudget(organisation)).heldPicoUsd).toBe(0n)
  expect((await next.audit()).findings).toEqual([])
})

test('a ledger without a journal applies what a killed process with one has left, and removes it', async () => {
  const { ledger, kill } = await openMortal()
  const receipt = await settledCall(ledger)
  kill()
  const next = await openLedger({ mode: 'database' })
  expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
  expect(fs.existsSync(folder)).toBe(false)
  expect(await loadJournal(control)).toBeUndefined()
  await next.close()
  const again = await openLedger()
  await settledCall(again)
  expect((await again.audit()).findings).toEqual([])
})

test('a stop applies everything and gives the leases back', async () => {
  const ledger = await openLedger(later)
  await settledCall(ledger)
  const open = await ledger.hold(callOf(organisationWith('10')))
  await ledger.close()
  expect(await countEntries()).toBe(2n)
  expect((await ledger.loadReceipt(open.requestId))!.ending).toBe('shutdown')
  const left = await control.query(
    'select instance_id from ledger_leases union all select instance_id from ledger_instances',
  )
  expect(left).toEqual([])
})

describe('a disk that fails', () => {
  test('at a sync: the process must end, nothing more is acknowledged, and the next start has what was', async () => {
    let fails = false
    const fatal: Error[] = []
    const files = {
      ...journalFiles,
      sync: (descriptor: number) => (fails ? Promise.reject(new Error('EIO')) : journalFiles.sync(descriptor)),
    }
    const { ledger, kill } = await openMortal({ files, onFatal: (error) => void fatal.push(error) })
    const organisation = organisationWith('10')
    const receipt = await settledCall(ledger, organisation)
    const running = await ledger.hold(callOf(organisation))
    await running.durable
    fails = true
    expect(await isRefused(running.settle(answered(90, 40)))).not.toBe('accepted')
    fails = false
    expect(fatal.map(({ message }) => message)).toEqual(['the ledger could not write its journal'])
    expect(ledger.isAccepting()).toBe(false)
    expect(await isRefused(ledger.hold(callOf(organisation)))).toBe('overloaded')
    kill()
    const next = await openLedger()
    expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect(await next.loadReceipt(running.requestId)).toBeDefined()
    expect((await next.audit()).findings).toEqual([])
  })

  test('because it is full: calls are refused with 503 within 5 s, settlements wait for room and are billed once', async () => {
    let isFull = false
    const files = {
      ...journalFiles,
      write: (...given: Parameters<typeof journalFiles.write>) =>
        // Frames go to preallocated space; only zeros need more.
        isFull && given[1][0] === 0 ? Promise.reject(new Error('ENOSPC')) : journalFiles.write(...given),
    }
    const ledger = await openLedger({ files, segmentBytes: 16_384 })
    const organisation = organisationWith('1000')
    const holdOne = () => ledger.hold(callOf(organisation, { outputCapTokens: 500 }))
    const holds = await Promise.all(Array.from({ length: 15 }, holdOne))
    await Promise.all(holds.map((hold) => hold.durable))
    // Room for all that is open exists until the segment is used up; records are appended until then.
    isFull = true
    const settlements = holds.map((hold) => hold.settle(answered(90, 40)))
    const more: Promise<unknown>[] = []
    while (ledger.isAccepting() && more.length < 200) {
      more.push(isRefused(holdOne().then((hold) => hold.durable)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => ledger.isAccepting(), { timeout: 10_000 }).toBe(false)
    const startedMs = performance.now()
    expect(await Promise.all(more)).toContain('overloaded')
    expect(performance.now() - startedMs).toBeLessThan(6_500)
    isFull = false
    expect((await Promise.all(settlements)).map(({ ending }) => ending)).toEqual(holds.map(() => 'completed'))
    await expect.poll(() => ledger.isAccepting()).toBe(true)
    await settledCall(ledger, organisation)
    expect((await ledger.audit()).findings).toEqual([])
  }, 30_000)
})

describe('a database that is behind', () => {
  test('because it does not answer: running calls end with durable bills, new ones are refused until it is back', async () => {
    let fails = false
    const ask = <T>(work: () => Promise<T>) =>
      fails ? Promise.reject(Object.assign(new Error('connection lost'), { code: '08006' })) : work()
    const breakable: Database = {
      ...control,
      query: (...given) => ask(() => control.query(...given)) as never,
      execute: (...given) => ask(() => control.execute(...given)),
      transaction: (...given) => ask(() => control.transaction(...given)),
    }
    const ledger = await openLedger({ projectionDelayMs: 0 }, breakable)
    const organisation = organisationWith('10')
    const hold = await ledger.hold(callOf(organisation))
    await hold.durable
    fails = true
    const receipt = await hold.settle(answered(90, 40))
    expect(receipt.ending).toBe('completed')
    expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
    await expect.poll(() => ledger.isAccepting(), { timeout: 5_000 }).toBe(false)
    fails = false
    await expect.poll(() => ledger.isAccepting(), { timeout: 10_000 }).toBe(true)
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(receipt.billedPicoUsd)
    expect((await ledger.audit()).findings).toEqual([])
  }, 30_000)

  test('by too many records: new calls wait for it, and are refused at the limit', async () => {
    const waiting: (() => void)[] = []
    let isHeld = true
    const slow: Database = {
      ...control,
      async query(statement, ...rest) {
        if (isHeld && statement.includes('ledger_apply_journal')) {
          await new Promise<void>((resolve) => waiting.push(resolve))
        }
        return control.query(statement, ...rest)
      },
    }
    const ledger = await openLedger({ projectionDelayMs: 0, maximumLag: 20 }, slow)
    const organisation = organisationWith('10')
    const holds = await Promise.all(Array.from({ length: 10 }, () => ledger.hold(callOf(organisation))))
    await Promise.all(holds.map((hold) => hold.durable))
    let isAdmitted = false
    const waits = ledger.hold(callOf(organisation)).then((hold) => {
      isAdmitted = true
      return hold
    })
    await Promise.all(holds.map((hold) => hold.settle(answered(90, 40))))
    expect(isAdmitted).toBe(false)
    expect(ledger.isAccepting()).toBe(false)
    expect(await isRefused(ledger.hold(callOf(organisation)))).toBe('overloaded')
    isHeld = false
    for (const go of waiting) go()
    await (await waits).settle(answered(90, 40))
    expect((await ledger.audit()).findings).toEqual([])
  }, 30_000)
})

describe('a start', () => {
  /** The journal of a killed process that the database has not applied. */
  async function leaveJournal() {
    const { ledger, kill } = await openMortal()
    const receipt = await settledCall(ledger)
    kill()
    const [file] = fs.readdirSync(folder).filter((name) => name.endsWith('.segment'))
    return { receipt, file: path.join(folder, file!) }
  }

  test('refuses a journal that is damaged in the middle and names the way out', async () => {
    const { file } = await leaveJournal()
    const bytes = fs.readFileSync(file)
    bytes[60]! ^= 1
    fs.writeFileSync(file, bytes)
    await expect(openLedger()).rejects.toThrow(/damaged: record 1 .*Restore the whole data folder.*move the folder/s)
    expect(await countEntries()).toBe(0n)
    fs.renameSync(folder, `${folder}-old`)
    const next = await openLedger()
    await settledCall(next)
    expect((await next.audit()).findings).toEqual([])
  })

  test('refuses a journal whose end is missing, although the database has applied it', async () => {
    const ledger = await openLedger()
    await settledCall(ledger)
    await ledger.close()
    const [file] = fs.readdirSync(folder)
    fs.writeFileSync(path.join(folder, file!), Buffer.alloc(1024))
    await expect(openLedger()).rejects.toThrow('the end of the journal is missing')
  })

  test('keeps a record that the tables reject, applies all others, and the audit names it', async () => {
    const { receipt, file } = await leaveJournal()
    const { journalId } = (await loadJournal(control))!
    const [instance] = await control.query<{ id: string }>('select instance_id as id from ledger_instances')
    const line = (kind: string, requestId: string, body: string) =>
      JSON.stringify([kind, instance!.id, requestId, JSON.parse(body)])
    const [period] = await control.query<{ organisation: string; period: string }>(
      'select organisation_id as organisation, period from ledger_periods where organisation_id = $1',
      [receipt.organisationId],
    )
    const hold = JSON.stringify({
      request_id: 'req_bad',
      organisation_id: period!.organisation,
      period: period!.period,
      amount_pico_usd: '-1',
      surface: 'gateway',
      model: 'm',
      started_at: new Date().toISOString(),
      prompt_tokens: 1,
      output_tokens: 0,
      input_atto_usd: '1',
      output_atto_usd: '1',
      price_source: 's',
      markup_basis_points: 0,
    })
    // Behind the two records of the call, as the same process would have written it.
    const log = await JournalLog.open({ folder, files: journalFiles, journalId, lastSequence: 2, applied: [] })
    await log.append([line('open', 'req_bad', hold)])
    await log.close()
    expect((await openSegmentFolder(journalFiles, folder)).map((segment) => segment.file)).toContain(file)
    const next = await openLedger()
    expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await next.audit()).findings).toMatchObject([
      { rule: 'every record of the journal is in the ledger', subject: 'req_bad' },
    ])
  })
})

// The folders of the embedded engine are copied.
test.skipIf(testServerUrl() !== undefined)(
  'a start refuses a database that is older than the journal, and accepts the loss when the journal is moved away',
  async () => {
    const dataFolder = await freshDataFolder()
    const place = { dataFolder, clock: systemClock, log: silentLog }
    const journal = { mode: 'local' as const, folder: path.join(dataFolder, 'ledger-journal') }
    const open = async () => {
      const opened = await openDatabases(place)
      const ledger = createLedger({ database: opened.control, clock: systemClock, log: silentLog, journal })
      return {
        opened,
        ledger: await ledger.catch((error: unknown) => opened.close().then(() => Promise.reject(error))),
      }
    }
    const organisation = organisationWith('10')
    const first = await open()
    const kept = await settledCall(first.ledger, organisation)
    await first.ledger.close()
    await first.opened.close()
    fs.cpSync(path.join(dataFolder, 'database'), path.join(dataFolder, 'copy'), { recursive: true })

    const second = await open()
    const lost = await settledCall(second.ledger, organisation)
    await second.ledger.close()
    await second.opened.close()
    fs.rmSync(path.join(dataFolder, 'database'), { recursive: true })
    fs.renameSync(path.join(dataFolder, 'copy'), path.join(dataFolder, 'database'))

    await expect(open()).rejects.toThrow('the database is older than the journal')
    fs.renameSync(journal.folder, `${journal.folder}-old`)
    const third = await open()
    expect(await third.ledger.loadReceipt(kept.requestId)).toEqual(kept)
    expect(await third.ledger.loadReceipt(lost.requestId)).toBeUndefined()
    expect((await third.ledger.loadBudget(organisation)).settledPicoUsd).toBe(kept.billedPicoUsd)
    expect((await third.ledger.audit()).findings).toEqual([])
    await third.ledger.close()
    await third.opened.close()
    fs.rmSync(dataFolder, { recursive: true, force: true })
  },
  60_000,
)

test('a budget is spent to the picodollar and never beyond it through kills of the process', async () => {
  const organisation = organisationWith('0.01')
  let billed = 0n
  for (let round = 0; round < 4; round += 1) {
    const { ledger, kill } = await openMortal()
    const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 200 }))
    await hold.durable
    billed += (await hold.settle(answered(100, 200))).billedPicoUsd
    kill()
  }
  const ledger = await openLedger()
  expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(billed)
  // 0.0084 are billed; 0.0016 are left, which is the prompt and 150 tokens.
  const last = await ledger.hold(callOf(organisation, { outputCapTokens: 1_000 }))
  expect(last.outputCapTokens).toBe(150)
  await last.settle(answered(100, 150))
  expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.01'))
  expect((await ledger.audit()).findings).toEqual([])
})
