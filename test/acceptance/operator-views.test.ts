import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectStatus, startPortico, type TestOrganisation, type TestPortico } from '../harness/portico.ts'
import { chatAnswer, chatStream, errorAnswer, rateLimited } from '../upstream/replies.ts'
import { startUpstream, type Upstream, type UpstreamRequest } from '../upstream/upstream.ts'

/** The views of the console for providers, deployments and models, against a provider of the test. */

const rightKey = 'sk-right-0123456789abcdefghij'
const listing = { object: 'list', data: [{ id: 'llama-3.3' }, { id: 'bge-m3' }, { id: 'gpt-4o' }] }

let upstream: Upstream
let portico: TestPortico
let organisation: TestOrganisation

/** An OpenAI-compatible host that checks the key. */
function healthy({ headers, path, body }: UpstreamRequest) {
  if (headers.authorization !== `Bearer ${rightKey}`)
    return errorAnswer(401, {
      message: `Incorrect API key provided: ${headers.authorization}`,
      code: 'invalid_api_key',
    })
  if (path.endsWith('/models'))
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(listing) }
  return (JSON.parse(body) as { stream?: boolean }).stream ? chatStream(['Hello', ' there']) : chatAnswer('Hello.')
}

beforeAll(async () => {
  upstream = await startUpstream(healthy)
  portico = await startPortico({
    settings: {
      providers: [{ id: 'of-the-file', format: 'openai', baseUrl: `${upstream.url}/v1`, hosting: 'us' }],
      models: [{ id: 'filed', deployments: [{ provider: 'of-the-file', prices: { input: 1, output: 2 } }] }],
      ollama: { detect: false },
    },
    environment: { OPENAI_API_KEY: 'sk-of-the-environment-0123456789' },
  })
  organisation = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const operate = async (method: string, path: string, body?: unknown, status = 200) =>
  expectStatus(await portico.operator(method, path, body), status)
const provider = async (id: string) =>
  (await operate('GET', `/api/console/providers?search=${id}`)).items.find((one: { id: string }) => one.id === id)
const deployment = async (id: string) =>
  (await operate('GET', '/api/console/deployments?limit=100')).items.find((one: { id: string }) => one.id === id)
const complete = (model: string, stream = false) =>
  organisation.client('POST', '/v1/gateway/chat/completions', {
    model,
    stream,
    messages: [{ role: 'user', content: 'Hello' }],
  })
const results = ({ steps }: { steps: { step: string; result: string }[] }) =>
  Object.fromEntries(steps.map(({ step, result }) => [step, result]))

describe('providers', () => {
  test('show where they are declared and what credentials they have', async () => {
    const { items } = await operate('GET', '/api/console/providers')
    const of = (id: string) => items.find((one: { id: string }) => one.id === id)
    expect(of('openai')).toMatchObject({
      declaredIn: 'environment',
      credentialState: 'api_key',
      apiKeyLastFour: '6789',
    })
    expect(of('of-the-file')).toMatchObject({ declaredIn: 'configuration', credentialState: 'missing', lastTest: null })
    expect(of('portico')).toMatchObject({ declaredIn: 'built-in', credentialState: 'not_needed', connections: null })
    await operate('PATCH', '/api/providers/openai', { enabled: false })
    expect(await provider('openai')).toMatchObject({ enabled: false, isSwitched: true, declaredIn: 'environment' })
  })

  test('are tested in steps, with the result kept and without the key in it', async () => {
    const wrong = {
      format: 'openai',
      baseUrl: `${upstream.url}/v1`,
      hosting: 'eu',
      apiKey: 'sk-wrong-0123456789abcdef',
    }
    await operate('PUT', '/api/providers/east', wrong)
    const refused = await operate('POST', '/api/providers/east/test')
    expect(refused).toMatchObject({ ok: false, deployment: null, error: { class: 'authentication', status: 401 } })
    expect(results(refused)).toEqual({
      connection: 'passed',
      credentials: 'failed',
      listing: 'skipped',
      answer: 'skipped',
    })
    const shown = await provider('east')
    expect(shown.lastTest).toMatchObject({ ok: false, at: expect.any(String) })
    expect(JSON.stringify(shown)).not.toContain('sk-wrong')

    await operate('PATCH', '/api/providers/east', { apiKey: rightKey, region: 'de-1' })
    // null removes a field; absent fields, the key too, are kept.
    const { region, hosting, apiKeyLastFour } = await operate('PATCH', '/api/providers/east', { region: null })
    expect([region, hosting, apiKeyLastFour]).toEqual([undefined, 'eu', rightKey.slice(-4)])
    const filed = await portico.operator('PATCH', '/api/providers/of-the-file', { hosting: 'eu' })
    expect([filed.status, filed.body.error.code]).toEqual([409, 'conflict'])
    const listed = await operate('POST', '/api/providers/east/test')
    expect(results(listed)).toMatchObject({ connection: 'passed', listing: 'passed', answer: 'skipped' })
    expect((await provider('east')).lastTest).toMatchObject({ ok: true })
  })

  test('are tried before they are stored, with the prices that would apply', async () => {
    const probed = { format: 'openai', flavour: 'openai', baseUrl: `${upstream.url}/v1`, hosting: 'global' }
    const wrong = await operate('POST', '/api/providers/probe', { ...probed, apiKey: 'sk-wrong-0123456789' })
    expect(wrong).toMatchObject({ total: 0, error: { class: 'authentication', status: 401 } })
    expect(JSON.stringify(wrong)).not.toContain('sk-wrong')
    const right = await operate('POST', '/api/providers/probe', { ...probed, apiKey: rightKey })
    expect(right.error).toBeNull()
    const priced = right.data.filter(({ prices }: { prices: unknown }) => prices !== null)
    expect(priced.map(({ wireId }: { wireId: string }) => wireId)).toEqual(['gpt-4o'])
    const { data } = await operate('GET', '/api/providers')
    expect(JSON.stringify(data)).not.toContain('not stored')
    const link = await portico.operator('POST', '/api/providers/probe', {
      ...probed,
      baseUrl: 'http://169.254.169.254',
    })
    expect([link.status, link.body.error.param]).toEqual([400, 'baseUrl'])
    const azure = { format: 'azure', baseUrl: 'https://x.openai.azure.com', apiKey: rightKey }
    expect((await portico.operator('POST', '/api/providers/probe', azure)).status).toBe(409)
  })

  test('that cannot be reached fail at the connection, with the code of the system', async () => {
    const closed = await startUpstream()
    await closed.close()
    await operate('PUT', '/api/providers/away', { format: 'openai', baseUrl: closed.url, hosting: 'us' })
    const result = await operate('POST', '/api/providers/away/test')
    expect(result.error).toMatchObject({ class: 'connection', status: null, code: 'ECONNREFUSED' })
    expect(results(result)).toMatchObject({ connection: 'failed', credentials: 'skipped', answer: 'skipped' })
  })

  test('list their models, and several become deployments at once', async () => {
    const found = await operate('POST', '/api/providers/east/discover')
    expect(found).toMatchObject({ total: 3, error: null })
    expect(found.data).toMatchObject([
      { wireId: 'bge-m3', kind: 'embedding', deployments: [] },
      // The facts of a known model, but no price: another host's price does not apply.
      { wireId: 'gpt-4o', contextTokens: 128_000, prices: null },
      { wireId: 'llama-3.3', kind: 'chat', prices: null },
    ])
    const added = { deployments: [{ wireId: 'llama-3.3', prices: { input: '0.5', output: 1 } }, { wireId: 'gpt-4o' }] }
    const { data } = await operate('POST', '/api/providers/east/deployments', added, 201)
    expect(data.map(({ id, problem }: { id: string; problem: unknown }) => [id, problem])).toEqual([
      ['east/gpt-4o', 'it has no price'],
      ['east/llama-3.3', null],
    ])
    const again = await portico.operator('POST', '/api/providers/east/deployments', added)
    expect([again.status, again.body.error.param]).toEqual([409, 'deployments.0.model'])
    expect((await operate('POST', '/api/providers/east/test')).steps.at(-1)).toMatchObject({ result: 'passed' })
    const log = await operate('GET', '/api/admin-log?limit=10')
    const actions = log.items.map(({ action, subjectId }: Record<string, string>) => `${action} ${subjectId}`)
    expect(actions).toEqual(
      expect.arrayContaining(['deployment.created east/llama-3.3', 'price.created east/llama-3.3']),
    )
  })
})

describe('deployments', () => {
  test('show the requests, the speed and the connections of this instance', async () => {
    expect(await deployment('east/llama-3.3')).toMatchObject({ state: 'idle', traffic: null, share: 1, side: 'eu' })
    expectStatus(await complete('eu/llama-3.3'), 200)
    expectStatus(await complete('eu/llama-3.3', true), 200)
    const shown = await deployment('east/llama-3.3')
    expect(shown).toMatchObject({
      state: 'serving',
      price: { input: '0.5', output: '1' },
      health: { circuit: 'closed', lastError: null },
      traffic: { requests: 2, errors: 0, rateLimited: 0 },
    })
    expect(shown.traffic.latencyMs.p50).toBeGreaterThanOrEqual(1)
    expect(shown.traffic.firstBytesMs).not.toBeNull()
    expect(shown.traffic.slots).toHaveLength(30)
    expect((await provider('east')).connections).toMatchObject({ maximum: 512, inUse: 0 })
  })

  test('are disabled and weighted without losing other fields', async () => {
    const at = `/api/deployments/${encodeURIComponent('of-the-file/filed')}`
    await operate('PATCH', at, { weight: 3 })
    await operate('PATCH', at, { enabled: false })
    expect(await deployment('of-the-file/filed')).toMatchObject({
      state: 'disabled',
      weight: 3,
      declaredIn: 'configuration',
      isOverridden: true,
    })
    expect((await operate('GET', '/api/console/deployments?state=disabled&search=filed')).total).toBe(1)
    await operate('DELETE', at, undefined, 204)
    expect(await deployment('of-the-file/filed')).toMatchObject({ weight: 1, isOverridden: false, enabled: true })
    expect((await portico.operator('PATCH', at, {})).status).toBe(400)
  })

  test('show a rate limit, an open circuit and the last error, and come first', async () => {
    upstream.script(() => rateLimited('retry-after', 60))
    expect((await complete('eu/llama-3.3')).status).toBe(429)
    expect(await deployment('east/llama-3.3')).toMatchObject({
      state: 'rate_limited',
      health: { rateLimitedUntil: expect.any(String) },
    })
    // A change of the provider resets what was observed with the old settings.
    await operate('PATCH', '/api/providers/east', { apiKey: rightKey, enabled: true })
    upstream.script(() => errorAnswer(500, { message: `Internal failure with ${rightKey}` }))
    for (let count = 0; count < 12; count++) await complete('eu/llama-3.3')
    const view = await operate('GET', '/api/console/deployments?state=trouble')
    expect(view.items[0]).toMatchObject({
      id: 'east/llama-3.3',
      state: 'open',
      health: { circuit: 'open', since: expect.any(String), openUntil: expect.any(String) },
    })
    expect(view.items[0].health.lastError).toMatchObject({ class: 'server_error', status: 500 })
    expect(view.items[0].traffic.errors).toBeGreaterThanOrEqual(10)
    expect(JSON.stringify(view)).not.toContain(rightKey)
    expect((await provider('east')).deployments).toMatchObject({ total: 2, callable: 1, open: 1 })
    upstream.script(healthy)
  })
})

describe('models', () => {
  const page = (query: string) => operate('GET', `/api/console/models?${query}`)

  test('have their availability, prices and the organisations that disabled them', async () => {
    await operate('PATCH', `/api/organisations/${organisation.id}`, { disabledModels: ['filed'] })
    const { items, counts } = await page('search=filed')
    expect(items).toMatchObject([
      {
        id: 'filed',
        callableIds: ['filed'],
        disabledBy: 1,
        price: { from: { input: '1' }, sources: ['configuration'] },
      },
    ])
    expect(counts).toEqual({ all: 1, callable: 1, eu: 0, not_callable: 0 })
    expect((await page('availability=eu')).items.map(({ id }: { id: string }) => id)).toEqual(['llama-3.3'])
    expect((await operate('GET', '/api/console/models/filed')).disablingOrganisations).toMatchObject([
      { name: 'Test organisation' },
    ])
    expect((await page('limit=1&offset=1')).items).toHaveLength(1)
  })

  test('have past, current and future prices, and a future one can be taken back', async () => {
    const at = `/api/deployments/${encodeURIComponent('of-the-file/filed')}/prices`
    const validFrom = new Date(Date.now() + 86_400_000).toISOString()
    await operate('POST', at, { input: '1.5', output: '3' }, 201)
    const { id } = await operate('POST', at, { input: '0.75', output: '1.5', validFrom }, 201)
    const prices = async () => (await operate('GET', '/api/console/models/filed')).deploymentsList[0].prices
    expect(await prices()).toMatchObject([
      { phase: 'future', sourceKind: 'operator', input: '0.75', validFrom, validTo: null },
      { phase: 'current', sourceKind: 'operator', input: '1.5', validTo: validFrom },
      { phase: 'past', sourceKind: 'configuration', input: '1', validFrom: null },
    ])
    expect((await page('search=filed')).items[0].nextPriceAt).toBe(validFrom)
    await operate('DELETE', `${at}/${id}`, undefined, 204)
    expect((await prices()).map(({ phase }: { phase: string }) => phase)).toEqual(['current', 'past'])
  })

  test('compare the price of a deployment to the price list of its provider', async () => {
    await operate('PATCH', '/api/providers/openai', { enabled: true })
    await operate(
      'POST',
      `/api/deployments/${encodeURIComponent('openai/gpt-4o')}/prices`,
      { input: 9, output: 9 },
      201,
    )
    const { deploymentsList } = await operate('GET', '/api/console/models/gpt-4o')
    const shown = deploymentsList.find(({ id }: { id: string }) => id === 'openai/gpt-4o')
    expect(shown).toMatchObject({
      price: { input: '9' },
      snapshotPrice: { list: 'openai', input: '2.5', output: '10' },
    })
    const other = deploymentsList.find(({ id }: { id: string }) => id === 'east/gpt-4o')
    expect(other).toMatchObject({ price: null, snapshotPrice: null, state: 'problem' })
  })

  test('that do not exist are a 404, and a wrong page a 400 that names the field', async () => {
    await operate('GET', '/api/console/models/nothing', undefined, 404)
    const answer = await portico.operator('GET', '/api/console/deployments?limit=1000')
    expect([answer.status, answer.body.error.param]).toEqual([400, 'limit'])
  })
})
