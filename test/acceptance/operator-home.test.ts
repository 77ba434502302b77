import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AlertBody } from '../../src/contract/alerts.ts'
import type { ConsoleHealthBody } from '../../src/contract/console-health.ts'
import type { InstallationUsage } from '../../src/contract/installation-usage.ts'
import { sharedOwner } from '../../src/platform/kernel/index.ts'
import { recordCertificate } from '../../src/tenants/alerts/alerts.store.ts'
import { createPerson } from '../harness/people.ts'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { chatAnswer, errorAnswer } from '../upstream/replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** What operators see of the whole installation: spend, health and alerts. test/acceptance/roles.test.ts checks who may read it. */

let provider: Upstream
let receiver: Upstream
let portico: TestPortico
let alpha: TestOrganisation
let beta: TestOrganisation
let isBroken = false

beforeAll(async () => {
  provider = await startUpstream(() => (isBroken ? errorAnswer(500) : chatAnswer('Hello.')))
  receiver = await startUpstream(() => ({ status: 204 }))
  const prices = { input: '1000', output: '2000' }
  portico = await startPortico({
    settings: {
      providers: [
        { id: 'acme', format: 'openai', baseUrl: `${provider.url}/v1`, apiKey: 'key-of-a-test', hosting: 'us' },
      ],
      models: ['one', 'two'].map((id) => ({ id, deployments: [{ provider: 'acme', prices }] })),
      network: { webhookNetworks: ['127.0.0.0/8'] },
      ollama: { detect: false },
    },
  })
  alpha = await portico.createOrganisation({ name: 'Alpha', monthlyBudgetUsd: '10' })
  beta = await portico.createOrganisation({ name: 'Beta', monthlyBudgetUsd: '1000' })
})
afterAll(async () => {
  await portico?.stop()
  await provider?.close()
  await receiver?.close()
})

