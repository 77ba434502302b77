import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { createRequestId, formatPicoUsd, parsePicoUsd, silentLog, systemClock } from '../../platform/kernel/index.ts'
import { createLedger, type LedgerDeps, type LedgerService } from './ledger.ts'
import { usageOf, answered, callOf, movableClock, organisationWith, perMillion } from './testing/ledger-fixture.ts'

let databases: TestDatabases
const ledgers: LedgerService[] = []

beforeAll(async () => {
  databases = await openTestDatabases()
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()))
})
afterAll(() => databases.drop())

async function openLedger(changes: Partial<LedgerDeps> = {}): Promise<LedgerService> {
  const ledger = await createLedger({ database: databases.control, clock: systemClock, log: silentLog, ...changes })
  ledgers.push(ledger)
  return ledger
}

async function expectSound(ledger: LedgerService) {
  expect((await ledger.audit()).findings).toEqual([])
}

describe('one call', () => {
  test('bills a settled call exactly its tokens and stores the same receipt', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('10', { markupBasisPoints: 1500 })
    const call = callOf(organisation)
    const hold = await ledger.hold(call)
    await hold.durable
    const receipt = await hold.settle(answered(90, 40))
    // (90 × 1 + 40 × 10) millionths of a dollar and 15 % on top
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.0005635')
    expect(await ledger.loadReceipt(call.requestId)).toEqual(receipt)
    const budget = await ledger.loadBudget(organisation)
    expect(budget.settledPicoUsd).toBe(receipt.billedPicoUsd)
    expect(budget.heldPicoUsd).toBe(0n)
    await expectSound(ledger)
  })

  test('settling twice bills once and returns the first receipt', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('10')
    const hold = await ledger.hold(callOf(organisation))
    const [first, second] = await Promise.all([hold.settle(answered(90, 40)), hold.settle(answered(90, 9999))])
    expect(second).toEqual(first)
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(first.billedPicoUsd)
  })

  test('a call without an answer costs nothing and leaves a receipt with the ending unanswered', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('10')
    const call = callOf(organisation)
    const hold = await ledger.hold(call)
    await hold.settle({ kind: 'unanswered', reason: 'refused' })
    expect(await ledger.loadReceipt(call.requestId)).toMatchObject({ billedPicoUsd: 0n, ending: 'unanswered' })
    await expectSound(ledger)
  })

  test('a cost stated by the provider replaces the price table and is reported with the cost that we compute', async () => {
    const compared: unknown[] = []
    const ledger = await openLedger({ observer: { costStated: (_receipt, costs) => void compared.push(costs) } })
    const hold = await ledger.hold(callOf(organisationWith('10', { markupBasisPoints: 1000 })))
    const raw = { prompt_tokens: 90, cost: 0.00006 }
    const stated = { raw, costAttoUsd: 60_000_000_000_000n, billedUnits: null }
    const receipt = await hold.settle(answered(90, 40, { usage: { ...usageOf(90, 40), stated } }))
    expect(formatPicoUsd(receipt.billedPicoUsd)).toBe('0.000066')
    expect(await ledger.loadReceipt(receipt.requestId)).toMatchObject({ costBasis: 'stated', rawUsage: raw })
    expect(compared).toEqual([{ statedAttoUsd: 60_000_000_000_000n, computedAttoUsd: 490_000_000_000_000n }])
    await expectSound(ledger)
  })

  test('billed units of a provider replace its token counts', async () => {
    const ledger = await openLedger()
    const hold = await ledger.hold(callOf(organisationWith('10')))
    const stated = { raw: null, costAttoUsd: null, billedUnits: { inputTokens: 10, outputTokens: 20 } }
    const receipt = await hold.settle(answered(90, 40, { usage: { ...usageOf(90, 40), stated } }))
    expect(receipt).toMatchObject({ costBasis: 'billed_units', usage: { promptTokens: 90, completionTokens: 40 } })
    const plain = await (await ledger.hold(callOf(organisationWith('10')))).settle(answered(10, 20))
    expect(receipt.billedPicoUsd).toBe(plain.billedPicoUsd)
    await expectSound(ledger)
  })

  test('a cost above the remaining budget is written off', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('0.01')
    const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 200 }))
    const receipt = await hold.settle(answered(100, 5000))
    expect(receipt.billedPicoUsd).toBe(parsePicoUsd('0.01'))
    expect(receipt.writtenOffPicoUsd).toBe(parsePicoUsd('0.0401'))
    await expectSound(ledger)
  })
})

