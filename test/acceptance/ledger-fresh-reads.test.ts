import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testServerUrl } from '../harness/database.ts'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { type ApiAnswer, expectStatus } from '../harness/portico.ts'
import { chatAnswer, chatStream } from '../upstream/replies.ts'

/** What has been billed can be read at once, also before the control database has received it from the journal. */

let stage: GatewayStage
const usage = { prompt_tokens: 100, completion_tokens: 50 }
/** 100 tokens at 1 and 50 at 2 dollars a million. */
const callUsd = 0.0002

beforeAll(async () => {
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [{ id: 'main', baseUrl, apiKey: 'key', hosting: 'us' }],
      models: ['plain', 'streamed'].map((id) => ({
        id,
        contextTokens: 8000,
        maxOutputTokens: 2000,
        deployments: [{ provider: 'main', prices: stagePrices }],
      })),
    }),
    organisation: { limits: { concurrentCalls: 256 } },
  })
  stage.play('plain', chatAnswer('Fine.', { usage }))
  stage.play('streamed', chatStream(['Fine', ' indeed.'], { usage }))
})
afterAll(() => stage?.stop())

const callOnce = (index: number) => (index % 2 === 0 ? stage.complete('plain') : stage.stream('streamed'))
const read = (path: string): Promise<ApiAnswer> => stage.portico.operator('GET', path)
const asOfOf = ({ headers }: ApiAnswer) => Date.parse(headers.get('x-portico-as-of')!)

it('every receipt of many calls at once exists as soon as its answer has ended', async () => {
  const receipts = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const answer = await callOnce(index)
      expect(answer.status).toBe(200)
      return read(`/api/usage/${answer.headers.get('x-request-id')}`)
    }),
  )
  expect(receipts.map(({ status, body }) => [status, body.ending, Number(body.billedUsd)])).toEqual(
    receipts.map(() => [200, 'completed', callUsd]),
  )
})

it('every report includes the calls that ended before it was asked for, and names a moment that it is current for', async () => {
  const { id } = stage.organisation
  const calls = 120
  let begun = 0
  const ended: string[] = []
  const billedAtMs: number[] = []
  const reports = [
    [`/api/organisations/${id}/usage`, (body) => body.totals.requests],
    [`/api/organisations/${id}/budget`, (body) => Math.round(Number(body.spentUsd) / callUsd)],
    [`/api/console/organisations/${id}/usage`, (body) => body.totals.requests],
    [`/api/console/organisations?search=${id}`, (body) => Math.round(Number(body.items[0].spentUsd) / callUsd)],
  ] as const satisfies readonly (readonly [string, (body: ApiAnswer['body']) => number])[]
  const before = expectStatus(await read(reports[0][0]), 200).totals.requests
  const callers = Array.from({ length: 12 }, async () => {
    while (begun < calls) {
      const answer = await callOnce(begun++)
      expect(answer.status).toBe(200)
      const requestId = answer.headers.get('x-request-id')!
      ended.push(requestId)
      const receipt = expectStatus(await read(`/api/usage/${requestId}`), 200)
      billedAtMs.push(Date.parse(receipt.settledAt))
    }
  })
  const checks: { asOfMs: number; count: number }[] = []
  const all = Promise.all(callers)
  while (ended.length < calls) {
    for (const [path, countOf] of reports) {
      const endedBefore = ended.length
      const askedAtMs = Date.now()
      const answer = await read(path)
      const count = countOf(expectStatus(answer, 200)) - before
      expect(count, path).toBeGreaterThanOrEqual(endedBefore)
      expect(asOfOf(answer), path).toBeGreaterThanOrEqual(askedAtMs)
      expect(asOfOf(answer), path).toBeLessThanOrEqual(Date.now())
      checks.push({ asOfMs: asOfOf(answer), count })
    }
  }
  await all
  for (const { asOfMs, count } of checks) {
    expect(count).toBeGreaterThanOrEqual(billedAtMs.filter((atMs) => atMs < asOfMs).length)
  }
  for (const [path, countOf] of reports) expect(countOf((await read(path)).body) - before, path).toBe(calls)
  expect((await read('/api/audit')).body).toMatchObject({ ok: true, findings: [] })
})

// On a server the ledger writes to the database itself.
it.skipIf(testServerUrl() !== undefined || process.env['PORTICO_TEST_LEDGER_JOURNAL'] === 'database')(
  'calls are answered and have receipts while the control database does nothing, and reports wait for it',
  async () => {
    const { control } = stage.portico.service
    const { id } = stage.organisation
    const before = expectStatus(await read(`/api/organisations/${id}/usage`), 200).totals.requests
    let release!: () => void
    const isBusy = new Promise<void>((begun) => {
      void control.transaction(
        () =>
          new Promise<void>((resolve) => {
            release = resolve
            begun()
          }),
      )
    })
    await isBusy
    let isWaiting = true
    const receipts = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const answer = await callOnce(index)
        return read(`/api/usage/${answer.headers.get('x-request-id')}`)
      }),
    )
    const report = read(`/api/organisations/${id}/usage`).finally(() => {
      isWaiting = false
    })
    const again = await Promise.all(receipts.map(({ body }) => read(`/api/usage/${body.requestId}`)))
    await turn()
    expect(isWaiting).toBe(true)
    release()
    expect(receipts.map(({ status, body }) => [status, body.ending])).toEqual(receipts.map(() => [200, 'completed']))
    expect(again.map(({ body }) => body)).toEqual(receipts.map(({ body }) => body))
    expect(expectStatus(await report, 200).totals.requests).toBe(before + receipts.length)
  },
)
