import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeTestFolder, openTestDatabases, type TestDatabases } from '../../../../test/harness/database.ts'
import { type Database, lockFolder } from '../../../platform/database/index.ts'
import { type Clock, createUuid, parsePicoUsd, silentLog, systemClock } from '../../../platform/kernel/index.ts'
import { serviceActor } from '../../../tenants/operators/index.ts'
import { createLedger, type LedgerService } from '../ledger.ts'
import type { JournalOptions } from '../prepare-writer.ts'
import { answered, callOf, organisationWith } from '../testing/ledger-fixture.ts'
import { later, settledCall } from '../testing/journal-stage.ts'

/** Several processes on one server, some of them with a local journal. The embedded engine runs the same SQL. */

let databases: TestDatabases
let shared: Database
let folder: string
const opened: LedgerService[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
  shared = { ...databases.control, engine: 'postgres' }
})
beforeEach(() => {
  folder = path.join(makeTestFolder(), 'journal')
})
afterEach(async () => {
  await Promise.allSettled(opened.splice(0).map((ledger) => ledger.close()))
  fs.rmSync(path.dirname(folder), { recursive: true, force: true })
})
afterAll(() => databases.drop())

interface Opening {
  database?: Database
  clock?: Clock
  journal?: Partial<JournalOptions> | null
}

async function open({ database = shared, clock = systemClock, journal = {} }: Opening = {}): Promise<LedgerService> {
  const options = journal && { mode: 'local' as const, folder, lock: lockFolder, ...journal }
  const ledger = await createLedger({ database, clock, log: silentLog, ...(options && { journal: options }) })
  opened.push(ledger)
  return ledger
}

const openOther = () => open({ journal: null })

/** A process that is killed with its next statement. Its lock of the folder ends with it. */
async function openMortal(journal: Partial<JournalOptions> = later) {
  let isDead = false
  let unlock = () => {}
  const never = () => new Promise<never>(() => {})
  const mortal: Database = {
    ...shared,
    query: (...given) => (isDead ? never() : shared.query(...given)),
    execute: (...given) => (isDead ? never() : shared.execute(...given)),
    transaction: (...given) => (isDead ? never() : shared.transaction(...given)),
  }
  const options: JournalOptions = {
    mode: 'local',
    folder,
    lock: (place) => (unlock = lockFolder(place)),
    onFatal() {},
    ...journal,
  }
  const clock = { ...systemClock, every: () => () => {} }
  const ledger = await createLedger({ database: mortal, clock, log: silentLog, journal: options })
  return {
    ledger,
    kill() {
      isDead = true
      unlock()
    },
  }
}

/** Makes the heartbeat of an instance an hour old. */
function silence(instanceId: string): Promise<number> {
  return shared.execute(
    "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id = $1",
    [instanceId],
  )
}

async function journalOf(ledger: LedgerService) {
  const [row] = await shared.query<{ id: string }>(
    'select journal_id as id from ledger_instances where instance_id = $1',
    [ledger.instanceId()],
  )
  return row!.id
}

async function isRegistered(instanceId: string): Promise<boolean> {
  return (await shared.query('select 1 from ledger_instances where instance_id = $1', [instanceId])).length === 1
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? 'failed',
  )

describe('the holds of a silent process', () => {
  test('wait for its next start, which applies its journal first; until then their money stays reserved', async () => {
    const { ledger, kill } = await openMortal()
    const other = await openOther()
    const organisation = organisationWith('0.003')
    const receipt = await settledCall(ledger, organisation)
    const running = await ledger.hold(callOf(organisation, { stream: true, outputCapTokens: 150 }))
    await running.durable
    running.grant(70)
    await ledger.writeProgress()
    const silent = ledger.instanceId()
    kill()
    await silence(silent)
    await other.maintain()
    expect(await isRegistered(silent)).toBe(true)
    expect(await other.loadReceipt(receipt.requestId)).toBeUndefined()
    // 0.0005 are billed and the rest may be held: nobody else may spend it.
    expect(await codeOf(other.hold(callOf(organisation, { outputCapTokens: 290 })))).toBe('insufficient_quota')
    const next = await open()
    expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect(await next.loadReceipt(running.requestId)).toMatchObject({
      ending: 'crashed',
      usage: { completionTokens: 70 },
    })
    expect(await isRegistered(silent)).toBe(false)
    const { billedPicoUsd } = (await next.loadReceipt(running.requestId))!
    expect((await other.loadBudget(organisation)).settledPicoUsd).toBe(receipt.billedPicoUsd + billedPicoUsd)
    expect((await other.audit()).findings).toEqual([])
  }, 30_000)

  test('cannot be settled by a version that does not know journals', async () => {
    const ledger = await open()
    const id = ledger.instanceId()
    const statement = shared.execute('delete from ledger_instances where instance_id = $1', [id])
    await expect(statement).rejects.toThrow('has a local journal')
    expect(await isRegistered(id)).toBe(true)
  })

  test('stay its own when it runs again: nothing was taken from it', async () => {
    const ledger = await open()
    const other = await openOther()
    const organisation = organisationWith('1')
    const hold = await ledger.hold(callOf(organisation))
    await hold.durable
    const before = ledger.instanceId()
    await silence(before)
    await other.maintain()
    const receipt = await hold.settle(answered(100, 50))
    expect(receipt.ending).toBe('completed')
    await ledger.maintain()
    expect(ledger.instanceId()).toBe(before)
    await settledCall(ledger, organisation)
    await ledger.flush()
    expect(await other.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await other.audit()).findings).toEqual([])
  })
})

