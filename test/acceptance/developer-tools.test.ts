import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Browser, createPerson } from '../harness/people.ts'
import { type ApiAnswer, expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'

/** The data of Team Settings > Developer Tools, and the switches of models. test/acceptance/roles.test.ts has the roles. */

let portico: TestPortico
let id: string
let administrator: Browser

beforeAll(async () => {
  const hosts = ['us', 'eu', 'eu-dear'].map((provider) => ({
    id: provider,
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'key',
    hosting: provider.slice(0, 2),
  }))
  const facts = { contextTokens: 8000, maxOutputTokens: 2000 }
  portico = await startPortico({
    settings: {
      providers: hosts,
      ollama: { detect: false },
      models: [
        {
          id: 'both',
          aliases: ['both-latest'],
          ...facts,
          deployments: [
            {
              provider: 'us',
              prices: {
                input: '1',
                output: '4',
                cacheRead: '0.1',
                contextSteps: [{ abovePromptTokens: 4000, input: '2', output: '8' }],
              },
            },
            { provider: 'eu', prices: { input: '2', output: '4' } },
            { provider: 'eu-dear', prices: { input: '2', output: '5' } },
          ],
        },
        { id: 'eu-only', ...facts, deployments: [{ provider: 'eu', prices: { input: '0.01', output: '0.03' } }] },
        {
          id: 'team-only',
          plans: ['team'],
          ...facts,
          deployments: [{ provider: 'us', prices: { input: '1', output: '1' } }],
        },
        { id: 'vectors', kind: 'embedding', ...facts, deployments: [{ provider: 'us', prices: { input: '1' } }] },
      ],
    },
  })
  const made = await portico.operator('POST', '/api/organisations', { name: 'Acme', markupPercent: '12.5' })
  id = expectStatus(made, 201).id
  administrator = await createPerson(portico, { email: 'ada@example.org', organisationId: id, role: 'administrator' })
})
afterAll(() => portico?.stop())

const view = async (browser = administrator): Promise<ApiAnswer['body']> =>
  expectStatus(await browser.call('GET', `/api/console/organisations/${id}/developer-tools`), 200)
const change = async (fields: object) =>
  expectStatus(await portico.operator('PATCH', `/api/organisations/${id}`, fields), 200)
const switchModels = (body: object) => administrator.call('PATCH', `/api/organisations/${id}/models`, body)
const optIn = (value: boolean) => administrator.call('PUT', `/api/organisations/${id}/opt-in`, { optIn: value })

describe('the view', () => {
  test('names what a completion still needs, in the order of the gateway’s checks', async () => {
    await change({ subscription: { status: 'cancelled' } })
    expect((await view()).missing).toEqual(['plan', 'enablement', 'opt_in', 'subscription', 'budget', 'api_key'])
    await change({
      plan: 'enterprise',
      gatewayEnabled: true,
      monthlyBudgetUsd: '5',
      subscription: { status: 'active' },
    })
    expect((await view()).missing).toEqual(['opt_in', 'api_key'])
    expectStatus(await optIn(true), 200)
    const { key } = expectStatus(await administrator.call('POST', `/api/organisations/${id}/api-key`), 201)
    const shown = await view()
    expect(shown.missing).toEqual([])
    expect(shown.apiKey).toMatchObject({
      prefix: key.slice(0, 8),
      lastFour: key.slice(-4),
      createdBy: 'ada@example.org',
      lastUsedAt: null,
    })
    expect(JSON.stringify(shown)).not.toContain(key)
  })

  test('has the base URL as the browser reaches it', async () => {
    expect((await view()).baseUrl).toBe(`${portico.url}/v1/gateway`)
    const path = `/api/console/organisations/${id}/developer-tools`
    await using configured = await startPortico({ settings: { server: { publicUrl: 'https://portico.example/' } } })
    const other = await configured.createOrganisation()
    const { body } = await configured.operator('GET', path.replace(id, other.id))
    expect(body.baseUrl).toBe('https://portico.example/v1/gateway')
  })

  test('has the scheme that a trusted proxy states, and ignores what a client states', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'forged.example' }
    const path = `/api/console/organisations/${id}/developer-tools`
    const forged = await administrator.call('GET', path, undefined, forwarded)
    expect(forged.body.baseUrl).toBe(`${portico.url}/v1/gateway`)
    await using trusting = await startPortico({ settings: { server: { trustProxy: ['127.0.0.1', '::1'] } } })
    const other = await trusting.createOrganisation()
    const { body } = await trusting.operator('GET', path.replace(id, other.id), undefined, {
      'x-forwarded-proto': 'https',
    })
    expect(body.baseUrl).toBe(`${trusting.url.replace('http:', 'https:')}/v1/gateway`)
  })

  test('has exactly the models of the list of the gateway, with the prices that are billed', async () => {
    const { models, modelsTotal } = await view()
    expect(modelsTotal).toBe(models.length)
    const ids = models.flatMap((one: { standard: object | null; eu: object | null }) =>
      [one.standard, one.eu].flatMap((side) => (side ? [(side as { id: string }).id] : [])),
    )
    const { apiKey } = await portico.createOrganisation()
    const listed = await fetch(`${portico.url}/v1/gateway/models`, { headers: { 'x-api-key': apiKey } })
    const { data } = (await listed.json()) as { data: { id: string }[] }
    expect(ids.toSorted()).toEqual(data.map((one) => one.id).toSorted())

    const byId = new Map(models.map((one: { id: string }) => [one.id, one]))
    expect(byId.get('both')).toMatchObject({
      enabled: true,
      contextTokens: 8000,
      standard: {
        id: 'both',
        hostings: ['us'],
        capabilities: expect.arrayContaining(['tools', 'images', 'json_schema']),
        // 12.5 % above the declared prices; a missing price of a class is that of input or output.
        prices: { input: '1.125', output: '4.5', cacheRead: '0.1125', cacheWrite: '1.125', reasoning: '4.5' },
        lowestPrices: null,
        longPrompts: [{ abovePromptTokens: 4000, input: '2.25', output: '9' }],
      },
      eu: {
        id: 'eu/both',
        hostings: ['eu'],
        prices: { input: '2.25', output: '5.625' },
        lowestPrices: { input: '2.25', output: '4.5' },
      },
    })
    expect(byId.get('eu-only')).toMatchObject({
      standard: null,
      eu: { id: 'eu/eu-only', prices: { input: '0.01125' } },
    })
    expect(byId.has('team-only')).toBe(false)
    expect(byId.has('vectors')).toBe(false)
  })
})

