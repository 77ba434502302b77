import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { compareLedger } from '../harness/ledger-crash/compare-ledger.ts'
import { startLoad } from '../harness/ledger-crash/crash-load.ts'
import { type FaultProxy, startFaultProxy } from '../harness/ledger-crash/fault-proxy.ts'
import { blindSpots } from '../harness/ledger-crash/final-checks.ts'
import { readLedgerTables, untilInstances } from '../harness/ledger-crash/ledger-tables.ts'
import { hasOwnPostgres, startOwnPostgres } from '../harness/ledger-crash/own-postgres.ts'
import { quickCall, startPlannedProvider } from '../harness/ledger-crash/planned-provider.ts'
import { type CallRecord, sendRecorded } from '../harness/ledger-crash/recorded-call.ts'
import { openVictim, type Victim } from '../harness/ledger-crash/victim.ts'
import { type DatabasePlace, makeTestFolder } from '../harness/database.ts'
import { runOnServer } from '../harness/database-template.ts'
import { removeFolder } from '../harness/portico.ts'
import { median } from '../harness/timing.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { testSeed } from '../harness/seed.ts'

/** Two processes under load on a PostgreSQL with fsync, with every kind of connection failure. */

const parallelCalls = 12
const seed = testSeed
/**
 * The first call waits for the database (src/gateway/billing/lost-database.test.ts bounds it); later ones are refused at once. Its provider answers after
 * that: an answer that comes sooner may share a statement with its hold, and then waits until the database is back.
 */
const repeats = 5
const answeredTooLateMs = 10_000
const recoveredWithinMs = 60_000

describe.skipIf(!hasOwnPostgres())(
  hasOwnPostgres()
    ? 'a ledger whose database fails'
    : 'a ledger whose database fails (skipped: scripts/postgres-for-tests.sh has installed no server)',
  () => {
    it(`survives killed connections, a server crash, lost replies, a hanging network and stopped processes, and bills each answer once (seed ${seed})`, async () => {
      const startedMs = performance.now()
      const random = seededRandom(seed)
      const provider = await startPlannedProvider()
      const postgres = await startOwnPostgres()
      const proxies = await Promise.all([startFaultProxy(postgres.url), startFaultProxy(postgres.url)])
      const folders = [makeTestFolder(), makeTestFolder()]
      const direct: DatabasePlace = { dataFolder: folders[0]!, databaseUrl: postgres.url, remove: async () => {} }
      const victims: Victim[] = []
      // One after the other: the first one creates the tables.
      for (const [index, proxy] of proxies.entries()) {
        const place: DatabasePlace = { dataFolder: folders[index]!, databaseUrl: proxy.url, remove: async () => {} }
        victims.push(await openVictim(provider, { place }))
      }
      const [first, second] = victims as [Victim, Victim]
      const [firstProxy] = proxies as [FaultProxy, FaultProxy]
      const organisations = [await first.createOrganisation('1000'), await first.createOrganisation('1000')]
      const records: CallRecord[] = []
      let number = 0
      const urls = () => victims.map((victim) => victim.url()!)
      const load = startLoad({
        provider,
        organisations,
        random,
        records,
        parallel: parallelCalls,
        nextNumber: () => ++number,
        url: () => urls()[Math.floor(random() * victims.length)]!,
      })
      const quick = async (url: string, headersAfterMs = 0) => {
        const call = provider.planned({ ...quickCall, headersAfterMs, number: ++number })
        const record = await sendRecorded(url, organisations[0]!, call)
        records.push(record)
        return record
      }
      /** Both answer a call and report that they are ready. */
      const recovered = async () => {
        const deadline = performance.now() + recoveredWithinMs
        for (const url of urls()) {
          for (;;) {
            const record = await quick(url)
            const ready = await fetch(`${url}/readyz`)
            if (record.status === 200 && ready.status === 200) break
            if (performance.now() > deadline) throw new Error(`${url} answers ${record.status}, readyz ${ready.status}`)
            await wait(200)
          }
        }
      }

      await load.over(50)
      await runOnServer(postgres.url, killConnections)
      await recovered()

      await load.over(50)
      await postgres.crash()
      await recovered()

      for (const proxy of proxies) {
        await proxy.loseAnswers('ledger_write_batch', 4)
        // Replies to transactions, including those of leases.
        await proxy.loseAnswers('commit', 2)
      }
      await recovered()

      firstProxy.hang()
      const refused = await quick(first.url()!, answeredTooLateMs)
      expect(refused.status).toBe(503)
      const refusals: CallRecord[] = []
      const answers: CallRecord[] = []
      for (let repeat = 0; repeat < repeats; repeat++) {
        refusals.push(await quick(first.url()!))
        answers.push(await quick(second.url()!))
      }
      expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 503))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(median(refusals.map(tookMs))).toBeLessThan(10 * median(answers.map(tookMs)))
      await expect.poll(async () => (await fetch(`${first.url()!}/readyz`)).status, { timeout: 10_000 }).toBe(503)
      // The other one takes over.
      await untilInstances(direct, 1)
      firstProxy.resume()
      await recovered()

      second.signal('SIGSTOP')
      await untilInstances(direct, 1)
      second.signal('SIGCONT')
      await recovered()

      await load.stop()
      await first.settleAll(organisations)
      // A registration whose reply came late leaves an instance without a process, until it is presumed dead.
      await untilInstances(direct, victims.length)
      const findings = await first.auditFindings()
      expect(await Promise.all(victims.map((victim) => victim.stop()))).toEqual([0, 0])
      const tables = await readLedgerTables(direct)
      const { faults, figures } = compareLedger(records, tables, provider.sent)
      // The figures are a result of the run.
      // oxlint-disable-next-line no-console
      console.log(
        `ledger-database-faults: seed ${seed}, ${Math.round((performance.now() - startedMs) / 1000)} s`,
        figures,
      )
      expect([...findings, ...faults, ...blindSpots(records, tables, provider)], `seed ${seed}`).toEqual([])
      expect(tables).toMatchObject({ instances: 0, openHolds: 0 })
      expect(tables.periods.filter((period) => period.settled !== period.committed)).toEqual([])
      expect(figures['billed as completed']).toBeGreaterThan(100)
      await Promise.all(proxies.map((proxy) => proxy.close()))
      await provider.upstream.close()
      await postgres.remove()
      await Promise.all(folders.map(removeFolder))
    }, 600_000)
  },
)

const tookMs = ({ sentAtMs, overAtMs }: CallRecord) => overAtMs - sentAtMs
const killConnections = 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()'