const get = async (path: string) => expectStatus(await portico.operator('GET', path), 200)
const usage = (query: string): Promise<InstallationUsage> => get(`/api/console/installation/usage?${query}`)
const alerts = async (query = ''): Promise<AlertBody[]> => (await get(`/api/alerts?${query}`)).items
const complete = ({ client }: TestOrganisation, model: string) =>
  client('POST', '/v1/gateway/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] })

describe('the overview', () => {
  test('has the spend of all organisations, and leads to the receipts of one day', async () => {
    const answers = [await complete(alpha, 'one'), await complete(beta, 'one'), await complete(beta, 'two')]
    for (const answer of answers) expectStatus(answer, 200)
    const all = await usage('split=organisation')
    expect(all.totals).toMatchObject({ requests: 3, failed: 0 })
    expect(all.table.rows.map(({ label, requests }) => [label, requests])).toEqual([
      ['Beta', 2],
      ['Alpha', 1],
    ])
    expect(all.latency!.all.requests).toBe(3)
    const models = await usage(`organisationId=${beta.id}&split=model`)
    expect(models.table.rows.map(({ id }) => id).toSorted()).toEqual(['one', 'two'])
    const day = models.series.days.find(({ requests }) => requests > 0)!.day
    const { items } = await get(`/api/console/organisations/${beta.id}/usage/requests?from=${day}&to=${day}&model=two`)
    expect(items).toHaveLength(1)
    const receipt = await get(`/api/usage/${items[0].requestId}`)
    const [row] = (await usage(`organisationId=${beta.id}&model=two&split=provider`)).table.rows
    expect(row).toMatchObject({ id: 'acme', billedUsd: receipt.billedUsd })
  })

  test('exports its rows as CSV, and rejects an unknown split', async () => {
    const answer = await portico.operator('GET', '/api/console/installation/usage/export')
    expect(answer.headers.get('content-type')).toContain('text/csv')
    const [header, ...lines] = (answer.body as string).trimEnd().split('\r\n')
    expect(header).toMatch(/^day,organisationId,organisation,provider,model,hosting,/)
    expect(lines).toHaveLength(3)
    expect((await portico.operator('GET', '/api/console/installation/usage?split=person')).status).toBe(400)
    expect((await portico.operator('GET', '/api/console/installation/usage?from=2020-01-01')).status).toBe(400)
  })
})

describe('health and alerts', () => {
  test('report a failing model once, by webhook too, and its recovery', async () => {
    await portico.operator('PATCH', '/api/alerts/settings', {
      kinds: { model: { threshold: 0 }, provider: { enabled: false }, disk: { enabled: false } },
    })
    const { secret } = expectStatus(
      await portico.operator('PUT', '/api/alerts/webhook', { url: `${receiver.url}/hook` }),
      200,
    )
    expect(secret).toMatch(/^whsec_/)
    isBroken = true
    for (let call = 0; call < 12; call += 1) await complete(beta, 'two')
    await portico.service.historyWriter.flush()
    const failing = (await get('/api/console/health/failing')).items
    expect(failing).toMatchObject([{ model: 'two', provider: 'acme', kind: 'circuit', errorClass: 'server_error' }])
    const [listed] = (await get('/api/console/providers?search=acme')).items
    expect(listed.deployments.failing).toBe(1)

    await portico.service.alerts.evaluate()
    await portico.service.alerts.evaluate()
    expect((await alerts('state=open')).filter(({ kind }) => kind === 'model')).toMatchObject([{ subject: 'two' }])
    await portico.service.alerts.deliverDue()
    const sent = () => receiver.requests.map(({ body }) => JSON.parse(body) as { type: string; data: AlertBody })
    const ofModel = () => sent().filter(({ data }) => data.kind === 'model')
    await expect.poll(() => ofModel().map(({ type }) => type)).toEqual(['alert.raised'])

    isBroken = false
    portico.service.router.reset(failing.map(({ deployment }: { deployment: string }) => deployment))
    await portico.service.historyWriter.flush()
    await portico.service.alerts.evaluate()
    expect((await alerts('state=open')).filter(({ kind }) => kind === 'model')).toEqual([])
    await portico.service.alerts.deliverDue()
    await expect.poll(() => ofModel().map(({ type }) => type)).toEqual(['alert.raised', 'alert.resolved'])

    const health: ConsoleHealthBody = await get('/api/console/health')
    expect(health.failing).toEqual([])
    expect(health.providers[0]!.days).toHaveLength(30)
    expect(health.providers[0]).toMatchObject({ id: 'acme', failing: 0 })
    expect(health.providers[0]!.errors).toBeGreaterThanOrEqual(10)
    expect(health.providers[0]!.errorClasses[0]).toMatchObject({ class: 'server_error' })
    expect(health.events.map(({ kind }) => kind).toSorted()).toEqual(['closed', 'opened'])
  })

  test('show budget alerts to the administrators of their organisation only', async () => {
    const { spentUsd } = await get(`/api/organisations/${alpha.id}/budget`)
    await portico.operator('PATCH', `/api/organisations/${alpha.id}`, { monthlyBudgetUsd: spentUsd })
    await portico.service.alerts.evaluate()
    const budget = (await alerts('state=open')).filter(({ kind }) => kind === 'budget')
    expect(budget.map(({ organisationId, details }) => [organisationId, details['percent']]).toSorted()).toEqual([
      [alpha.id, 100],
      [alpha.id, 80],
    ])
    const [own, stranger] = [
      await createPerson(portico, { email: 'a@example.org', organisationId: alpha.id, role: 'administrator' }),
      await createPerson(portico, { email: 'b@example.org', organisationId: beta.id, role: 'administrator' }),
    ]
    const path = `/api/organisations/${alpha.id}/alerts`
    const answer = await own.call('GET', path)
    expect(answer.body.items.map(({ kind }: AlertBody) => kind)).toEqual(budget.map(() => 'budget'))
    expect((await stranger.call('GET', path)).status).toBe(404)
    expect((await own.call('GET', '/api/alerts')).status).toBe(403)
  })

  test('take the result of the last system audit', async () => {
    const findings = async () => (await alerts('state=open')).filter(({ kind }) => kind === 'ledger')
    await portico.service.alerts.noteAudit([{ area: 'index' }, { area: 'ledger' }])
    await portico.service.alerts.evaluate()
    expect(await findings()).toMatchObject([{ subject: 'audit-findings', details: { count: 2 } }])
    expect((await get('/api/audit')).ok).toBe(true)
    await portico.service.alerts.evaluate()
    expect(await findings()).toEqual([])
  })

  test('warn before the certificate of the public address ends, and when it has ended', async () => {
    const shown = async (endsInDays: number) => {
      const endsAt = new Date(Date.now() + endsInDays * 86_400_000)
      await recordCertificate(portico.service.control.for(sharedOwner), { host: 'portico.example', endsAt })
      await portico.service.alerts.evaluate()
      return (await alerts('state=open')).filter(({ kind }) => kind === 'certificate')
    }
    expect(await shown(20)).toEqual([])
    expect(await shown(13)).toMatchObject([
      { severity: 'warning', details: { host: 'portico.example', state: 'ends' } },
    ])
    expect(await shown(-1)).toMatchObject([{ severity: 'critical', details: { state: 'ended' } }])
    expect(await shown(90)).toEqual([])
  })

  test('list messages and send one again', async () => {
    const { id } = expectStatus(await portico.operator('POST', '/api/alerts/test', { channel: 'webhook' }), 202)
    const received = () => receiver.requests.filter(({ headers }) => headers['webhook-id'] === id).length
    const state = async () => (await get('/api/alerts/deliveries?limit=1')).items[0]
    await portico.service.alerts.deliverDue()
    await expect.poll(state).toMatchObject({ id, event: 'alert.test', state: 'delivered', attempts: 1 })
    expectStatus(await portico.operator('POST', `/api/alerts/deliveries/${id}/resend`), 202)
    await portico.service.alerts.deliverDue()
    await expect.poll(received).toBe(2)
    const unknown = '/api/alerts/deliveries/00000000-0000-4000-8000-000000000000/resend'
    expect((await portico.operator('POST', unknown)).status).toBe(404)
    expectStatus(await portico.operator('DELETE', '/api/alerts/webhook'), 204)
    expect((await portico.operator('POST', '/api/alerts/test', { channel: 'webhook' })).status).toBe(400)
  })
})