describe('a released journal', () => {
  test('is given up only while its process is silent; its holds are then settled by policy, and the rest stays unbilled', async () => {
    const { ledger, kill } = await openMortal()
    const other = await openOther()
    const organisation = organisationWith('1')
    const running = await ledger.hold(callOf(organisation, { outputCapTokens: 100 }))
    await running.durable
    await ledger.flush()
    const lost = await settledCall(ledger, organisation)
    const journalId = await journalOf(ledger)
    const silent = ledger.instanceId()
    expect(await codeOf(other.releaseJournal(journalId, serviceActor))).toBe('conflict')
    expect(await codeOf(other.releaseJournal(createUuid(), serviceActor))).toBe('not_found')
    kill()
    await silence(silent)
    expect(await other.loadJournals()).toMatchObject([{ journalId, instanceId: silent, isSilent: true }])
    await other.releaseJournal(journalId, serviceActor)
    await other.maintain()
    expect(await isRegistered(silent)).toBe(false)
    expect(await other.loadReceipt(running.requestId)).toMatchObject({ ending: 'crashed' })
    expect(await other.loadReceipt(lost.requestId)).toBeUndefined()
    expect((await other.loadBudget(organisation)).heldPicoUsd).toBe(0n)
    expect(await other.loadJournals()).toEqual([])
    expect((await other.audit()).findings).toEqual([])
    // The loss was accepted: the next start keeps the files for the operator, and does not apply them.
    const next = await open()
    expect(await next.loadReceipt(lost.requestId)).toBeUndefined()
    expect(fs.readdirSync(path.join(folder, `released-${journalId}`))).toHaveLength(1)
    await settledCall(next, organisation)
    expect((await next.audit()).findings).toEqual([])
  })

  test('is not written any more by a process that was only silent: it acknowledges nothing and ends', async () => {
    const fatal: Error[] = []
    let skew = 0
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skew, every: () => () => {} }
    const ledger = await open({ clock, journal: { ...later, onFatal: (error) => void fatal.push(error) } })
    const other = await openOther()
    const organisation = organisationWith('1')
    const hold = await ledger.hold(callOf(organisation))
    await hold.durable
    await ledger.flush()
    const journalId = await journalOf(ledger)
    await silence(ledger.instanceId())
    await other.releaseJournal(journalId, serviceActor)
    // The process was stopped for as long as a release needs.
    skew = 10_000
    expect(await codeOf(hold.settle(answered(100, 500)))).not.toBe('accepted')
    expect(fatal.map(({ message }) => message)).toEqual([expect.stringContaining('was released')])
    expect(ledger.isAccepting()).toBe(false)
    await other.maintain()
    expect(await other.loadReceipt(hold.requestId)).toMatchObject({ ending: 'crashed' })
    expect((await other.audit()).findings).toEqual([])
  })
})

