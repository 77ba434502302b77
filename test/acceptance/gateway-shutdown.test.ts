import pg from 'pg'
import { expect, it } from 'vitest'
import { freshDatabasePlace, testServerUrl, withoutPooler } from '../harness/database.ts'
import { question, stagePrices } from '../harness/gateway-stage.ts'
import { createApiClient, expectStatus, startPortico, type TestPortico } from '../harness/portico.ts'
import { chatAnswer, chatStreamBody } from '../upstream/replies.ts'
import { startUpstream } from '../upstream/upstream.ts'

/** A stop with calls in flight: calls within the grace period are finished, the others end with an error and are billed. */

async function start(
  graceMs: number,
  upstreamUrl: string,
  place: Awaited<ReturnType<typeof freshDatabasePlace>>,
  server: Record<string, number> = {},
  ledger: Record<string, string> = {},
) {
  const deployments = [{ provider: 'main', prices: stagePrices }]
  return startPortico({
    place,
    settings: {
      server: { shutdownGraceMs: graceMs, ...server },
      ledger,
      ollama: { detect: false },
      providers: [{ id: 'main', baseUrl: upstreamUrl, apiKey: 'key', hosting: 'us' }],
      models: [{ id: 'model', contextTokens: 8000, maxOutputTokens: 1000, deployments }],
    },
  })
}

/** An answer that stalls before its end. */
function startStalling() {
  const body = chatStreamBody(['Half', ' an answer', ' and more'])
  return startUpstream(() => ({
    headers: { 'content-type': 'text/event-stream' },
    body,
    stallAfterBytes: body.indexOf(' and more'),
  }))
}

/** Stops the service in the middle of a stream. `stop` reads what the client has received so far. `end`: its last event. */
async function stopInStream(portico: TestPortico, apiKey: string, stop: (received: () => string) => Promise<void>) {
  const response = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model', messages: question, stream: true }),
  })
  let text = ''
  let stopped: Promise<void> | undefined
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream())) {
    text += bytes
    if (text.includes(' an answer')) stopped ??= stop(() => text)
  }
  await stopped
  expect(text).not.toContain('[DONE]')
  const end: unknown = JSON.parse(text.trim().split('\n').at(-1)!.replace('data: ', ''))
  return { requestId: response.headers.get('x-request-id'), end }
}

const stopping = { error: { code: 'shutting_down', type: 'api_error' } }

it('ends a stream that outlasts the grace period with an error object, and bills it once', async () => {
  const upstream = await startStalling()
  const place = await freshDatabasePlace()
  try {
    const first = await start(100, upstream.url, place)
    const { id, apiKey } = await first.createOrganisation()
    const { requestId, end } = await stopInStream(first, apiKey, () => first.stop())
    expect(end).toMatchObject(stopping)
    await upstream.aborted(0)

    await using second = await start(100, upstream.url, place)
    const receipt = expectStatus(await second.operator('GET', `/api/usage/${requestId}`), 200)
    expect(receipt).toMatchObject({ ending: 'shutdown', estimated: true })
    expect(receipt.usage.completionTokens).toBeGreaterThan(0)
    const budget = expectStatus(await second.operator('GET', `/api/organisations/${id}/budget`), 200)
    expect(budget).toMatchObject({ heldUsd: '0', spentUsd: receipt.billedUsd })
    expect(expectStatus(await second.operator('GET', '/api/audit'), 200)).toMatchObject({ ok: true })
  } finally {
    await upstream.close()
    await place.remove()
  }
})

it.skipIf(testServerUrl() === undefined)('waits with the error until a slow database has the cost', async () => {
  const upstream = await startStalling()
  const place = await freshDatabasePlace()
  const other = new pg.Client({ connectionString: withoutPooler(place).databaseUrl })
  try {
    const portico = await start(100, upstream.url, place, {}, { journal: 'database' })
    const { apiKey } = await portico.createOrganisation()
    await other.connect()
    const schema = "select schemaname as name from pg_tables where tablename = 'ledger_entries'"
    const { rows } = await other.query<{ name: string }>(schema)
    const { end } = await stopInStream(portico, apiKey, async (received) => {
      await other.query(`begin; lock table ${rows[0]!.name}.ledger_entries in share mode`)
      const stopped = portico.stop()
      const waiting = `select from pg_locks where not granted and relation = '${rows[0]!.name}.ledger_entries'::regclass`
      await expect.poll(async () => (await other.query(waiting)).rowCount, { timeout: 30_000 }).toBeGreaterThan(0)
      expect(received()).not.toContain('shutting_down')
      await other.query('rollback')
      await stopped
    })
    expect(end).toMatchObject(stopping)
  } finally {
    await other.end()
    await upstream.close()
    await place.remove()
  }
})

it('finishes a call within the grace period and accepts no new call: no connection, or 503 with retry-after', async () => {
  const held = Promise.withResolvers<void>()
  const upstream = await startUpstream(async () => {
    await held.promise
    return chatAnswer('Finished.')
  })
  const place = await freshDatabasePlace()
  try {
    const portico = await start(20_000, upstream.url, place)
    const organisation = await portico.createOrganisation()
    const call = (client = organisation.client) =>
      client('POST', '/v1/gateway/chat/completions', { model: 'model', messages: question })
    const inFlight = call()
    await upstream.requested(1)
    const stopped = portico.stop()
    // The port may be closed already; a connection that is still accepted gets 503 with retry-after.
    const late = await call(createApiClient(portico.url, organisation.apiKey)).catch(() => undefined)
    if (late) {
      expect(late).toMatchObject({ status: 503, body: { error: { code: 'shutting_down' } } })
      expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    held.resolve()
    const answer = expectStatus(await inFlight, 200)
    expect(answer.choices[0].message.content).toBe('Finished.')
    await stopped
    expect(upstream.requests).toHaveLength(1)
  } finally {
    await upstream.close()
    await place.remove()
  }
})

it('still accepts calls for the shutdown delay, while /readyz is 503, and closes their connections', async () => {
  const upstream = await startUpstream(() => chatAnswer('Served.'))
  const place = await freshDatabasePlace()
  try {
    const portico = await start(20_000, upstream.url, place, { shutdownDelayMs: 2_000 })
    const organisation = await portico.createOrganisation()
    const stopped = portico.stop()
    const ready = await fetch(`${portico.url}/readyz`)
    expect([ready.status, ready.headers.get('connection')]).toEqual([503, 'close'])
    await ready.text()
    const call = await organisation.client('POST', '/v1/gateway/chat/completions', {
      model: 'model',
      messages: question,
    })
    expect(expectStatus(call, 200).choices[0].message.content).toBe('Served.')
    expect(call.headers.get('connection')).toBe('close')
    await stopped
    await expect(fetch(`${portico.url}/livez`)).rejects.toThrow()
  } finally {
    await upstream.close()
    await place.remove()
  }
})
