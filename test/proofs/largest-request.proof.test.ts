import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import {
  type ApiAnswer,
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
} from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'

/** Requests of the largest documented size, 1,024 messages of 200,000 characters, next to small ones of another organisation. */

const maximumMessages = 1024
const maximumCharacters = 200_000
const textBytes = maximumMessages * maximumCharacters
const megabyte = 1024 * 1024
/** The text, and what JSON adds. */
const maximumJsonBytes = 200 * megabyte
/** Two of the largest bodies: one organisation may send one, two organisations may send one each. */
const maximumJsonBytesInFlight = 2 * maximumJsonBytes
const smallContextTokens = 1_000_000
/** A busy machine takes long for hundreds of megabytes. */
const timeout = 240_000

let upstream: Server
let portico: SeparatePortico
let small: TestOrganisation
/** Bytes of the largest body that has reached the provider. */
let receivedBytes = 0

beforeAll(async () => {
  // Counts bodies and drops them, so that this process stays free for the small calls.
  upstream = createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => (bytes += chunk.length))
    request.on('end', () => {
      receivedBytes = Math.max(receivedBytes, bytes)
      const { headers, body } = chatAnswer('Here you are.')
      response.writeHead(200, headers).end(body)
    })
  })
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const model = (id: string, contextTokens: number) => ({
    id,
    contextTokens,
    deployments: [{ provider: 'wire', prices: { input: '0.01', output: '0.01' } }],
  })
  portico = await startSeparatePortico({
    settings: {
      server: { maximumJsonBytes, maximumJsonBytesInFlight, slowBodyMs: 120_000 },
      providers: [{ id: 'wire', format: 'openai', baseUrl, apiKey: 'sk-test-0123456789' }],
      models: [model('wire', 100_000_000), model('small', smallContextTokens)],
      ollama: { detect: false },
    },
  })
  small = await portico.createOrganisation()
})
afterAll(async () => {
  await portico?.stop()
  upstream?.closeAllConnections()
  upstream?.close()
})

const gateway = '/v1/gateway/chat/completions'

interface Sent {
  /** Pieces, because one text may be sent a thousand times. */
  body: readonly Buffer[]
  /** Without a declared length. */
  chunked?: boolean
}

function post(organisation: TestOrganisation, path: string, { body, chunked = false }: Sent): Promise<ApiAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>()
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  const request = httpRequest(portico.url + path, {
    method: 'POST',
    agent: false,
    headers: {
      'x-api-key': organisation.apiKey,
      'content-type': 'application/json',
      ...(chunked ? {} : { 'content-length': length }),
    },
  })
  request.on('error', reject)
  request.on('response', (response) => {
    void (async () => {
      let text = ''
      for await (const chunk of response) text += String(chunk)
      resolve({ status: response.statusCode!, headers: new Headers(response.headers as never), body: JSON.parse(text) })
    })().catch(reject)
  })
  const answered = new AbortController()
  promise.finally(() => answered.abort()).catch(() => {})
  void (async () => {
    for (const piece of body) if (!request.write(piece)) await once(request, 'drain', { signal: answered.signal })
    request.end()
  })().catch((error: unknown) => {
    // A rejected request is answered before its body is sent.
    if (answered.signal.aborted) request.destroy()
    else reject(error as Error)
  })
  return promise
}

function largestBody(
  fields: string,
  { messages = maximumMessages, characters = maximumCharacters, asParts = false } = {},
): Buffer[] {
  const text = JSON.stringify('the roses in the garden '.repeat(characters / 24 + 1).slice(0, characters))
  const content = asParts ? `[{"type":"text","text":${text}}]` : text
  const message = Buffer.from(`{"role":"user","content":${content}}`)
  const comma = Buffer.from(',')
  const pieces = [Buffer.from(`{${fields}"messages":[`)]
  for (let index = 0; index < messages; index++) pieces.push(...(index === 0 ? [] : [comma]), message)
  return [...pieces, Buffer.from(']}')]
}

const hello = { body: [Buffer.from('{"model":"wire","messages":[{"role":"user","content":"Hello."}]}')] }

/** Calls of another organisation during `act`: none fails, none waits for what `act` sends. */
async function withSmallCalls<T>(act: () => Promise<T>): Promise<T> {
  const durations: number[] = []
  const end = new AbortController()
  const calls = (async () => {
    while (!end.signal.aborted) {
      const startMs = performance.now()
      expectStatus(await post(small, gateway, hello), 200)
      durations.push(performance.now() - startMs)
      await wait(20)
    }
  })()
  const startedMs = performance.now()
  let result: T
  let tookMs = 0
  try {
    result = await act()
    tookMs = performance.now() - startedMs
  } finally {
    end.abort()
    await calls
  }
  expect(durations.length).toBeGreaterThan(5)
  expect(Math.max(...durations)).toBeLessThan(tookMs / 2)
  return result
}

