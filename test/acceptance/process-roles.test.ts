import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf } from '../chaos/harness/processes.ts'
import { type DatabasePlace, freshDatabasePlace, serviceVariables, testServerUrl } from '../harness/database.ts'
import { freePorts } from '../harness/free-port.ts'
import {
  type ApiClient,
  createApiClient,
  expectStatus,
  organisationMakers,
  type PorticoProcess,
  soonPresumedDead,
  spawnPortico,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'

/** One process of each role on one PostgreSQL, as an operator starts them with --role. */

const hasServer = testServerUrl() !== undefined
const operatorToken = 'test-operator-of-several-roles'
const gatewayProcesses = 2

describe.skipIf(!hasServer)('processes with roles', () => {
  let place: DatabasePlace
  let ports: { gateway: number; metrics: number }
  let gateway: PorticoProcess
  let api: PorticoProcess
  let worker: PorticoProcess
  let operator: ApiClient
  let organisation: TestOrganisation
  let space: TestSpace

  const variables = (more: Record<string, string> = {}) => ({
    ...serviceVariables(place, operatorToken),
    PORTICO_LOG_LEVEL: 'warn',
    PORTICO_MAXIMUM_EVENT_LOOP_DELAY_MS: '60000',
    PORTICO_SHUTDOWN_DELAY_MS: '300',
    ...soonPresumedDead,
    ...more,
  })
  const start = (role: string, more: Record<string, string> = {}) =>
    spawnPortico(variables({ PORTICO_ROLE: role, ...more }))
  const startGateway = () =>
    spawnPortico(variables({ PORT: String(ports.gateway), PORTICO_METRICS_PORT: String(ports.metrics) }), [
      '--role=gateway',
      `--processes=${gatewayProcesses}`,
    ])

  beforeAll(async () => {
    place = await freshDatabasePlace()
    // The metrics of each process have their own; a process that is started again must find it free.
    const [gatewayPort, metrics] = await freePorts(1 + gatewayProcesses)
    ports = { gateway: gatewayPort!, metrics: metrics! }
    ;[api, worker] = [await start('api'), await start('worker')]
    gateway = await startGateway()
    operator = createApiClient(api.url, operatorToken)
    const makers = organisationMakers(api.url, operator)
    organisation = await makers.createOrganisation()
    space = await makers.createSpace(organisation)
  })
  afterAll(async () => {
    for (const running of [gateway, api, worker]) await running?.kill('SIGTERM')
    await place?.remove()
  })

  const complete = (url = gateway.url) =>
    createApiClient(url, organisation.apiKey)('POST', '/v1/gateway/chat/completions', {
      model: 'portico/offline',
      messages: [{ role: 'user', content: 'Good morning' }],
    })
  const upload = async (text: string) =>
    expectStatus(
      await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm(text, 'museum.md')),
      201,
    ).id
  const readiness = async (url: string) => (await fetch(`${url}/readyz`)).json()

  it('divide upload, ingestion, chat, gateway and budget between them', async () => {
    const id = await upload('A ticket of the museum costs 12 euros.')
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    const answer = await organisation.client(
      'POST',
      `/v1/endpoints/${space.endpointId}/chat`,
      { messages: [{ role: 'user', content: 'How much does a ticket cost?' }] },
      { 'service-enable-inline-sources': 'true' },
    )
    expect(expectStatus(answer, 200).content).toContain('12 euros')
    for (let call = 0; call < 4; call++) expectStatus(await complete(), 200)
    await expect
      .poll(async () => expectStatus(await operator('GET', `/api/organisations/${organisation.id}/usage`), 200))
      .toMatchObject({ totals: { requests: 5 } })
    expect(expectStatus(await operator('GET', '/api/audit'), 200)).toMatchObject({ findings: [] })
  })

  it.each([
    ['gateway', () => gateway.url, '/v1/documents', 'api'],
    ['gateway', () => gateway.url, '/api/models', 'api'],
    ['gateway', () => gateway.url, '/v1/endpoints/x/chat', 'api'],
    ['gateway', () => gateway.url, '/docs', 'api'],
    ['api', () => api.url, '/v1/gateway/models', 'gateway'],
    ['api', () => api.url, '/v2/gateway/models', 'gateway'],
    ['worker', () => worker.url, '/v1/documents', 'api'],
    ['worker', () => worker.url, '/v1/gateway/models', 'gateway'],
  ])('the %s names the role that serves %s%s', async (role, url, target, serving) => {
    const { status, body } = await createApiClient(url(), organisation.apiKey)('GET', target)
    expect({ status, code: body.error.code }).toEqual({ status: 421, code: 'misdirected_request' })
    expect(body.error.message).toContain(`the role ${role}; processes with the role ${serving} serve`)
  })

  it('show their roles to the operator and to Prometheus', async () => {
    const { instances } = expectStatus(await operator('GET', '/api/console/system'), 200)
    const running = instances.filter(({ alive }: { alive: boolean }) => alive).map(({ role }: { role: string }) => role)
    expect(running.toSorted()).toEqual(['api', 'gateway', 'gateway', 'worker'])
    for (let number = 0; number < gatewayProcesses; number++) {
      const text = await (await fetch(`http://127.0.0.1:${ports.metrics + number}/metrics`)).text()
      expect(text).toContain('portico_instances{role="gateway"} 2')
    }
  })

  it('keep uploads while no worker is alive, report it, and process them later', async () => {
    expect(await readiness(api.url)).toEqual({ status: 'ok' })
    expect(await worker.kill('SIGTERM')).toBe(0)
    const id = await upload('The garden has 120 kinds of roses.')
    await expect
      .poll(() => readiness(api.url), { timeout: 20_000 })
      .toEqual({ status: 'ok', problems: [expect.stringContaining('No process with the role worker')] })
    expect(expectStatus(await organisation.client('GET', `/v1/documents/${id}`), 200).status).toBe('processing')
    worker = await start('worker')
    expect(await waitForDocument(organisation.client, id)).toMatchObject({ status: 'ready' })
    await expect.poll(() => readiness(api.url), { timeout: 5_000 }).toEqual({ status: 'ok' })
  })

  it('start a killed process again, while the others of its port answer, and bill every answer', async () => {
    const before = await billedRequests()
    const [victim] = childrenOf(gateway.child.pid!)
    process.kill(victim!, 'SIGKILL')
    let answered = 0
    let cut = 0
    const deadline = Date.now() + 60_000
    while (childrenOf(gateway.child.pid!).filter((pid) => pid !== victim).length < gatewayProcesses || answered < 100) {
      if (Date.now() > deadline) throw new Error(`not started again: ${gateway.output()}`)
      // A kept connection to the killed process is cut.
      const answer = await complete().catch(() => undefined)
      if (answer === undefined) cut += 1
      else {
        expectStatus(answer, 200)
        answered += 1
      }
      await wait(10)
    }
    expect(cut).toBeLessThanOrEqual(2)
    // The holds of the killed process are settled when it is presumed dead.
    await expect.poll(billedRequests, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + answered)
    await expect
      .poll(async () => expectStatus(await operator('GET', '/api/audit'), 200).findings, { timeout: 20_000 })
      .toEqual([])
  })

  it('end together, with code 0, while one of them is started again', async () => {
    const supervisor = gateway.child.pid!
    const [victim] = childrenOf(supervisor)
    process.kill(victim!, 'SIGKILL')
    const others = () => childrenOf(supervisor).filter((pid) => pid !== victim)
    // The new process takes a second or more until it handles signals.
    await expect.poll(() => others().length, { interval: 10 }).toBe(gatewayProcesses)
    const code = await gateway.kill('SIGTERM')
    expect(code, gateway.output()).toBe(0)
    gateway = await startGateway()
  })

  it('end together, with code 0, while requests arrive', async () => {
    const pids = childrenOf(gateway.child.pid!)
    expect(pids).toHaveLength(gatewayProcesses)
    const code = await gateway.kill('SIGTERM')
    expect(code, gateway.output()).toBe(0)
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    gateway = await start('gateway')
    expectStatus(await complete(), 200)
  })

  it('do not start with separate files', async () => {
    const elsewhere = path.join(place.dataFolder, 'elsewhere')
    mkdirSync(elsewhere)
    const split = start('worker', { PORTICO_DATA_DIR: elsewhere })
    await expect(split).rejects.toThrow('uploaded files are stored elsewhere than those of the process')
  })

  async function billedRequests(): Promise<number> {
    return expectStatus(await operator('GET', `/api/organisations/${organisation.id}/usage`), 200).totals.requests
  }
})
