import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { organisationWith } from '../testing/ledger-fixture.ts'
import { JournalStage, later, settledCall } from '../testing/journal-stage.ts'
import { endMarkName, readEndMark } from './journal-format.ts'

/** A start after the acknowledged end of a journal was lost. `journal-faults.test.ts` has every fault of the files. */

describe('a journal', () => {
  let stage: JournalStage

  beforeAll(async () => {
    stage = await JournalStage.open()
  })
  afterAll(() => stage.drop())
  beforeEach(() => stage.beginTest())
  afterEach(() => stage.endTest())

  /** A killed process that has acknowledged two calls, of which the database has none. The first ended at byte `firstEnd`. */
  async function leaveTwoCalls() {
    const { ledger, kill } = await stage.openMortal()
    const organisation = organisationWith('10')
    const first = await settledCall(ledger, organisation)
    const name = fs.readdirSync(stage.folder).find((entry) => entry.endsWith('.segment'))!
    const file = path.join(stage.folder, name)
    const firstEnd = fs.readFileSync(file).indexOf(0)
    const second = await settledCall(ledger, organisation)
    kill()
    return { first, second, file, firstEnd }
  }

  const faults: Record<string, (file: string, firstEnd: number) => void> = {
    'is cut off': (file, firstEnd) => fs.truncateSync(file, firstEnd),
    'is zeros': (file, firstEnd) => fs.writeFileSync(file, fs.readFileSync(file).fill(0, firstEnd)),
    'is zeros in its last sector': (file) => {
      const bytes = fs.readFileSync(file)
      const end = bytes.indexOf(0)
      fs.writeFileSync(file, bytes.fill(0, end - (end % 512 || 512)))
    },
  }

  test.each(Object.keys(faults))('whose end %s does not start; what is left is applied', async (fault) => {
    const { first, second, file, firstEnd } = await leaveTwoCalls()
    faults[fault]!(file, firstEnd)
    await expect(stage.openLedger()).rejects.toThrow(
      /the end of the journal is missing: .* acknowledged.*move the folder/s,
    )
    await expect(stage.openLedger({ mode: 'database' })).rejects.toThrow('the end of the journal is missing')
    const entries = await stage.control.query<{ id: string }>(
      'select request_id as id from ledger_entries where request_id = any($1)',
      [[first.requestId, second.requestId]],
    )
    expect(entries).toEqual([{ id: first.requestId }])
  })

  test('whose segments are gone does not start while their mark is there', async () => {
    const { file } = await leaveTwoCalls()
    fs.rmSync(file)
    await expect(stage.openLedger()).rejects.toThrow(/the segments of the journal .* are missing/)
    await expect(stage.openLedger({ mode: 'database' })).rejects.toThrow('are missing')
    expect(fs.existsSync(path.join(stage.folder, endMarkName))).toBe(true)
  })

  test('without a mark, of an earlier version, starts with every record', async () => {
    const { first, second } = await leaveTwoCalls()
    fs.rmSync(path.join(stage.folder, endMarkName))
    const next = await stage.openLedger(later)
    for (const receipt of [first, second]) expect(await next.loadReceipt(receipt.requestId)).toEqual(receipt)
    expect((await next.audit()).findings).toEqual([])
  })

  test('states the acknowledged end at every moment, also after a restart', async () => {
    const { ledger, kill } = await stage.openMortal()
    await settledCall(ledger)
    const before = (await readEndMark(stage.folder))!.lastSequence
    await settledCall(ledger)
    expect((await readEndMark(stage.folder))!.lastSequence).toBeGreaterThan(before)
    kill()
    const next = await stage.openLedger(later)
    await settledCall(next)
    await next.flush()
    const mark = (await readEndMark(stage.folder))!
    const [stored] = await stage.control.query<{ applied: bigint }>(
      'select applied_sequence as applied from ledger_journals where journal_id = $1',
      [mark.journalId],
    )
    expect(mark.lastSequence).toBe(Number(stored!.applied))
  })
})