/** Most memory of the service during `act`, above that before it; 0 where the system does not report it. */
async function measureMemory(act: () => Promise<void>): Promise<number> {
  const read = (name: string) => {
    const status = readFileSync(`/proc/${portico.pid}/status`, 'utf8')
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]) * 1024
  }
  try {
    // Resets the highest value.
    writeFileSync(`/proc/${portico.pid}/clear_refs`, '5')
  } catch {
    await act()
    return 0
  }
  const before = read('VmRSS')
  await act()
  return read('VmHWM') - before
}

const gatewayForms: [string, Sent][] = [
  ['with a declared length', { body: largestBody('"model":"wire",') }],
  ['without a declared length', { body: largestBody('"model":"wire",'), chunked: true }],
  // Read in a thread.
  ['with an ignored field and text parts', { body: largestBody('"model":"wire","unknown":0,', { asParts: true }) }],
]

describe('a completion of the largest size keeps neither /livez nor other organisations waiting', () => {
  it.each(gatewayForms)('%s', { timeout }, async (_name, sent) => {
    const large = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
    receivedBytes = 0
    const bytes = await measureMemory(() =>
      expectResponsive(portico, () =>
        withSmallCalls(async () => void expectStatus(await post(large, gateway, sent), 200)),
      ),
    )
    expect(receivedBytes).toBeGreaterThan(textBytes)
    // The body, a copy of it for a moment, and what was not collected yet.
    expect(bytes).toBeLessThan(4 * textBytes)
  })
})

describe('a chat of the largest size keeps neither /livez nor other organisations waiting', () => {
  it('and sends the model what fits into its context', { timeout }, async () => {
    const large = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
    const { endpointId } = await portico.createSpace(large, { model: 'small' })
    receivedBytes = 0
    await expectResponsive(portico, () =>
      withSmallCalls(
        async () =>
          void expectStatus(await post(large, `/v1/endpoints/${endpointId}/chat`, { body: largestBody('') }), 200),
      ),
    )
    expect(receivedBytes).toBeGreaterThan(smallContextTokens)
    expect(receivedBytes).toBeLessThan(10 * smallContextTokens)
  })
})

describe('several requests of the largest size', () => {
  it('beyond the bytes in flight get 503 with retry-after, and the memory stays bounded', { timeout }, async () => {
    const organisations = await Promise.all(
      Array.from({ length: 4 }, () => portico.createOrganisation({ monthlyBudgetUsd: '100000' })),
    )
    const body = largestBody('"model":"wire",')
    let answers: ApiAnswer[] = []
    const bytes = await measureMemory(() =>
      withSmallCalls(async () => {
        answers = await Promise.all(organisations.map((organisation) => post(organisation, gateway, { body })))
      }),
    )
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(answers.length)
    for (const answer of refused) {
      expect(expectStatus(answer, 503).error.code).toBe('overloaded')
      expect(answer.headers.get('retry-after')).toBe('2')
    }
    expect(bytes).toBeLessThan(2 * maximumJsonBytesInFlight)
    expectStatus(await post(organisations[0]!, gateway, { body }), 200)
  })

  it('of one organisation get 429 with retry-after', { timeout }, async () => {
    const large = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
    const body = largestBody('"model":"wire",')
    const answers = await withSmallCalls(() =>
      Promise.all([post(large, gateway, { body }), post(large, gateway, { body })]),
    )
    const [refused] = answers.filter(({ status }) => status !== 200)
    expect(expectStatus(refused!, 429).error.code).toBe('rate_limit_exceeded')
    expect(refused!.headers.get('retry-after')).toBe('2')
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('a request beyond the largest size', () => {
  it('is a 400 with the field, or a 413', { timeout }, async () => {
    const organisation = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
    const of = (limits: { messages: number; characters: number }) => ({ body: largestBody('"model":"wire",', limits) })
    const tooMany = await post(organisation, gateway, of({ messages: maximumMessages + 1, characters: 10 }))
    expect(expectStatus(tooMany, 400)).toMatchObject({ error: { param: 'messages' } })
    const tooLong = await post(organisation, gateway, of({ messages: 1, characters: maximumCharacters + 1 }))
    expect(expectStatus(tooLong, 400)).toMatchObject({ error: { param: 'messages.0.content' } })
    const tooLarge = await post(organisation, gateway, of({ messages: maximumMessages, characters: 210_000 }))
    expectStatus(tooLarge, 413)
  })
})
