import fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { budgetSchema, receiptSchema, type UsageBody, usageSchema } from '../../contract/usage.ts'
import type { App } from '../../platform/http/index.ts'
import { isAppError, type RequestId, silentLog } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { createLedger, type LedgerService } from './ledger.ts'
import { answered, callOf, insertOrganisation, movableClock, organisationWith } from './testing/ledger-fixture.ts'
import { usageRoutes } from './usage.routes.ts'

let databases: TestDatabases
let ledger: LedgerService
let app: App
const clock = movableClock(Date.parse('2026-11-21T12:00:00Z'))
const organisation: Organisation = organisationWith('10', { markupBasisPoints: 1250, timeZone: 'Asia/Tokyo' })

beforeAll(async () => {
  databases = await openTestDatabases()
  await insertOrganisation(databases.control, organisation)
  ledger = await createLedger({ database: databases.control, clock, log: silentLog })
  app = fastify() as unknown as App
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.decorateRequest('visit', { getter: () => ({ owner: organisation.id }) as never })
  app.setErrorHandler((error, _request, reply) =>
    reply
      .code(isAppError(error) ? 404 : 400)
      .send({ error: { message: String(error), type: '', param: null, code: null } }),
  )
  const organisations = {
    get: (id: string) => (id === organisation.id ? organisation : undefined),
    loadRemoved: async () => undefined,
  }
  usageRoutes({ ledger, organisations, clock })(app)
  // 14:59 and 15:01 UTC are on two days in Tokyo.
  await spend('2026-11-20T14:59:00Z', { model: 'alpha', requestId: 'req_a' as RequestId })
  await spend('2026-11-20T15:01:00Z', { model: '=HYPERLINK("x")', surface: 'space_chat' })
  await spend('2026-11-21T11:00:00Z', { model: 'alpha' })
  clock.set(Date.parse('2026-11-21T12:00:00Z'))
})
afterAll(async () => {
  await app.close()
  await ledger.close()
  await databases.drop()
})

async function spend(at: string, changes: Parameters<typeof callOf>[1]) {
  clock.set(Date.parse(at))
  const hold = await ledger.hold(callOf(organisation, changes))
  await hold.settle(answered(100, 10))
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ url, headers })
  const { 'content-type': type, 'x-portico-as-of': asOf } = response.headers
  return { status: response.statusCode, type, asOf, text: response.body }
}

