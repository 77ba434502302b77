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
import { expectStatus, organisationMakers, removeFolder, uploadForm, waitForDocument } from '../harness/portico.ts'
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
        const { operator, provider } = stage
        const { url } = stage.instances[0]!
        const caller = await organisationMakers(url, operator).createOrganisation()
        const requests = async () => {
          const report = await operator('GET', `/api/console/organisations/${caller.id}/usage`)
          return expectStatus(report, 200).totals.requests
        }
        const resume = await pauseStandby(cluster, 'control', requests)
        // No other call has the number.
        const call = provider.planned({ ...quickCall, number: 1_000_000_000 })
        expect((await sendRecorded(url, caller, call)).status).toBe(200)
        expect(await requests()).toBe(1)
        await resume()
      },
      2 * hangsAfterMs,
    )

    it(
      'finds a document once it is ready, and none that was deleted, while the standby that searches read is behind',
      async () => {
        const makers = organisationMakers(stage.instances[0]!.url, stage.operator)
        const team = await makers.createOrganisation()
        const space = await makers.createSpace(team)
        const { client } = team
        const upload = async (name: string): Promise<string> => {
          const form = uploadForm(`The ${name} opens at nine.`, `${name}.txt`)
          const { id } = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
          await waitForDocument(client, id)
          return id
        }
        const find = async () => {
          const query = { query: 'When does it open?' }
          const found = await client('POST', `/v2/endpoints/${space.endpointId}/search`, query)
          return expectStatus(found, 200).passages.map(({ documentId }: { documentId: string }) => documentId)
        }
        const deleted = await upload('museum')
        const resume = await pauseStandby(cluster, 'corpus', find)
        expect(await find()).toEqual([deleted])
        const added = await upload('garden')
        expect((await client('DELETE', `/v1/documents/${deleted}`)).status).toBeLessThan(300)
        expect(await find()).toEqual([added])
        await resume()
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

/** Stops the replay of the standby once `read` reads from it. Resolves to what continues it. */
async function pauseStandby(
  cluster: FailoverCluster,
  database: 'control' | 'corpus',
  read: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  await cluster.untilRedundant()
  const { url } = cluster.other(await cluster.primary())
  const readers = async () => {
    await read()
    const connections = `select pid from pg_stat_activity where application_name = 'portico ${database} replica'`
    return (await runOnServer(url, connections)).length
  }
  await expect.poll(readers, { timeout: hangsAfterMs }).toBeGreaterThan(0)
  await runOnServer(url, 'select pg_wal_replay_pause()')
  return async () => void (await runOnServer(url, 'select pg_wal_replay_resume()'))
}

async function untilPrimary(node: ClusterNode): Promise<void> {
  while (!(await node.isPrimary())) await wait(50)
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)