describe('a budget that is nearly used up', () => {
  test('a whole answer gets the output cap that fits the remaining budget', async () => {
    const ledger = await openLedger()
    const hold = await ledger.hold(callOf(organisationWith('0.0031'), { outputCapTokens: 4000 }))
    expect(hold.outputCapTokens).toBe(300)
    expect(hold.capReduced).toBe(true)
    await hold.settle(answered(100, 300))
  })

  test('below the floor the call is refused at once', async () => {
    const ledger = await openLedger()
    const refused = ledger.hold(callOf(organisationWith('0.001')))
    await expect(refused).rejects.toMatchObject({ code: 'insufficient_quota' })
  })

  test('a free model needs credits left, but no room next to open holds', async () => {
    const ledger = await openLedger()
    const free = { candidates: [{ deploymentId: 'free', prices: [perMillion(0, 0)] }] }
    await expect(ledger.hold(callOf(organisationWith('0'), free))).rejects.toMatchObject({ code: 'insufficient_quota' })
    const organisation = organisationWith('0.0011')
    const greedy = await ledger.hold(callOf(organisation, { outputCapTokens: 100 }))
    const hold = await ledger.hold(callOf(organisation, free))
    expect((await hold.settle(answered(5, 5, { deploymentId: 'free' }))).billedPicoUsd).toBe(0n)
    const { periodEndsAt } = await ledger.loadBudget(organisation)
    await greedy.settle(answered(100, 100))
    expect(ledger.hasCredit(organisation)).toBe(false)
    expect(ledger.budgetResetsAt(organisation)).toBe(periodEndsAt)
  })

  test('a call waits for a hold that settles below its size instead of being refused', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('0.0101')
    const first = await ledger.hold(callOf(organisation, { outputCapTokens: 1000 }))
    const second = ledger.hold(callOf(organisation, { outputCapTokens: 500 }))
    await first.settle(answered(100, 10))
    expect((await second).outputCapTokens).toBe(500)
    await (await second).settle(answered(100, 10))
  })

  test('the wait is bounded', async () => {
    const ledger = await openLedger({ holdWaitMs: 30 })
    const organisation = organisationWith('0.0101')
    const first = await ledger.hold(callOf(organisation, { outputCapTokens: 1000 }))
    await expect(ledger.hold(callOf(organisation))).rejects.toMatchObject({ code: 'insufficient_quota' })
    await first.settle(answered(100, 10))
  })

  test('raising the budget takes effect with the next call, lowering it below the spent as well', async () => {
    const ledger = await openLedger()
    const poor = organisationWith('0.002')
    await (await ledger.hold(callOf(poor, { outputCapTokens: 190 }))).settle(answered(100, 190))
    await expect(ledger.hold(callOf(poor))).rejects.toMatchObject({ code: 'insufficient_quota' })
    const rich = { ...poor, monthlyBudgetPicoUsd: parsePicoUsd('5') }
    await (await ledger.hold(callOf(rich))).settle(answered(100, 500))
    await expect(ledger.hold(callOf(poor))).rejects.toMatchObject({ code: 'insufficient_quota' })
    await expectSound(ledger)
  })

  test('small calls in parallel are not blocked by worst-case holds', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('1')
    const calls = Array.from({ length: 40 }, async () => {
      const hold = await ledger.hold(callOf(organisation, { modelMaxOutputTokens: 128_000 }))
      await hold.durable
      return hold.settle(answered(100, 50))
    })
    expect((await Promise.all(calls)).every((receipt) => receipt.billedPicoUsd > 0n)).toBe(true)
  })

  test('operator-paid calls continue when the budget is exhausted and bill nothing', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('0')
    const hold = await ledger.hold(callOf(organisation, { whenExhausted: 'write_off', surface: 'space_chat' }))
    const receipt = await hold.settle(answered(100, 100))
    expect(receipt).toMatchObject({ billedPicoUsd: 0n, writtenOffPicoUsd: parsePicoUsd('0.0011') })
    await expectSound(ledger)
  })
})