describe('usage', () => {
  test('a receipt names tokens, prices, hosting, markup and total as exact decimals', async () => {
    const { status, text } = await get('/api/usage/req_a')
    expect(status).toBe(200)
    const body = receiptSchema.parse(JSON.parse(text))
    expect(body).toMatchObject({
      usage: { promptTokens: 100, completionTokens: 10 },
      unitPricesUsdPerToken: { input: '0.000001', output: '0.00001', cacheRead: '0.000001', reasoning: '0.00001' },
      computation: {
        lines: [
          { tokenClass: 'input', tokens: 100, unitPriceUsd: '0.000001', costUsd: '0.0001' },
          { tokenClass: 'output', tokens: 10, unitPriceUsd: '0.00001', costUsd: '0.0001' },
        ],
        baseCostUsd: '0.0002',
        markupUsd: '0.000025',
        totalUsd: '0.000225',
      },
      baseCostUsd: '0.0002',
      markupPercent: '12.5',
      billedUsd: '0.000225',
      hosting: 'eu',
      estimated: false,
      startedAt: '2026-11-20T14:59:00.000Z',
    })
  })

  test('an unknown request id is a 404', async () => {
    expect((await get('/api/usage/req_unknown')).status).toBe(404)
  })

  test('usage by day follows the zone of the organisation and adds up', async () => {
    const { text } = await get(`/api/organisations/${organisation.id}/usage?by=day,model`)
    const body = usageSchema.parse(JSON.parse(text))
    expect(body).toMatchObject({ from: '2026-11-01', to: '2026-11-21', by: ['day', 'model'] })
    expect(body.rows.map((row) => [row.day, row.model, row.requests, row.billedUsd])).toEqual([
      ['2026-11-20', 'alpha', 1, '0.000225'],
      ['2026-11-21', '=HYPERLINK("x")', 1, '0.000225'],
      ['2026-11-21', 'alpha', 1, '0.000225'],
    ])
    expect(body.totals).toMatchObject({ requests: 3, promptTokens: 300, billedUsd: '0.000675' })
  })

  test('pages have every row once and the totals of the whole range', async () => {
    const url = `/api/organisations/${organisation.id}/usage?by=space,day,model&limit=1`
    const pages = []
    let cursor: string | null = null
    do {
      const { text } = await get(cursor === null ? url : `${url}&cursor=${cursor}`)
      const page: UsageBody = usageSchema.parse(JSON.parse(text))
      pages.push(page)
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(pages.map(({ rows }) => rows.map((row) => [row.day, row.model]))).toEqual([
      [['2026-11-20', 'alpha']],
      [['2026-11-21', '=HYPERLINK("x")']],
      [['2026-11-21', 'alpha']],
    ])
    expect(new Set(pages.map(({ totals }) => totals.requests))).toEqual(new Set([3]))
    const csv = (await get(`${url}&format=csv`)).text
    expect(csv.split('\r\n').map((line) => line.split(',')[1])).toEqual([
      'day',
      '2026-11-20',
      '2026-11-21',
      '2026-11-21',
      undefined,
    ])
  })

  test('a cursor of other dimensions or with an impossible value is refused', async () => {
    const encode = (key: unknown) => Buffer.from(JSON.stringify(key)).toString('base64url')
    for (const cursor of [
      'none',
      encode(['alpha']),
      encode(['2026-99-99']),
      encode([7]),
      encode(['2026-11-20', 'alpha']),
    ]) {
      const { text } = await get(`/api/organisations/${organisation.id}/usage?by=day&cursor=${cursor}`)
      expect(text, cursor).toContain('`cursor` is not')
    }
  })

  test('the range is inclusive on both ends', async () => {
    const { text } = await get(`/api/organisations/${organisation.id}/usage?from=2026-11-20&to=2026-11-20`)
    expect(usageSchema.parse(JSON.parse(text)).totals.requests).toBe(1)
  })

  test('CSV comes by query or Accept, and no cell runs as a formula', async () => {
    const url = `/api/organisations/${organisation.id}/usage?by=model,surface`
    const byAccept = await get(url, { accept: 'text/csv' })
    expect(byAccept.type).toBe('text/csv; charset=utf-8')
    expect((await get(`${url}&format=csv`)).text).toBe(byAccept.text)
    expect(byAccept.text.split('\r\n')).toEqual([
      'model,surface,requests,estimatedRequests,promptTokens,completionTokens,cachedTokens,cacheWriteTokens,reasoningTokens,billedUsd,writtenOffUsd',
      `"'=HYPERLINK(""x"")",space_chat,1,0,100,10,0,0,0,0.000225,0`,
      'alpha,gateway,2,0,200,20,0,0,0,0.00045,0',
      '',
    ])
  })

  test('budget and usage name the moment up to which every settled call is included', async () => {
    for (const path of ['budget', 'usage', 'usage?format=csv']) {
      const { asOf } = await get(`/api/organisations/${organisation.id}/${path}`)
      expect(asOf, path).toBe('2026-11-21T12:00:00.000Z')
    }
  })

  test('a malformed day, an unknown dimension, a reversed and an endless range are refused', async () => {
    for (const query of ['from=yesterday', 'by=colour', 'from=2026-11-21&to=2026-11-20', 'from=2020-01-01']) {
      const { status } = await get(`/api/organisations/${organisation.id}/usage?${query}`)
      expect([400, 404], query).toContain(status)
    }
  })

  test('the budget reports what is spent, held and left', async () => {
    const { text } = await get(`/api/organisations/${organisation.id}/budget`)
    expect(budgetSchema.parse(JSON.parse(text))).toMatchObject({
      period: '2026-11-01',
      periodEndsAt: '2026-11-30T15:00:00.000Z',
      spentUsd: '0.000675',
      heldUsd: '0',
      leftUsd: '9.999325',
    })
  })
})