describe('a model', () => {
  const isEnabled = async (model: string) =>
    (await view()).models.find((one: { id: string }) => one.id === model).enabled

  test('is disabled and enabled by id or alias, and the others keep their state', async () => {
    expectStatus(await switchModels({ disable: ['eu-only'] }), 204)
    expectStatus(await switchModels({ disable: ['both-latest'] }), 204)
    expect([await isEnabled('both'), await isEnabled('eu-only')]).toEqual([false, false])
    expectStatus(await switchModels({ enable: ['both'], disable: ['portico/offline'] }), 204)
    const states = await Promise.all(['both', 'eu-only', 'portico/offline'].map(isEnabled))
    expect(states).toEqual([true, false, false])

    const { items } = (await portico.operator('GET', `/api/admin-log?organisationId=${id}&limit=1`)).body
    expect(items[0]).toMatchObject({
      action: 'organisation.updated',
      actor: 'ada@example.org',
      before: { disabledModels: ['both', 'eu-only'] },
      after: { disabledModels: ['eu-only', 'portico/offline'] },
    })
    expectStatus(await switchModels({ enable: ['eu-only', 'portico/offline'] }), 204)
  })

  test('that many requests switch at once has a state that one of them set, and loses no other switch', async () => {
    const all = ['both', 'eu-only', 'portico/offline']
    await Promise.all(all.map((model) => switchModels({ disable: [model] })))
    expect(await Promise.all(all.map(isEnabled))).toEqual([false, false, false])
    await Promise.all(all.map((model) => switchModels({ enable: [model] })))
    expect(await Promise.all(all.map(isEnabled))).toEqual([true, true, true])
  })

  test.each([
    [{}, /at least one model/],
    [{ enable: [], disable: [] }, /at least one model/],
    [{ disable: ['nothing'] }, /disable: there is no model nothing/],
    [{ enable: ['both'], disable: ['both-latest'] }, /both name the model both/],
    [{ disable: Array.from({ length: 1001 }, () => 'both') }, /1000/],
  ])('switch %j is refused with the reason', async (body, message) => {
    const { status, body: answer } = await switchModels(body)
    expect([status, answer.error.message]).toEqual([400, expect.stringMatching(message)])
  })
})
