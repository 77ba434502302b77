import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { expectStatus } from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { startUpstream } from '../upstream/upstream.ts'

/** The operator changes providers, models, deployments and prices during calls. A change is in force when its response arrives. */

let stage: GatewayStage
const secret = 'sk-added-0123456789abcdefghijWXYZ'
const headerSecret = 'header-value-that-nobody-reads'

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [{ id: 'configured', baseUrl, apiKey: 'key-of-the-file', hosting: 'us' }],
      models: [
        {
          id: 'stated',
          contextTokens: 8000,
          maxOutputTokens: 1000,
          deployments: [{ provider: 'configured', prices: stagePrices }],
        },
      ],
    }),
  })
  stage.play('stated', chatAnswer('Stated.'))
  stage.play('added-wire', chatAnswer('Added.'))
})
afterAll(() => stage?.stop())

const operate = async (method: string, path: string, body?: unknown, status = 200) =>
  expectStatus(await stage.portico.operator(method, path, body), status)
const deploymentPath = `/api/deployments/${encodeURIComponent('added/one')}`
const addedProvider = { format: 'openai', hosting: 'eu', headers: { 'x-team': headerSecret } }

async function listed(from = stage.organisation): Promise<string[]> {
  const { data } = expectStatus(await from.client('GET', '/v1/gateway/models'), 200)
  return data.map((entry: { id: string }) => entry.id)
}

