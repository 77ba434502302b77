import { setTimeout as wait } from 'node:timers/promises'
import { Agent, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../harness/database.ts'
import { freePorts } from '../harness/free-port.ts'
import { compareLedger } from '../harness/ledger-crash/compare-ledger.ts'
import { readLedgerTables } from '../harness/ledger-crash/ledger-tables.ts'
import {
  type PlannedProvider,
  providerSettings,
  startPlannedProvider,
} from '../harness/ledger-crash/planned-provider.ts'
import {
  createApiClient,
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
  waitForDocument,
} from '../harness/portico.ts'
import { checkOutLastRelease, type LastRelease, lastReleaseCommit } from '../harness/last-release.ts'
import { seededRandom } from '../harness/recorded-wire.ts'
import { type ReplacementLoad, startReplacementLoad } from '../harness/replacement-load.ts'
import { isInstalled, reverseProxies, startReverseProxy } from '../harness/reverse-proxies.ts'
import { testCertificate } from '../upstream/test-certificate.ts'
import { testSeed } from '../harness/seed.ts'

/**
 * Instances on PostgreSQL behind a proxy of deploy/, replaced one after the other while clients never pause: three of the last release behind nginx
 * by three of this version, and these by others; two of this version behind Caddy.
 */

const seed = testSeed
const hasServer = testServerUrl() !== undefined
/** As docs/operate/upgrade.md recommends: longer than the health interval of the proxies. */
const shutdownDelayMs = 3_000
const busyMs = 1_500
/** Instances, and their versions: those of each round replace those of the one before. */
const plans = {
  nginx: { instances: 3, versions: ['the last release', 'this', 'this'] },
  Caddy: { instances: 2, versions: ['this', 'this'] },
}

const unfitting = (isMissing: boolean) =>
  hasServer ? (isMissing ? ' (skipped: it is not installed)' : '') : ' (skipped: PORTICO_TEST_DATABASE_URL is not set)'

for (const [name, plan] of Object.entries(plans)) {
  const proxy = reverseProxies[name as keyof typeof plans]
  const [firstVersion, ...laterVersions] = plan.versions
  const isMissing = !isInstalled(proxy)
  describe.skipIf(!hasServer || isMissing)(`behind ${name}${unfitting(isMissing)}`, () => {
    let provider: PlannedProvider
    let place: DatabasePlace
    let release: LastRelease | undefined
    const dispatcher = new Agent({ connect: { ca: testCertificate } })

    beforeAll(async () => {
      setGlobalDispatcher(dispatcher)
      provider = await startPlannedProvider()
      if (firstVersion === 'the last release' && lastReleaseCommit !== undefined)
        release = checkOutLastRelease(lastReleaseCommit)
      // The release makes its own tables, and the first instance of this version changes them.
      place = await freshDatabasePlace({ isEmpty: release !== undefined })
    })
    afterAll(async () => {
      await place?.remove()
      release?.remove()
      await provider?.upstream.close()
      await dispatcher.close()
    })

    const start = (port: number, version: string) =>
      startSeparatePortico({
        place,
        sources: version === 'this' ? undefined : release?.folder,
        environment: { PORT: String(port), PORTICO_SHUTDOWN_DELAY_MS: String(shutdownDelayMs) },
        settings: {
          ...providerSettings(provider),
          metrics: { enabled: true },
          ingestion: { workers: 1 },
          server: { trustProxy: ['127.0.0.1'] },
        },
      })

    test(`replacing ${plan.versions.join(' by ')} under load fails no request and bills each answer once (seed ${seed})`, async () => {
      const ports = await freePorts(plan.instances)
      const instances: SeparatePortico[] = []
      // One after the other: the first one makes the tables.
      for (const port of ports) instances.push(await start(port, firstVersion!))
      const running = await startReverseProxy(proxy, ports)
      try {
        const [caller, team] = await Promise.all([
          organisationBehind(running.url, instances),
          organisationBehind(running.url, instances),
        ])
        const space = await instances[0]!.createSpace(team, {})
        await reaches(`${running.url}/readyz`)
        const firstChats: string[] = []
        for (const { url } of instances) firstChats.push(await knows(url, { caller, team, space }))
        const load = startReplacementLoad({
          url: running.url,
          provider,
          random: seededRandom(seed),
          caller,
          team,
          space,
        })
        load.chats.push(...firstChats)
        for (const instance of instances) await serves(instance)
        for (const version of laterVersions) {
          for (const [index, port] of ports.entries()) {
            await wait(busyMs)
            await replace(instances, index, () => start(port, version), load)
          }
        }
        await load.stop()
        expect(load.failures, `seed ${seed}`).toEqual([])
        await expectLedger(load, { caller, team, instances })
        for (const id of load.documents)
          expect(await waitForDocument(team.client, id)).toMatchObject({ status: 'ready' })
        // The figures are a result of the run.
        // oxlint-disable-next-line no-console
        console.log(
          `replacing-instances: ${name}, ${plan.instances} instances, ${load.records.length} completions, ${load.chats.length} chats, ${load.documents.length} uploads`,
        )
        expect(await Promise.all(instances.map((instance) => instance.kill('SIGTERM')))).toEqual(instances.map(() => 0))
      } finally {
        for (const instance of instances) await instance.stop()
        await running.stop()
      }
    }, 400_000)

    async function expectLedger(
      load: ReplacementLoad,
      { caller, team, instances }: { caller: TestOrganisation; team: TestOrganisation; instances: SeparatePortico[] },
    ) {
      const { operator } = instances[0]!
      const isSettled = async () =>
        Number(expectStatus(await operator('GET', `/api/organisations/${caller.id}/budget`), 200).heldUsd)
      await expect.poll(isSettled).toBe(0)
      expect(expectStatus(await operator('GET', '/api/audit'), 200).findings).toEqual([])
      const tables = await readLedgerTables(place)
      const ofCaller = <T extends { organisationId: string }>(rows: T[]) =>
        rows.filter(({ organisationId }) => organisationId === caller.id)
      const compared = { ...tables, entries: ofCaller(tables.entries), periods: ofCaller(tables.periods) }
      expect(compareLedger(load.records, compared, provider.sent).faults).toEqual([])
      expect(compared.entries.map(({ ending }) => ending)).toEqual(load.records.map(() => 'completed'))
      const ofChats = tables.entries.filter(({ organisationId }) => organisationId === team.id)
      expect(ofChats.map(({ requestId }) => requestId).sort()).toEqual([...load.chats].sort())
    }
  })
}

/** An organisation whose client uses the proxy. */
async function organisationBehind(url: string, [first]: SeparatePortico[]): Promise<TestOrganisation> {
  const organisation = await first!.createOrganisation({ monthlyBudgetUsd: '1000' })
  return { ...organisation, client: createApiClient(url, organisation.apiKey) }
}

/** Waits until an instance has read what another one made. Resolves to the request id of a chat. */
async function knows(
  url: string,
  { caller, team, space }: { caller: TestOrganisation; team: TestOrganisation; space: TestSpace },
): Promise<string> {
  const models = () => createApiClient(url, caller.apiKey)('GET', '/v1/gateway/models')
  await expect.poll(async () => (await models()).status).toBe(200)
  const question = { messages: [{ role: 'user', content: 'Which garden has roses?' }] }
  let id = ''
  const ask = async () => {
    const { status, headers } = await createApiClient(url, team.apiKey)(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      question,
    )
    id = headers.get('x-request-id')!
    return status
  }
  await expect.poll(ask).toBe(200)
  return id
}

async function replace(
  instances: SeparatePortico[],
  index: number,
  start: () => Promise<SeparatePortico>,
  load: ReplacementLoad,
) {
  const old = instances[index]!
  expect(load.openStreams()).toBeGreaterThan(0)
  expect(await old.kill('SIGTERM'), old.output()).toBe(0)
  await old.stop()
  instances[index] = await start()
  // The proxy may leave it out for some seconds. The other instance must not stop before.
  await serves(instances[index])
}

/** Waits until the proxy uses the instance. */
async function serves({ output }: SeparatePortico) {
  const [, metricsUrl] = /metrics\s+(http\S+)/.exec(output())!
  const completions = async () =>
    /^portico_http_requests_total\{[^}]*completions[^}]*\} /m.test(await (await fetch(metricsUrl!)).text())
  await expect.poll(completions, { timeout: 30_000 }).toBe(true)
}

async function reaches(url: string) {
  const status = () => fetch(url).then((response) => response.status, String)
  await expect.poll(status, { timeout: 20_000 }).toBe(200)
}