describe('streams', () => {
  test('a hold grows ahead of its stream without a wait while the budget is ample', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('1')
    const hold = await ledger.hold(callOf(organisation, { stream: true }))
    await hold.durable
    for (let tokens = 100; tokens <= 16_000; tokens += 100) {
      const granted = hold.grant(tokens)
      if (granted !== true) await granted
    }
    const budget = await ledger.loadBudget(organisation)
    expect(budget.heldPicoUsd).toBeGreaterThanOrEqual(parsePicoUsd('0.1601'))
    await hold.settle(answered(100, 16_000))
    await expectSound(ledger)
  })

  test('growth beyond the budget rejects with insufficient_quota, and the bill stays within the budget', async () => {
    const ledger = await openLedger({ holdWaitMs: 20 })
    const organisation = organisationWith('0.03')
    const holds = await Promise.all([1, 2].map(() => ledger.hold(callOf(organisation, { stream: true }))))
    let covered = [0, 0]
    const run = holds.map(async (hold, index) => {
      for (let tokens = 50; ; tokens += 50) {
        const granted = hold.grant(tokens)
        if (granted !== true) await granted
        covered[index] = tokens
      }
    })
    const ends = await Promise.allSettled(run)
    for (const end of ends) expect((end as PromiseRejectedResult).reason).toMatchObject({ code: 'insufficient_quota' })
    // 0.03 dollars less two prompts buy 2,980 tokens; all but a step of each stream could be used
    expect(covered[0]! + covered[1]!).toBeGreaterThan(2_800)
    for (const [index, hold] of holds.entries()) {
      const receipt = await hold.settle(answered(100, covered[index]!, { ending: 'budget_ended' }))
      expect(receipt.writtenOffPicoUsd).toBe(0n)
    }
    await expectSound(ledger)
  })
})

describe('periods', () => {
  test('a call counts in the month in which it began; a new month starts at zero', async () => {
    const clock = movableClock(Date.parse('2026-03-31T21:59:00Z'))
    const ledger = await openLedger({ clock })
    const organisation = organisationWith('0.005')
    const hold = await ledger.hold(callOf(organisation, { outputCapTokens: 400 }))
    clock.set(Date.parse('2026-03-31T22:00:01Z'))
    expect(await ledger.loadBudget(organisation)).toMatchObject({ period: '2026-04-01', settledPicoUsd: 0n })
    const next = await ledger.hold(callOf(organisation, { outputCapTokens: 400 }))
    expect((await hold.settle(answered(100, 400))).period).toBe('2026-03-01')
    expect((await next.settle(answered(100, 400))).period).toBe('2026-04-01')
    clock.set(Date.parse('2026-03-31T12:00:00Z'))
    await expect(ledger.hold(callOf(organisation, { outputCapTokens: 400 }))).rejects.toMatchObject({
      code: 'insufficient_quota',
    })
    await expectSound(ledger)
  })

  test('a changed zone or anchor day grants no second budget in the current month', async () => {
    const clock = movableClock(Date.parse('2026-05-20T12:00:00Z'))
    const ledger = await openLedger({ clock })
    const organisation = organisationWith('1')
    await (await ledger.hold(callOf(organisation))).settle(answered(100, 100))
    await ledger.close()
    const after = await openLedger({ clock })
    const moved = { ...organisation, periodAnchorDay: 15, timeZone: 'America/New_York' }
    expect(await after.loadBudget(moved)).toMatchObject({
      period: '2026-05-01',
      settledPicoUsd: parsePicoUsd('0.0011'),
    })
    clock.set(Date.parse('2026-06-01T12:00:00Z'))
    expect(await after.loadBudget(moved)).toMatchObject({
      settledPicoUsd: 0n,
      periodEndsAt: Date.parse('2026-06-15T04:00Z'),
    })
    await expectSound(after)
  })
})