test('nothing is acknowledged while the process does not know whether it still holds its journal', async () => {
  let fails = false
  let failures = 0
  let skew = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skew, every: () => () => {} }
  const database: Database = {
    ...shared,
    execute: (...given) => {
      if (!fails) return shared.execute(...given)
      failures++
      return Promise.reject(new Error('no connection'))
    },
  }
  const ledger = await open({ clock, database, journal: later })
  const hold = await ledger.hold(callOf(organisationWith('1')))
  await hold.durable
  fails = true
  skew = 8_000
  let isAcknowledged = false
  const settlement = hold.settle(answered(100, 50)).then((receipt) => {
    isAcknowledged = true
    return receipt
  })
  // Heartbeats.
  await expect.poll(() => failures, { timeout: 10_000 }).toBeGreaterThan(2)
  expect(isAcknowledged).toBe(false)
  fails = false
  expect((await settlement).ending).toBe('completed')
  expect((await ledger.audit()).findings).toEqual([])
})

describe('a folder', () => {
  test('is of one process: a second one with it does not start', async () => {
    const ledger = await open()
    await expect(open()).rejects.toThrow('in use by another Portico process')
    await settledCall(ledger)
    expect((await ledger.audit()).findings).toEqual([])
  })

  test('that is a copy does not start a process, whether the original runs or not, unless it is the only copy', async () => {
    const { ledger, kill } = await openMortal()
    const receipt = await settledCall(ledger)
    const copy = `${folder}-copy`
    fs.cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
    fs.rmSync(path.join(copy, 'lock'))
    await expect(open({ journal: { folder: copy } })).rejects.toThrow(
      /is a copy: .*"only-copy".*portico ledger release/s,
    )
    kill()
    await silence(ledger.instanceId())
    await expect(open({ journal: { folder: copy } })).rejects.toThrow('is a copy')
    fs.writeFileSync(path.join(copy, 'only-copy'), '')
    const next = await open({ journal: { folder: copy } })
    expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await next.audit()).findings).toEqual([])
    // Everything of the original is in the database.
    await (await open()).close()
  })

  test('that claims to be the only copy waits for the silence of the original, and is refused while it runs', async () => {
    const ledger = await open()
    await settledCall(ledger)
    const copy = `${folder}-copy`
    fs.cpSync(folder, copy, { recursive: true })
    fs.rmSync(path.join(copy, 'lock'))
    fs.writeFileSync(path.join(copy, 'only-copy'), '')
    await expect(open({ journal: { folder: copy } })).rejects.toThrow('a process that runs uses the journal')
    await settledCall(ledger)
    expect((await ledger.audit()).findings).toEqual([])
  }, 30_000)

  test('whose lock was removed is not taken from the process that uses it', async () => {
    const ledger = await open()
    const receipt = await settledCall(ledger)
    fs.rmSync(path.join(folder, 'lock'))
    const filesOfJournal = () => fs.readdirSync(folder).filter((name) => !name.startsWith('lock'))
    const before = filesOfJournal()
    await expect(open()).rejects.toThrow('a process that runs uses the journal')
    expect(filesOfJournal()).toEqual(before)
    const next = await settledCall(ledger)
    await ledger.flush()
    for (const { requestId } of [receipt, next]) expect(await ledger.loadReceipt(requestId)).toBeDefined()
    expect((await ledger.audit()).findings).toEqual([])
  }, 30_000)

  test('that is gone leaves the money reserved, and the next start has a new journal', async () => {
    const { ledger, kill } = await openMortal()
    const organisation = organisationWith('0.003')
    await settledCall(ledger, organisation)
    const journalId = await journalOf(ledger)
    const lost = ledger.instanceId()
    kill()
    fs.rmSync(folder, { recursive: true })
    const next = await open()
    await silence(lost)
    await next.maintain()
    expect(await codeOf(next.hold(callOf(organisation, { outputCapTokens: 290 })))).toBe('insufficient_quota')
    await next.releaseJournal(journalId, serviceActor)
    await next.maintain()
    const hold = await next.hold(callOf(organisation, { outputCapTokens: 290 }))
    await hold.settle(answered(100, 290))
    expect((await next.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.003'))
    expect((await next.audit()).findings).toEqual([])
  }, 30_000)

  test('whose process has stopped is empty, so that it may be moved', async () => {
    const ledger = await open()
    await settledCall(ledger)
    await ledger.close()
    expect(fs.readdirSync(folder).filter((name) => name !== 'lock')).toEqual([])
  })

  test('whose records are gone is refused, although its file of the journal is there', async () => {
    const { ledger, kill } = await openMortal()
    await settledCall(ledger)
    kill()
    for (const file of fs.readdirSync(folder)) if (file.endsWith('.segment')) fs.rmSync(path.join(folder, file))
    await expect(open()).rejects.toThrow(/the files of the journal .* are missing.*portico ledger release/s)
  })

  test('without its file of the journal is refused while it has records', async () => {
    const { ledger, kill } = await openMortal()
    await settledCall(ledger)
    kill()
    fs.rmSync(path.join(folder, 'journal.json'))
    await expect(open()).rejects.toThrow('has lost its file journal.json')
  })
})

