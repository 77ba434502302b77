import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { runOnServer } from '../harness/database-template.ts'
import { compareLedger } from '../harness/ledger-crash/compare-ledger.ts'
import { readLedgerTables } from '../harness/ledger-crash/ledger-tables.ts'
import { type PlannedProvider, startPlannedProvider } from '../harness/ledger-crash/planned-provider.ts'
import { type Caller, type CallRecord, sendRecorded } from '../harness/ledger-crash/recorded-call.ts'
import { openVictim, operatorToken, type Victim } from '../harness/ledger-crash/victim.ts'
import { createApiClient, expectStatus } from '../harness/portico.ts'

/** Real processes with a local journal in front of PostgreSQL. ledger-crash.proof.test.ts and ledger-instances.proof.test.ts kill them under load. */

const serverUrl = testServerUrl()
const name = 'a local journal in front of PostgreSQL'
const local = { PORTICO_LEDGER_JOURNAL: 'local' }

describe.skipIf(serverUrl === undefined)(
  serverUrl === undefined ? `${name} (skipped: PORTICO_TEST_DATABASE_URL is not set)` : name,
  () => {
    let number = 0

    function call(
      provider: PlannedProvider,
      url: string,
      caller: Caller,
      { stream = false, words = 5, onText = () => {} } = {},
    ) {
      const planned = provider.planned({
        number: ++number,
        stream,
        words,
        headersAfterMs: 0,
        pauseMs: 20,
        promptTokens: 10,
        sendsUsage: true,
        capTokens: null,
        hangUpAfterWords: null,
      })
      return sendRecorded(url, caller, planned, ({ wordsAtMs }) => wordsAtMs.length > 0 && onText())
    }

    it('refuses to start with a server from an older backup, and starts again when the loss is accepted', async () => {
      const provider = await startPlannedProvider()
      // PgBouncer keeps its connections, and a database with connections cannot be copied.
      const place = withoutPooler(await freshDatabasePlace())
      await using victim = await openVictim(provider, { place, environment: local })
      const caller = await victim.createOrganisation('10')
      const folder = path.join(place.dataFolder, 'server-journal')
      await call(provider, victim.url()!, caller)
      await victim.kill()
      const database = new URL(place.databaseUrl!).pathname.slice(1)
      // The server notices a moment later that the killed process is gone.
      await expect
        .poll(
          () =>
            runOnServer(serverUrl!, `create database ${database}_backup template ${database}`).then(
              () => 'made',
              String,
            ),
          {
            timeout: 20_000,
            interval: 500,
          },
        )
        .toBe('made')
      await victim.start()
      await call(provider, victim.url()!, caller)
      await victim.kill()
      await runOnServer(serverUrl!, `drop database ${database} with (force)`)
      await runOnServer(serverUrl!, `alter database ${database}_backup rename to ${database}`)

      await expect(victim.start()).rejects.toThrow(
        /ended with 1:\s.*has never had the journal .* the database is older .*move the folder .*portico ledger journals/s,
      )
      fs.renameSync(folder, `${folder}-old`)
      await victim.start()
      const operator = createApiClient(victim.url()!, operatorToken)
      const open = () => journalsOf(victim)
      await expect
        .poll(async () => (await open()).map(({ silent }) => silent), { timeout: 30_000 })
        .toEqual([true, false])
      const [silent, running] = await open()
      expect((await operator('POST', `/api/ledger/journals/${running!.journalId}/release`)).status).toBe(409)
      expect((await operator('POST', `/api/ledger/journals/${silent!.journalId}/release`)).status).toBe(204)
      expect((await operator('POST', `/api/ledger/journals/${silent!.journalId}/release`)).status).toBe(404)
      const log = expectStatus(await operator('GET', '/api/admin-log?action=ledger_journal.released'), 200)
      expect(log.items).toMatchObject([{ actor: 'operator', subjectId: silent!.journalId, after: null }])
      await expect.poll(async () => (await open()).length, { timeout: 30_000 }).toBe(1)
      await victim.settleAll([caller])
      expect(await victim.auditFindings()).toEqual([])
      expect(await victim.stop()).toBe(0)
      await provider.upstream.close()
      await place.remove()
    }, 180_000)

    it('keeps everything of a process that was stopped for longer than others wait, and bills its calls as they ended', async () => {
      const provider = await startPlannedProvider()
      const place = await freshDatabasePlace()
      await using stopped = await openVictim(provider, { place, environment: local })
      await using other = await openVictim(provider, {
        place,
        environment: {
          PORTICO_LEDGER_JOURNAL: 'database',
          PORTICO_LEDGER_JOURNAL_FOLDER: path.join(place.dataFolder, 'other-journal'),
        },
      })
      const caller = await stopped.createOrganisation('10')
      const streaming = [0, 1, 2].map(() => Promise.withResolvers<void>())
      const begun: Promise<CallRecord>[] = streaming.map(({ resolve }) =>
        call(provider, stopped.url()!, caller, { stream: true, words: 60, onText: resolve }),
      )
      await Promise.all(streaming.map(({ promise }) => promise))
      stopped.signal('SIGSTOP')
      await expect
        .poll(async () => (await journalsOf(other)).map(({ silent }) => silent), { timeout: 30_000 })
        .toEqual([true])
      begun.push(call(provider, other.url()!, caller))
      await begun.at(-1)
      stopped.signal('SIGCONT')
      const records = await Promise.all(begun)
      expect(records.map(({ sawEnd, errorCode }) => ({ sawEnd, errorCode }))).toEqual(
        records.map(() => ({ sawEnd: true, errorCode: null })),
      )
      await stopped.settleAll([caller])
      expect(await stopped.auditFindings()).toEqual([])
      expect(await Promise.all([stopped.stop(), other.stop()])).toEqual([0, 0])
      const tables = await readLedgerTables(place)
      expect(compareLedger(records, tables, provider.sent).faults).toEqual([])
      expect(tables).toMatchObject({ openHolds: 0, instances: 0 })
      await provider.upstream.close()
      await place.remove()
    }, 120_000)
  },
)

async function journalsOf(victim: Victim): Promise<Journal[]> {
  const operator = createApiClient(victim.url()!, operatorToken)
  return expectStatus(await operator('GET', '/api/ledger/journals'), 200).items
}

interface Journal {
  journalId: string
  silent: boolean
}