describe('what the operator adds', () => {
  it('is listed and callable at once: provider, model, deployment, and a price before the first call', async () => {
    await operate('PUT', '/api/providers/added', { ...addedProvider, baseUrl: stage.upstream.url, apiKey: secret })
    await operate('PUT', '/api/models/added-model', { aliases: ['added-alias'], maxOutputTokens: 500, tier: 'base' })
    await operate('PUT', deploymentPath, { model: 'added-model', provider: 'added', wireId: 'added-wire' })
    expect((await stage.complete('eu/added-model')).status).toBe(404)
    expect(await listed()).not.toContain('eu/added-model')

    await operate('POST', `${deploymentPath}/prices`, { input: '3', output: '6' }, 201)
    expect(await listed()).toContain('eu/added-model')
    expect(await listed()).not.toContain('added-model')
    const answer = await stage.complete('eu/added-alias')
    expect(expectStatus(answer, 200).model).toBe('added-model')
    expect(answer.headers.get('x-portico-deployment')).toBe('added/one')
    expect(answer.headers.get('x-portico-hosting')).toBe('eu')
    const [call] = stage.calls('added-wire')
    expect(call!.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-team': headerSecret })
    // 11 tokens at 3 and 7 at 6 dollars a million.
    expect(await stage.receipt(answer)).toMatchObject({ billedUsd: '0.000075', deploymentId: 'added/one' })
  })

  it('has its new price on the next call, and earlier receipts keep the old one', async () => {
    const before = await stage.complete('eu/added-model')
    await operate('POST', `${deploymentPath}/prices`, { input: '30', output: '60' }, 201)
    const after = await stage.complete('eu/added-model')
    expect(await stage.receipt(after)).toMatchObject({ billedUsd: '0.00075' })
    expect(await stage.receipt(before)).toMatchObject({ billedUsd: '0.000075' })
  })

  it('moves to another address at once, with its secrets sent again', async () => {
    await using elsewhere = await startedElsewhere()
    await operate('PUT', '/api/providers/added', { ...addedProvider, apiKey: secret, baseUrl: elsewhere.url })
    const answer = expectStatus(await stage.complete('eu/added-model'), 200)
    expect(answer.choices[0].message.content).toBe('From elsewhere.')
    expect(elsewhere.requests[0]!.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-team': headerSecret })
    await operate('PUT', '/api/providers/added', { ...addedProvider, apiKey: secret, baseUrl: stage.upstream.url })
    expect(expectStatus(await stage.complete('eu/added-model'), 200).choices[0].message.content).toBe('Added.')
  })

  it('does not affect a call in flight', async () => {
    const held = Promise.withResolvers<void>()
    const begun = stage.calls('added-wire').length
    stage.play('added-wire', async () => {
      await held.promise
      return chatAnswer('From the old address.')
    })
    const inFlight = stage.complete('eu/added-model')
    await stage.upstream.requested(stage.upstream.requests.length + 1)
    expect(stage.calls('added-wire')).toHaveLength(begun + 1)
    await using elsewhere = await startedElsewhere()
    await operate('PUT', '/api/providers/added', { ...addedProvider, apiKey: secret, baseUrl: elsewhere.url })
    expect(expectStatus(await stage.complete('eu/added-model'), 200).choices[0].message.content).toBe('From elsewhere.')
    held.resolve()
    expect(expectStatus(await inFlight, 200).choices[0].message.content).toBe('From the old address.')
    stage.play('added-wire', chatAnswer('Added.'))
    await operate('PUT', '/api/providers/added', { ...addedProvider, apiKey: secret, baseUrl: stage.upstream.url })
  })

  it('never shows a secret again, anywhere', async () => {
    const provider = await operate('GET', '/api/providers/added')
    expect(provider).toMatchObject({ apiKeyLastFour: 'WXYZ', headerNames: ['x-team'] })
    for (const path of [
      '/api/providers',
      '/api/providers/added',
      '/api/models',
      '/api/deployments',
      '/api/admin-log',
    ]) {
      const text = JSON.stringify(await operate('GET', path))
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secret.slice(0, 20))
      expect(text).not.toContain(headerSecret)
      expect(text).not.toContain('key-of-the-file')
    }
  })

  it('leaves a record of each change with actor, field, value before and value after', async () => {
    const { items } = await operate('GET', '/api/admin-log?limit=100')
    const records = items.filter((entry: { subjectId: string }) => entry.subjectId.startsWith('added'))
    const actions = new Set(records.map((entry: { action: string }) => entry.action))
    expect([...actions].join(' ')).toMatch(/provider/)
    expect([...actions].join(' ')).toMatch(/model/)
    expect([...actions].join(' ')).toMatch(/deployment/)
    expect([...actions].join(' ')).toMatch(/price/)
    for (const entry of records) {
      expect(entry).toMatchObject({ actor: 'operator', requestId: expect.stringMatching(/^req_/) })
      expect(entry.at).toMatch(/^20/)
    }
  })
})

describe('an invalid change', () => {
  it('is refused with the name of the field, and changes nothing', async () => {
    const cases = [
      ['PUT', '/api/providers/bad', { format: 'openai', baseUrl: 'http://user:password@x.test' }, 'baseUrl'],
      ['PUT', '/api/providers/bad', { format: 'openai', hosting: 'eu-west-1' }, 'hosting'],
      ['PUT', '/api/providers/bad', { format: 'nothing' }, 'format'],
      ['PUT', '/api/deployments/bad', { model: 'stated', provider: 'nobody' }, 'provider'],
      ['POST', `${deploymentPath}/prices`, { input: '-1' }, 'input'],
      ['POST', `${deploymentPath}/prices`, { input: '1', validFrom: '2020-01-01T00:00:00Z' }, 'validFrom'],
    ] as const
    for (const [method, path, body, param] of cases) {
      const answer = await stage.portico.operator(method, path, body)
      expect(answer, path).toMatchObject({ status: 400, body: { error: { param } } })
    }
    const clash = await stage.portico.operator('PUT', '/api/models/stated', { aliases: ['added-alias'] })
    expect(clash).toMatchObject({ status: 409, body: { error: { code: 'conflict', param: 'aliases' } } })
    expect((await stage.portico.operator('GET', '/api/providers/bad')).status).toBe(404)
    expect((await stage.complete('stated')).status).toBe(200)
  })

  it('is refused without the operator token, with every kind of key', async () => {
    const answer = await stage.organisation.client('PUT', '/api/models/stated', { enabled: false })
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_operator_token' } } })
    expect((await stage.complete('stated')).status).toBe(200)
  })
})

describe('what the operator switches off or removes', () => {
  it('is a 404 on the next call and not listed, until it is switched on again', async () => {
    for (const path of ['/api/models/stated', '/api/providers/configured']) {
      await operate('PUT', path, { enabled: false })
      expect(await stage.complete('stated')).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found' } },
      })
      expect(await listed()).not.toContain('stated')
      await operate('PUT', path, { enabled: true })
      expect((await stage.complete('stated')).status).toBe(200)
      expect(await listed()).toContain('stated')
    }
  })

  it('is a 404 after its deployment is removed, and nothing of it is stored', async () => {
    await operate('DELETE', deploymentPath, undefined, 204)
    expect((await stage.complete('eu/added-model')).status).toBe(404)
    expect(await listed()).not.toContain('eu/added-model')
    await operate('DELETE', '/api/models/added-model', undefined, 204)
    await operate('DELETE', '/api/providers/added', undefined, 204)
    expect((await stage.portico.operator('GET', '/api/providers/added')).status).toBe(404)
  })
})

describe('a model that a team administrator disables', () => {
  it('is a 404 for that organisation at once, by every name, and for no other', async () => {
    const picky = await stage.portico.createOrganisation()
    expect((await stage.complete('stated', {}, picky)).status).toBe(200)
    await operate('PATCH', `/api/organisations/${picky.id}`, { disabledModels: ['stated'] })
    expect((await stage.complete('stated', {}, picky)).status).toBe(404)
    expect((await stage.stream('stated', {}, picky)).status).toBe(404)
    expect(await listed(picky)).not.toContain('stated')
    expect((await stage.complete('stated')).status).toBe(200)
    await operate('PATCH', `/api/organisations/${picky.id}`, { disabledModels: [] })
    expect((await stage.complete('stated', {}, picky)).status).toBe(200)
  })
})

async function startedElsewhere() {
  const elsewhere = await startUpstream(() => chatAnswer('From elsewhere.'))
  return Object.assign(elsewhere, { [Symbol.asyncDispose]: () => elsewhere.close() })
}
