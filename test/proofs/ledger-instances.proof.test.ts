import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { compareLedger, untilWrittenDown } from '../harness/ledger-crash/compare-ledger.ts'
import { startLoad } from '../harness/ledger-crash/crash-load.ts'
import { blindSpots, overrunOf, spendAll } from '../harness/ledger-crash/final-checks.ts'
import { readLedgerTables, untilInstances } from '../harness/ledger-crash/ledger-tables.ts'
import { startPlannedProvider } from '../harness/ledger-crash/planned-provider.ts'
import type { CallRecord } from '../harness/ledger-crash/recorded-call.ts'
import { openVictim } from '../harness/ledger-crash/victim.ts'
import { freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { testSeed } from '../harness/seed.ts'

/** Two processes on one PostgreSQL, either of them killed under load; clients continue with the other. */

const kills = Number(process.env['PORTICO_TEST_KILLS'] ?? 8)
const parallelCalls = 16
const longestBurstMs = 3_000
const seed = testSeed
const hasServer = testServerUrl() !== undefined

describe.skipIf(!hasServer)(
  hasServer
    ? 'two instances on PostgreSQL'
    : 'two instances on PostgreSQL (skipped: PORTICO_TEST_DATABASE_URL is not set)',
  () => {
    it(`bills every answer exactly once, leaks no hold and overruns no budget in ${kills} kills of either process (seed ${seed})`, async () => {
      const startedMs = performance.now()
      const random = seededRandom(seed)
      const provider = await startPlannedProvider()
      const place = await freshDatabasePlace()
      const victims = [await openVictim(provider, { place }), await openVictim(provider, { place })]
      const [first] = victims
      const poor = [await first!.createOrganisation('0'), await first!.createOrganisation('0')]
      const organisations = [await first!.createOrganisation('1000'), ...poor]
      const records: CallRecord[] = []
      const faults: string[] = []
      let number = 0
      const nextNumber = () => ++number
      const load = startLoad({
        provider,
        organisations,
        random,
        records,
        parallel: parallelCalls,
        nextNumber,
        url() {
          const up = victims.map((victim) => victim.url()).filter((url) => url !== undefined)
          return up[Math.floor(random() * up.length)]
        },
      })
      for (let kill = 1; kill <= kills; kill++) {
        const victim = victims[Math.floor(random() * victims.length)]!
        for (const { id } of poor) await victim.setBudget(id, (0.03 * kill).toFixed(2))
        await Promise.race([load.over(Math.floor(random() * 80)), wait(longestBurstMs)])
        // Some bursts last until the progress of long streams must have been written; the others end at a random moment.
        if (kill % 5 === 0) await untilWrittenDown(victim.url()!, records)
        else await wait(random() * 200)
        await victim.kill()
        await victim.start()
        for (const { id } of poor) faults.push(...(await overrunOf(victim, id)))
      }
      await load.stop()
      // Killed instances are presumed dead, and other instances settle their holds.
      await untilInstances(place, victims.length)
      await first!.settleAll(organisations)
      faults.push(...(await first!.auditFindings()))
      for (const organisation of poor) {
        faults.push(...(await spendAll({ victim: first!, provider, nextNumber, records }, organisation)))
      }
      expect(await Promise.all(victims.map((victim) => victim.stop()))).toEqual([0, 0])
      const tables = await readLedgerTables(place)
      const { faults: differences, figures } = compareLedger(records, tables, provider.sent)
      // The figures are a result of the run.
      // oxlint-disable-next-line no-console
      console.log(
        `ledger-instances: seed ${seed}, ${kills} kills, ${Math.round((performance.now() - startedMs) / 1000)} s`,
        figures,
      )
      expect([...faults, ...differences, ...blindSpots(records, tables, provider)], `seed ${seed}`).toEqual([])
      expect(tables.instances).toBe(0)
      expect(figures['streams killed after some text']).toBeGreaterThan(0)
      expect(figures['billed as crashed']).toBeGreaterThan(0)
      await provider.upstream.close()
      await place.remove()
    }, 300_000)
  },
)
