import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canFailOver, type FailoverCluster, startFailoverCluster } from '../chaos/harness/failover/cluster.ts'
import type { ClusterNode } from '../chaos/harness/failover/node.ts'
import { endAndCompare } from '../chaos/harness/final-state.ts'
import { hangsAfterMs } from '../chaos/harness/instance.ts'
import { type Backend, type ChaosStage, openStage } from '../chaos/harness/stage.ts'
import { makeTestFolder } from '../harness/database.ts'
import { runOnServer } from '../harness/database-template.ts'
import { quickCall } from '../harness/ledger-crash/planned-provider.ts'
import { sendRecorded } from '../harness/ledger-crash/recorded-call.ts'
import { expectStatus, organisationMakers, removeFolder } from '../harness/portico.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { testSeed } from '../harness/seed.ts'

/**
 * Three processes of Portico under the load of 16 clients, on a PostgreSQL with a synchronous standby (deploy/patroni.yml, deploy/haproxy.cfg). The
 * primary is replaced in every way.
 */

const seed = testSeed
/** Until calls are answered again; or so long after the new primary, if Patroni itself took most of that time. */
const promised = { afterEventMs: 30_000, afterPromotionMs: 10_000 }
const completionClients = 5
const replicaConnections = `select pid from pg_stat_activity where application_name = 'portico control replica'`

interface Event {
  name: string
  happen(cluster: FailoverCluster, primary: ClusterNode): Promise<void> | void
  /** When the service answers again. */
  end?(primary: ClusterNode): void
}

const events: Event[] = [
  { name: 'patronictl switchover', happen: (cluster, primary) => cluster.switchOver(primary) },
  { name: 'kill -9 of the primary', happen: (_, primary) => primary.kill() },
  {
    name: 'a primary that is frozen',
    happen: (_, primary) => primary.freeze(),
    end: (primary) => primary.thaw(),
  },
  {
    name: 'a primary that is cut off',
    happen: (_, primary) => primary.cutOff(),
    end: (primary) => primary.reconnect(),
  },
]

describe.skipIf(!canFailOver())(
  canFailOver()
    ? 'a PostgreSQL that fails over'
    : 'a PostgreSQL that fails over (skipped: scripts/failover-for-tests.sh has not installed Patroni)',
  () => {
    let cluster: FailoverCluster
    let stage: ChaosStage

    beforeAll(async () => {
      cluster = await startFailoverCluster()
      stage = await openStage({ random: seededRandom(seed), openBackend: () => backendOf(cluster), completionClients })
      await stage.answersAgain()
    }, 2 * hangsAfterMs)
    afterAll(async () => {
      await stage?.close()
      await cluster?.close()
    })

    it(
      'shows a call in a report at once while the standby that reports read is behind',
      async () => {
        await cluster.untilRedundant()
        const standby = cluster.other(await cluster.primary())
        const { operator, provider } = stage
        const { url } = stage.instances[0]!
        const caller = await organisationMakers(url, operator).createOrganisation()
        const requests = async () => {
          const report = await operator('GET', `/api/console/organisations/${caller.id}/usage`)
          return expectStatus(report, 200).totals.requests
        }
        const readers = async () => {
          await requests()
          return (await runOnServer(standby.url, replicaConnections)).length
        }
        await expect.poll(readers, { timeout: hangsAfterMs }).toBeGreaterThan(0)
        await runOnServer(standby.url, 'select pg_wal_replay_pause()')
        // No other call has the number.
        const call = provider.planned({ ...quickCall, number: 1_000_000_000 })
        expect((await sendRecorded(url, caller, call)).status).toBe(200)
        expect(await requests()).toBe(1)
        await runOnServer(standby.url, 'select pg_wal_replay_resume()')
      },
      2 * hangsAfterMs,
    )

    it.each(events.map((event) => [event.name, event] as const))(
      'answers again after %s',
      async (name, { happen, end }) => {
        await cluster.untilRedundant()
        const primary = await cluster.primary()
        const successor = cluster.other(primary)
        const startMs = performance.now()
        const promoted = untilPrimary(successor).then(() => performance.now() - startMs)
        await happen(cluster, primary)
        const promotedMs = await promoted
        await stage.answersAgain()
        const answeredMs = performance.now() - startMs
        end?.(primary)
        // The figures are a result of the run.
        // oxlint-disable-next-line no-console
        console.log(
          `failover: ${name}: new primary after ${seconds(promotedMs)} s, every instance answers after ${seconds(answeredMs)} s`,
        )
        expect(answeredMs).toBeLessThan(Math.max(promised.afterEventMs, promotedMs + promised.afterPromotionMs))
        expect(stage.instances.flatMap((instance) => instance.unexpectedEnds())).toEqual([])
      },
      2 * hangsAfterMs,
    )

    it(
      `has lost no acknowledged bill, upload or deletion (seed ${seed})`,
      async () => {
        await cluster.untilRedundant()
        const { found, figures } = await endAndCompare(stage)
        // oxlint-disable-next-line no-console
        console.log(`failover: seed ${seed}`, figures)
        expect(found, `seed ${seed}`).toEqual([])
        expect(stage.instances.flatMap((instance) => instance.unexpectedEnds())).toEqual([])
      },
      4 * hangsAfterMs,
    )
  },
)

/** Files in a folder that all instances share. */
async function backendOf({ url, replicaUrl }: FailoverCluster): Promise<Backend> {
  const dataFolder = makeTestFolder()
  return {
    place: { dataFolder, databaseUrl: url, remove: async () => {} },
    variables: { DATABASE_REPLICA_URL: replicaUrl },
    close: () => removeFolder(dataFolder),
  }
}

async function untilPrimary(node: ClusterNode): Promise<void> {
  while (!(await node.isPrimary())) await wait(50)
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)
