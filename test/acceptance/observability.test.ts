import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Log, LogFields } from '../../src/platform/kernel/telemetry.ts'
import { type TestOrganisation, type TestPortico, expectStatus, startPortico } from '../harness/portico.ts'

/** Log lines and metrics of a running service. */

const lines: LogFields[] = []
const write = (fields: LogFields, message: string) => void lines.push({ ...fields, message })
const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log }

let portico: TestPortico
let organisation: TestOrganisation

beforeAll(async () => {
  portico = await startPortico({ log })
  organisation = await portico.createOrganisation({ monthlyBudgetUsd: '50' })
})
afterAll(() => portico?.stop())

/** The log line of the request with this id; it is written after the response was sent. */
async function lineOf(answer: { headers: Headers }): Promise<LogFields> {
  const requestId = answer.headers.get('x-request-id')
  const find = () => lines.find((line) => line.message === 'request' && line.requestId === requestId)
  await expect.poll(find).toBeDefined()
  return find()!
}

describe('the log line of a refused request', () => {
  it('has the code and the field of the error, not the text of the client', async () => {
    const secret = 'not-for-the-log'
    const body = { model: 'portico/offline', messages: [{ role: 'user', content: 'x' }], temperature: secret }
    const answer = await organisation.client('POST', '/v1/gateway/chat/completions', body)
    expectStatus(answer, 400)
    const line = await lineOf(answer)
    expect(line).toMatchObject({ status: 400, code: 'invalid_request', param: 'temperature' })
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  it('has only the words of known routes where no route matches', async () => {
    const answer = await organisation.client('GET', '/v1/nowhere?key=hidden-in-the-query')
    expectStatus(answer, 404)
    expect(await lineOf(answer)).toMatchObject({ status: 404, code: 'not_found', path: '/v1/*' })
    expect(JSON.stringify(lines)).not.toContain('hidden-in-the-query')
  })
})

describe('the metrics', () => {
  const scrape = async () => (await fetch(portico.metricsUrl)).text()

  it('show remaining budgets, job queues and circuit breakers', async () => {
    const messages = [{ role: 'user', content: 'Say something.' }]
    expectStatus(
      await organisation.client('POST', '/v1/gateway/chat/completions', { model: 'portico/offline', messages }),
      200,
    )
    const { corpus, jobs } = portico.service
    const job = { kind: 'counted', key: 'counted-1', payload: {}, runAfter: new Date(Date.now() + 3_600_000) }
    await corpus.transaction((transaction) => jobs.enqueue(transaction, job))
    const text = await scrape()
    expect(text).toContain(`portico_budget_left_usd{organisation="${organisation.id}"} 50`)
    expect(text).toContain('portico_circuit_state{deployment="portico/offline"} 0')
    expect(text).toContain('portico_jobs{kind="counted",state="delayed"} 1')
  })
})