describe('crash', () => {
  test('the next start settles open holds once: prompt and known output, estimated, at most the hold', async () => {
    const crashed = await createLedger({ database: databases.control, clock: systemClock, log: silentLog })
    const organisation = organisationWith('1')
    const call = callOf(organisation, { stream: true })
    const hold = await crashed.hold(call)
    await hold.durable
    await hold.grant(500, 300)
    await crashed.writeProgress()
    // On a server another instance waits until the heartbeat has expired; the embedded database has one owner.
    await databases.control.execute(
      "update ledger_instances set heartbeat_at = heartbeat_at - interval '1 hour' where instance_id = $1",
      [crashed.instanceId()],
    )
    const ledger = await openLedger()
    const receipt = (await ledger.loadReceipt(call.requestId))!
    expect(receipt).toMatchObject({
      ending: 'crashed',
      estimated: true,
      billedPicoUsd: parsePicoUsd('0.00308'),
      usage: { promptTokens: 80, completionTokens: 300 },
    })
    // The process was alive after all: its settlement finds the existing entry, and nothing is billed twice.
    expect(await hold.settle(answered(80, 900))).toEqual(receipt)
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(receipt.billedPicoUsd)
    await crashed.close()
    await expectSound(ledger)
  })

  test('the output of many streams is written in turns', async () => {
    // Without timers, whose rounds would come in between.
    const ledger = await openLedger({ clock: { ...systemClock, every: () => () => {} } })
    const organisation = organisationWith('10000')
    const holds = await Promise.all(
      Array.from({ length: 600 }, () => ledger.hold(callOf(organisation, { stream: true }))),
    )
    await Promise.all(holds.map((hold) => hold.durable))
    const countWritten = async () => {
      const rows = await databases.control.query<{ count: bigint }>(
        'select count(*) from ledger_holds where organisation_id = $1 and output_tokens > 0',
        [organisation.id],
      )
      return Number(rows[0]!.count)
    }
    for (const hold of holds) hold.grant(10)
    await ledger.writeProgress()
    expect(await countWritten()).toBe(512)
    await ledger.writeProgress()
    expect(await countWritten()).toBe(600)
    await Promise.all(holds.map((hold) => hold.settle(answered(80, 10))))
    await expectSound(ledger)
  })

  test('entries cannot be changed or deleted', async () => {
    const ledger = await openLedger()
    const call = callOf(organisationWith('1'))
    await (await ledger.hold(call)).settle(answered(100, 100))
    for (const statement of [
      'update ledger_entries set billed_pico_usd = 0',
      'delete from ledger_entries',
      'truncate ledger_entries',
    ]) {
      await expect(databases.control.execute(statement)).rejects.toThrow(/append-only/)
    }
  })

  test('the audit reports each kind of mismatch', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('1')
    await (await ledger.hold(callOf(organisation))).settle(answered(100, 100))
    await databases.control.execute(
      'update ledger_leases set settled_pico_usd = settled_pico_usd - 1 where organisation_id = $1',
      [organisation.id],
    )
    const report = await ledger.audit()
    expect(report.ok).toBe(false)
    expect(report.findings).toMatchObject([
      { rule: 'entries add up to the counters', expected: '1100000000', found: '1099999999' },
    ])
    await databases.control.execute(
      'update ledger_leases set settled_pico_usd = settled_pico_usd + 1 where organisation_id = $1',
      [organisation.id],
    )
    await expectSound(ledger)
  })

  test('a request id is billed once, also when another instance reuses it', async () => {
    const ledger = await openLedger()
    const organisation = organisationWith('1')
    const requestId = createRequestId()
    const first = await ledger.hold(callOf(organisation, { requestId }))
    await first.settle(answered(100, 100))
    const again = await ledger.hold(callOf(organisation, { requestId }))
    await expect(again.durable).rejects.toMatchObject({ code: 'conflict' })
    expect((await again.settle(answered(100, 100))).billedPicoUsd).toBe(parsePicoUsd('0.0011'))
    expect((await ledger.loadBudget(organisation)).settledPicoUsd).toBe(parsePicoUsd('0.0011'))
    await expectSound(ledger)
  })
})