test('the setting may change with any start, and instances with both settings share a budget', async () => {
  const organisation = organisationWith('0.05')
  const { ledger, kill } = await openMortal()
  const receipt = await settledCall(ledger, organisation)
  kill()
  const first = await open({ journal: { mode: 'database' } })
  expect(await first.loadReceipt(receipt.requestId)).toEqual(receipt)
  const second = await open({ journal: { projectionDelayMs: 1 } })
  const results = await Promise.allSettled(
    Array.from({ length: 120 }, async (_, index) => {
      const hold = await [first, second][index % 2]!.hold(callOf(organisation, { outputCapTokens: 300 }))
      await hold.durable
      return hold.settle(answered(100, 1 + (index % 100)))
    }),
  )
  const billed = results.reduce(
    (sum, result) => sum + (result.status === 'fulfilled' ? result.value.billedPicoUsd : 0n),
    0n,
  )
  await second.flush()
  const { settledPicoUsd } = await first.loadBudget(organisation)
  expect(settledPicoUsd).toBe(billed + receipt.billedPicoUsd)
  expect(settledPicoUsd).toBeLessThanOrEqual(parsePicoUsd('0.05'))
  expect((await first.audit()).findings).toEqual([])
}, 60_000)

describe('a database that is older than the journal', () => {
  /** A killed process with records that the database has not applied. */
  async function leave() {
    const { ledger, kill } = await openMortal()
    const organisation = organisationWith('1')
    const receipt = await settledCall(ledger, organisation)
    const journalId = await journalOf(ledger)
    kill()
    return { receipt, journalId, organisation, instanceId: ledger.instanceId() }
  }

  test('because it never had the journal: the start is refused and names the way out', async () => {
    const { journalId } = await leave()
    await shared.execute('update ledger_journals set place = null where journal_id = $1', [journalId])
    await expect(open()).rejects.toThrow(/has never had the journal .*move the folder .* away.*portico ledger/s)
    await expect(open({ journal: { mode: 'database' } })).rejects.toThrow('has never had the journal')
    await shared.execute("update ledger_journals set place = 'here' where journal_id = $1", [journalId])
    expect((await (await open()).audit()).findings).toEqual([])
  })

  test('because it has lost the growth of a lease: the start is refused, and nothing was applied', async () => {
    const { journalId, receipt } = await leave()
    await shared.execute('update ledger_journals set lease_growths = 0 where journal_id = $1', [journalId])
    await expect(open()).rejects.toThrow(/the database is older than the journal.*portico ledger release/s)
    const other = await openOther()
    expect(await other.loadReceipt(receipt.requestId)).toBeUndefined()
    await shared.execute('update ledger_journals set lease_growths = 1 where journal_id = $1', [journalId])
    expect(await (await open()).loadReceipt(receipt.requestId)).toEqual(receipt)
  })

  test('because it has lost applied records that the journal has removed: the start is refused', async () => {
    const { ledger, kill } = await openMortal({ segmentBytes: 16_384, projectionDelayMs: 0 })
    const organisation = organisationWith('10')
    for (let call = 0; call < 30; call += 1) await settledCall(ledger, organisation)
    await ledger.flush()
    const journalId = await journalOf(ledger)
    kill()
    await shared.execute('update ledger_journals set applied_sequence = 1 where journal_id = $1', [journalId])
    await expect(open()).rejects.toThrow('the database is older than the journal')
  })

  test('in the middle of a run ends the process before it writes a bill of the lost lease', async () => {
    const fatal: Error[] = []
    const ledger = await open({ journal: { ...later, onFatal: (error) => void fatal.push(error) } })
    const { requestId } = await settledCall(ledger)
    await shared.execute('update ledger_journals set lease_growths = 0 where journal_id = $1', [
      await journalOf(ledger),
    ])
    expect(await codeOf(ledger.flush())).toBe('overloaded')
    expect(fatal.map(({ message }) => message)).toEqual([expect.stringContaining('replaced by an older copy')])
    const other = await openOther()
    expect(await other.loadReceipt(requestId)).toBeUndefined()
    expect((await other.audit()).findings).toEqual([])
  })
})
