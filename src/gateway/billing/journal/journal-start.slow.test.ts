import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freshDataFolder, testServerUrl } from '../../../../test/harness/database.ts'
import { openDatabases } from '../../../../test/harness/statements.ts'
import { createUuid, silentLog, systemClock } from '../../../platform/kernel/index.ts'
import { createLedger } from '../ledger.ts'
import { callOf, organisationWith } from '../testing/ledger-fixture.ts'
import { JournalStage, later, settledCall } from '../testing/journal-stage.ts'
import { journalFiles } from './journal-format.ts'
import { JournalLog } from './journal-log.ts'
import { loadJournal, replaceJournal } from './journal.store.ts'
import { openSegmentFolder } from './segments.ts'

/** What a start of the ledger does with the journal of an earlier process. */

let stage: JournalStage

beforeAll(async () => {
  stage = await JournalStage.open()
})
afterAll(() => stage.drop())
beforeEach(() => stage.beginTest())
afterEach(() => stage.endTest())

test('a start applies what a killed process has acknowledged, and settles its open holds by policy', async () => {
  const { ledger, kill } = await stage.openMortal()
  const organisation = organisationWith('10')
  const receipts = await Promise.all([1, 2, 3].map((output) => settledCall(ledger, organisation, output)))
  const open = await ledger.hold(callOf(organisation, { stream: true }))
  await open.durable
  open.grant(70)
  await ledger.writeProgress()
  expect(await stage.countEntries()).toBe(0n)
  kill()
  const next = await stage.openLedger(later)
  for (const receipt of receipts) expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
  expect(await next.loadReceipt(open.requestId)).toMatchObject({ ending: 'crashed', usage: { completionTokens: 70 } })
  expect((await next.loadBudget(organisation)).heldPicoUsd).toBe(0n)
  expect((await next.audit()).findings).toEqual([])
})

test('a ledger without a journal applies what a killed process with one has left, and removes it', async () => {
  const { ledger, kill } = await stage.openMortal()
  const receipt = await settledCall(ledger)
  kill()
  const next = await stage.openLedger({ mode: 'database' })
  expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
  expect(fs.existsSync(stage.folder)).toBe(false)
  expect(await loadJournal(stage.control)).toBeUndefined()
  await next.close()
  const again = await stage.openLedger()
  await settledCall(again)
  expect((await again.audit()).findings).toEqual([])
})

describe('a start', () => {
  /** The journal of a killed process that the database has not applied. */
  async function leaveJournal() {
    const { ledger, kill } = await stage.openMortal()
    const receipt = await settledCall(ledger)
    kill()
    const [file] = fs.readdirSync(stage.folder).filter((name) => name.endsWith('.segment'))
    return { receipt, file: path.join(stage.folder, file!) }
  }

  test('refuses a journal that is damaged in the middle and names the way out', async () => {
    const { file } = await leaveJournal()
    const bytes = fs.readFileSync(file)
    bytes[60]! ^= 1
    fs.writeFileSync(file, bytes)
    await expect(stage.openLedger()).rejects.toThrow(
      /damaged: record 1 .*Restore the whole data folder.*move the folder/s,
    )
    expect(await stage.countEntries()).toBe(0n)
    fs.renameSync(stage.folder, `${stage.folder}-old`)
    const next = await stage.openLedger()
    await settledCall(next)
    expect((await next.audit()).findings).toEqual([])
  })

  test('refuses a journal whose last record has changed since it was acknowledged, and applies everything before it', async () => {
    const { ledger, kill } = await stage.openMortal()
    const organisation = organisationWith('10')
    const kept = await settledCall(ledger, organisation)
    const lost = await settledCall(ledger, organisation)
    kill()
    const [file] = (await openSegmentFolder(journalFiles, stage.folder)).map((segment) => segment.file)
    const bytes = fs.readFileSync(file!)
    const end = bytes.indexOf(0)
    bytes[end - 10]! ^= 1
    fs.writeFileSync(file!, bytes)
    await expect(stage.openLedger()).rejects.toThrow(/damaged: record 4 .* has changed after it was written/)
    await expect(stage.openLedger({ mode: 'database' })).rejects.toThrow('has changed after it was written')
    fs.renameSync(stage.folder, `${stage.folder}-old`)
    const next = await stage.openLedger()
    expect(await next.loadReceipt(kept.requestId)).toEqual(kept)
    expect(await next.loadReceipt(lost.requestId)).toMatchObject({ ending: 'crashed' })
    expect((await next.audit()).findings).toEqual([])
  })

  test('refuses the journal of another database, whether the database has another one or none', async () => {
    const { ledger, kill } = await stage.openMortal()
    await settledCall(ledger)
    kill()
    const { journalId } = (await loadJournal(stage.control))!
    await replaceJournal(stage.control, createUuid(), null)
    await expect(stage.openLedger()).rejects.toThrow('belongs to another control database')
    await replaceJournal(stage.control, null, null)
    await expect(stage.openLedger()).rejects.toThrow('never had the journal')
    await expect(stage.openLedger({ mode: 'database' })).rejects.toThrow('never had the journal')
    await replaceJournal(stage.control, journalId, null)
    const next = await stage.openLedger()
    expect((await next.audit()).findings).toEqual([])
  })

  test('refuses a journal whose end is missing, although the database has applied it', async () => {
    const ledger = await stage.openLedger()
    await settledCall(ledger)
    await ledger.close()
    const [file] = fs.readdirSync(stage.folder)
    fs.writeFileSync(path.join(stage.folder, file!), Buffer.alloc(1024))
    await expect(stage.openLedger()).rejects.toThrow('the end of the journal is missing')
  })

  test('keeps a record that the tables reject, applies all others, and the audit names it', async () => {
    const { receipt, file } = await leaveJournal()
    const { journalId } = (await loadJournal(stage.control))!
    const [instance] = await stage.control.query<{ id: string }>('select instance_id as id from ledger_instances')
    const line = (kind: string, requestId: string, body: string) =>
      JSON.stringify([kind, instance!.id, requestId, JSON.parse(body)])
    const [period] = await stage.control.query<{ organisation: string; period: string }>(
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
    const log = await JournalLog.open({
      folder: stage.folder,
      files: journalFiles,
      journalId,
      lastSequence: 2,
      applied: [],
    })
    await log.append([line('open', 'req_bad', hold)])
    await log.close()
    expect((await openSegmentFolder(journalFiles, stage.folder)).map((segment) => segment.file)).toContain(file)
    const next = await stage.openLedger()
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
