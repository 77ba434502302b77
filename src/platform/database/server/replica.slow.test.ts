import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type DatabasePlace,
  freshDatabasePlace,
  testServerUrl,
  withoutPooler,
} from '../../../../test/harness/database.ts'
import { type FaultProxy, startFaultProxy } from '../../../../test/harness/ledger-crash/fault-proxy.ts'
import { type OpenedDatabases, openDatabases } from '../../../../test/harness/statements.ts'
import { sharedOwner, silentLog, systemClock } from '../../kernel/index.ts'

/** The same server behind a proxy stands for the replica. test/proofs/failover.proof.test.ts has a real one, whose replay it stops. */
describe.skipIf(testServerUrl() === undefined)('a replica (PORTICO_TEST_DATABASE_URL)', () => {
  let place: DatabasePlace
  let proxy: FaultProxy
  let databases: OpenedDatabases
  let warnings: string[]

  beforeEach(async () => {
    place = withoutPooler(await freshDatabasePlace())
    proxy = await startFaultProxy(place.databaseUrl!)
    warnings = []
    databases = await open(proxy.url)
  })
  afterEach(async () => {
    await databases.close()
    await proxy.close()
    await place.remove()
  })

  // No machine is so busy that a server that answers counts as late.
  const open = (databaseReplicaUrl: string, replicaWaitMs = 10_000) =>
    openDatabases({
      ...place,
      databaseReplicaUrl,
      limits: { replicaWaitMs },
      clock: systemClock,
      log: { ...silentLog, warn: (_fields, message) => void warnings.push(message) },
    })
  /** Name of the connections on which the queries of a report run. */
  async function reads({ control }: Pick<OpenedDatabases, 'control'>): Promise<unknown> {
    const own = await control.reading(sharedOwner)
    const [row] = await own.query<{ name: string }>(`select current_setting('application_name') as name /* report */`)
    return row!.name
  }

  test('answers what reports and searches read, and nothing else', async () => {
    expect(await reads(databases)).toBe('portico control replica')
    const own = await databases.control.reading(sharedOwner)
    const name = `select current_setting('application_name') as name`
    expect(await own.transaction((transaction) => transaction.query(name))).toEqual([{ name: 'portico control' }])
    expect(await databases.control.query(name)).toEqual([{ name: 'portico control' }])
    expect(await (await databases.corpus.reading(sharedOwner)).query(name)).toEqual([
      { name: 'portico corpus replica' },
    ])
  })

  test('that cannot be reached is not read, and is left alone for a while', async () => {
    const away = await open('postgres://someone@127.0.0.1:1/nothing')
    expect([await reads(away), await reads(away)]).toEqual(['portico control', 'portico control'])
    expect(warnings).toHaveLength(1)
    await away.close()
  })

  test('that does not answer in time is not read', async () => {
    const impatient = await open(proxy.url, 0)
    proxy.hang()
    expect(await reads(impatient)).toBe('portico control')
    expect(warnings).toHaveLength(1)
    proxy.resume()
    await impatient.close()
  })

  test('that freezes during a query leaves it to the primary', async () => {
    expect(await reads(databases)).toBe('portico control replica')
    proxy.ignore('report')
    expect(await reads(databases)).toBe('portico control')
    expect(warnings).toContain('the replica is not read for some seconds; the primary answers')
    proxy.resume()
  })
})
