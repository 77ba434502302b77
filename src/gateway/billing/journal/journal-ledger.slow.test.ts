import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../../../../test/harness/statements.ts'
import { type Clock, createRequestId, isAppError, parsePicoUsd, systemClock } from '../../../platform/kernel/index.ts'
import { answered, callOf, insertOrganisation, organisationWith } from '../testing/ledger-fixture.ts'
import { JournalStage, later, settledCall } from '../testing/journal-stage.ts'
import { journalFiles } from './journal-format.ts'

/** The ledger with a journal over the real SQL: what is durable before the database has it. */

describe('a database with a journal', () => {
  let stage: JournalStage

  beforeAll(async () => {
    stage = await JournalStage.open()
  })
  afterAll(() => stage.drop())
  beforeEach(() => stage.beginTest())
  afterEach(() => stage.endTest())

  const isRefused = (work: Promise<unknown>) =>
    work.then(
      () => 'accepted',
      (error: { code?: string }) => error.code,
    )

  describe('a call that is not in the database yet', () => {
    test('has a receipt, and counts in the budget and in reports that are requested then', async () => {
      const ledger = await stage.openLedger(later)
      const organisation = organisationWith('10')
      await insertOrganisation(stage.control, organisation)
      const receipt = await settledCall(ledger, organisation)
      expect(await stage.countEntries()).toBe(0n)
      expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
      expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(receipt.billedPicoUsd)
      expect(await stage.countEntries()).toBe(1n)
      expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
      const second = await settledCall(ledger, organisation)
      // An hour before midnight in UTC it is the next day there.
      const { timeZone } = organisation
      const days = [new Date().toLocaleDateString('sv', { timeZone })]
      const query = { organisationId: organisation.id, days, timeZone, by: [], limit: 10 }
      const { requests, billedPicoUsd } = await ledger.loadUsageTotals(query)
      expect({ requests, billedPicoUsd }).toEqual({
        requests: 2,
        billedPicoUsd: receipt.billedPicoUsd + second.billedPicoUsd,
      })
      expect((await ledger.audit()).findings).toEqual([])
    })

    test('costs the database one entry, in a statement with many others, and no hold', async () => {
      const applied: unknown[][] = []
      const observed: TestDatabase = {
        ...stage.control,
        for: () => observed,
        query(statement, parameters = [], options) {
          if (statement.includes('ledger_apply_calls')) applied.push([...parameters])
          return stage.control.query(statement, parameters, options)
        },
      }
      const ledger = await stage.openLedger(later, observed)
      const organisation = organisationWith('10')
      await Promise.all(Array.from({ length: 50 }, () => settledCall(ledger, organisation)))
      expect(applied).toEqual([])
      expect((await ledger.audit()).findings).toEqual([])
      expect(applied).toHaveLength(1)
      const [, , , first, last, , opens, changes, settlements, kinds] = applied[0]!
      expect({ first, last, opens: String(opens), changes, settlements: String(settlements) }).toEqual({
        first: 1,
        last: 100,
        opens: '[]',
        changes: '{}',
        settlements: '[]',
      })
      expect(JSON.parse(String(kinds))).toHaveLength(1)
      expect(await stage.countEntries()).toBe(50n)
    })

    test('has the same receipt at every moment while a slow database receives it', async () => {
      const applying: (() => void)[] = []
      let isSlow = true
      let applied = 0
      const slow: TestDatabase = {
        ...stage.control,
        for: () => slow,
        async query(statement, ...rest) {
          if (!statement.includes('ledger_apply_calls')) return stage.control.query(statement, ...rest)
          if (isSlow) await new Promise<void>((resolve) => applying.push(resolve))
          applied += 1
          return stage.control.query(statement, ...rest)
        },
      }
      const ledger = await stage.openLedger({ projectionDelayMs: 0 }, slow)
      const organisation = organisationWith('1000')
      const settle = async (index: number) => {
        const receipt = await settledCall(ledger, organisation, index)
        expect(await ledger.loadReceipt(receipt.requestId)).toEqual(receipt)
        return receipt
      }
      const indexes = Array.from({ length: 30 }, (_, index) => index)
      const first = await Promise.all(indexes.map(settle))
      // What follows comes to the database later than the first statement.
      await expect.poll(() => applying.length).toBe(1)
      const receipts = [...first, ...(await Promise.all(indexes.map((index) => settle(30 + index))))]
      isSlow = false
      for (const go of applying) go()
      while ((await stage.countEntries()) < receipts.length) {
        const found = await Promise.all(receipts.map(({ requestId }) => ledger.loadReceipt(requestId)))
        expect(found).toEqual(receipts)
        await turn()
      }
      await ledger.flush()
      expect(applied).toBeGreaterThan(1)
      expect(await stage.countEntries()).toBe(60n)
      expect((await ledger.audit()).findings).toEqual([])
    })

    test('keeps its request id: a second call with the id is refused and not billed', async () => {
      const ledger = await stage.openLedger(later)
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

  test('an audit finds nothing at any time while calls begin and end', async () => {
    const ledger = await stage.openLedger({ projectionDelayMs: 1 })
    const organisations = ['1000', '0.02'].map((budget) => organisationWith(budget))
    const over = new AbortController()
    const callers = Array.from({ length: 16 }, async (_, index) => {
      for (let call = 0; !over.signal.aborted; call += 1) {
        const organisation = organisations[(index + call) % 2]!
        try {
          await settledCall(ledger, organisation, call % 300)
        } catch (error) {
          // The small budget is used up, or the machine is too busy for the deadlines.
          if (!isAppError(error) || isAppError(error, 'shutting_down')) throw error
          // Refusals alone would leave the event loop no turn.
          await turn()
        }
      }
    })
    try {
      for (let audits = 0; audits < 12;) {
        try {
          expect((await ledger.audit()).findings).toEqual([])
          audits += 1
        } catch (error) {
          // What it waits for was not written in time.
          if (!isAppError(error, 'overloaded')) throw error
        }
      }
    } finally {
      over.abort()
      await Promise.all(callers)
    }
    expect(await stage.countEntries()).toBeGreaterThan(0n)
  }, 120_000)

  test('a bill that crosses a threshold raises its event at the next check, although the database did not have it', async () => {
    const ledger = await stage.openLedger(later)
    const organisation = organisationWith('0.01')
    // 0.0001 for the prompt and 0.0085 for the output: 86 %.
    await (await ledger.hold(callOf(organisation, { outputCapTokens: 850 }))).settle(answered(100, 850))
    await ledger.maintain()
    const reached = await stage.control.query('select percent from ledger_thresholds where organisation_id = $1', [
      organisation.id,
    ])
    expect(reached).toEqual([{ percent: 80 }])
  })

  test('a request id of an applied call is never billed twice, and the audit names the second call', async () => {
    const ledger = await stage.openLedger(later)
    const organisation = organisationWith('1')
    const { requestId, billedPicoUsd } = await settledCall(ledger, organisation)
    await ledger.loadBudget(organisation)
    await (await ledger.hold(callOf(organisation, { requestId }))).settle(answered(100, 500))
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(billedPicoUsd)
    expect((await ledger.audit()).findings).toMatchObject([
      { rule: 'every record of the journal is in the ledger', subject: requestId },
    ])
  })

  test('a stop applies everything and gives the leases back', async () => {
    const ledger = await stage.openLedger(later)
    await settledCall(ledger)
    const open = await ledger.hold(callOf(organisationWith('10')))
    await ledger.close()
    expect(await stage.countEntries()).toBe(2n)
    expect((await ledger.loadReceipt(open.requestId))!.ending).toBe('shutdown')
    const left = await stage.control.query(
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
        append: (...given: Parameters<typeof journalFiles.append>) =>
          fails ? Promise.reject(new Error('EIO')) : journalFiles.append(...given),
      }
      const { ledger, kill } = await stage.openMortal({ files, onFatal: (error) => void fatal.push(error) })
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
      const next = await stage.openLedger()
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
      let skew = 0
      const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skew }
      const ledger = await stage.openLedger({ files, segmentBytes: 16_384 }, stage.control, clock)
      const organisation = organisationWith('1000')
      const holdOne = () => ledger.hold(callOf(organisation, { outputCapTokens: 500 }))
      const holds = await Promise.all(Array.from({ length: 15 }, holdOne))
      await Promise.all(holds.map((hold) => hold.durable))
      // Room for all that is open exists until the segment is used up; records are appended until then.
      isFull = true
      const acknowledged: string[] = []
      const settlements = holds.map(async (hold) => {
        const receipt = await hold.settle(answered(90, 40))
        acknowledged.push(receipt.requestId)
        return receipt
      })
      const more: Promise<unknown>[] = []
      while (ledger.isAccepting() && more.length < 200) {
        more.push(isRefused(holdOne().then((hold) => hold.durable)))
        await turn()
      }
      await expect.poll(() => ledger.isAccepting(), { timeout: 10_000 }).toBe(false)
      skew = 5_000
      expect(await Promise.all(more)).toContain('overloaded')
      expect(ledger.reasonToRefuse()).toBe('full')
      const records = fs.readdirSync(stage.folder).map((name) => fs.readFileSync(path.join(stage.folder, name), 'utf8'))
      const settled = records.flatMap((text) => text.split('\n')).filter((line) => line.includes('["settle"'))
      expect(acknowledged.length).toBeLessThan(holds.length)
      expect(acknowledged.filter((id) => !settled.some((line) => line.includes(id)))).toEqual([])
      isFull = false
      expect((await Promise.all(settlements)).map(({ ending }) => ending)).toEqual(holds.map(() => 'completed'))
      await expect.poll(() => ledger.isAccepting()).toBe(true)
      await settledCall(ledger, organisation)
      expect((await ledger.audit()).findings).toEqual([])
    }, 30_000)
  })

  describe('a database that is behind', () => {
    test('by too many records of one organisation: its new calls wait for it, those of others do not', async () => {
      const waiting: (() => void)[] = []
      let isHeld = true
      const slow: TestDatabase = {
        ...stage.control,
        for: () => slow,
        async query(statement, ...rest) {
          if (isHeld && statement.includes('ledger_apply_calls')) {
            await new Promise<void>((resolve) => waiting.push(resolve))
          }
          return stage.control.query(statement, ...rest)
        },
      }
      const ledger = await stage.openLedger({ projectionDelayMs: 0, maximumLag: 40 }, slow)
      const organisation = organisationWith('10')
      const holds = await Promise.all(Array.from({ length: 10 }, () => ledger.hold(callOf(organisation))))
      await Promise.all(holds.map((hold) => hold.durable))
      let isAdmitted = false
      const waits = ledger.hold(callOf(organisation)).then((hold) => {
        isAdmitted = true
        return hold
      })
      await Promise.all(holds.map((hold) => hold.settle(answered(90, 40))))
      // As many records as there is room for.
      expect(isAdmitted).toBe(false)
      const others = [organisationWith('10'), organisationWith('10')]
      for (const other of others) expect((await settledCall(ledger, other)).ending).toBe('completed')
      expect(isAdmitted).toBe(false)
      expect(ledger.isAccepting()).toBe(true)
      isHeld = false
      for (const go of waiting) go()
      await (await waits).settle(answered(90, 40))
      expect((await ledger.audit()).findings).toEqual([])
    }, 30_000)
  })

  test('a budget is spent to the picodollar and never beyond it through kills of the process', async () => {
    const organisation = organisationWith('0.01')
    let billed = 0n
    for (let round = 0; round < 4; round += 1) {
      const { ledger, kill } = await stage.openMortal()
      const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 200 }))
      await hold.durable
      billed += (await hold.settle(answered(100, 200))).billedPicoUsd
      kill()
    }
    const ledger = await stage.openLedger()
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(billed)
    // 0.0084 are billed; 0.0016 are left, which is the prompt and 150 tokens.
    const last = await ledger.hold(callOf(organisation, { outputCapTokens: 1_000 }))
    expect(last.outputCapTokens).toBe(150)
    await last.settle(answered(100, 150))
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.01'))
    expect((await ledger.audit()).findings).toEqual([])
  })
})
