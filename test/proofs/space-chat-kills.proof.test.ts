import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type DatabasePlace, freshDatabasePlace } from '../harness/database.ts'
import { readLedgerTables } from '../harness/ledger-crash/ledger-tables.ts'
import { expectStatus, type TestOrganisation, type TestSpace } from '../harness/portico.ts'
import { createRandom } from '../harness/random.ts'
import { type ScriptedStage, startScriptedStage } from '../harness/scripted-space.ts'
import { scriptedTurn, type ToolRequest } from '../upstream/scripted-model.ts'
import type { UpstreamReply } from '../upstream/upstream.ts'
import { testSeed } from '../harness/seed.ts'

/** Answers whose clients hang up and whose provider dies at random moments: nothing stays open, and every text is billed once. */

const seed = testSeed
const chats = Number(process.env['PORTICO_TEST_CHATS'] ?? 200)
const parallel = 12
/** Enough that circuit breakers, which open after 10 faults, do not end most calls before they reach the provider. */
const models = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5']

/** One call as the provider remembers it. */
interface ProviderCall {
  chat: number
  /** Has a deadline of 4 s, which a busy machine may exceed. */
  isRewriting: boolean
  /** Text or a call of a tool was sent. */
  hasOutput: boolean
  /** The prompt tokens of the reported usage, which no other call has; null where none was reported. */
  usage: number | null
}

interface Chat {
  number: number
  organisation: TestOrganisation
  space: TestSpace
  streaming: boolean
  headers: Record<string, string>
  messages: { role: string; content: string }[]
  /** The client hangs up after this time, or after the first event that it receives; null: it stays. */
  leave: { afterMs: number } | 'at first event' | null
}

interface Ending {
  chat: Chat
  kind: 'complete' | 'failed' | 'left'
}

let place: DatabasePlace
let stage: ScriptedStage
const organisations: TestOrganisation[] = []
const spaces: { organisation: TestOrganisation; space: TestSpace }[] = []
const providerCalls: ProviderCall[] = []

beforeAll(async () => {
  place = await freshDatabasePlace()
  const limits = { headersTimeoutMs: 1_500, idleTimeoutMs: 1_500 }
  stage = await startScriptedStage({ settings: { embeddings: { kind: 'hashing' } }, models, limits, place })
  for (let index = 0; index < 3; index++) organisations.push(await stage.portico.createOrganisation())
  for (const [index, model] of models.entries()) {
    const organisation = organisations[index % organisations.length]!
    const space = await stage.portico.createSpace(organisation, { model, settings: { maximumPassages: 2 } })
    await stage.upload(organisation, space, 'Tickets for adults cost twelve euros at the museum.', 'tickets.txt')
    spaces.push({ organisation, space })
  }
}, 180_000)
afterAll(async () => {
  await stage?.stop()
  await place?.remove()
})

function drawChat(number: number): Chat {
  const random = createRandom(seed * 10_000 + number)
  const { organisation, space } = spaces[number % spaces.length]!
  const question = { role: 'user', content: `What do they cost? (#${number})` }
  const earlier = [
    { role: 'user', content: 'What about tickets for adults?' },
    { role: 'assistant', content: 'They cost money.' },
  ]
  return {
    number,
    organisation,
    space,
    streaming: random() < 0.6,
    headers: {
      ...(random() < 0.5 && { 'service-enable-inline-sources': 'true' }),
      ...(random() < 0.6 && { 'service-enable-agentic-workflow': 'true' }),
    },
    messages: random() < 0.4 ? [...earlier, question] : [question],
    leave: random() < 0.45 ? (random() < 0.4 ? 'at first event' : { afterMs: Math.floor(random() * 400) }) : null,
  }
}

/** What the provider does in one call; the number of the chat and of the turn decide it. */
function reply(request: ToolRequest): UpstreamReply {
  const chat = Number(/\(#(\d+)\)/.exec(request.prompt)![1])
  const random = createRandom(seed * 10_000 + chat * 20 + request.round * 2 + Number(request.isRewriting))
  const call: ProviderCall = {
    chat,
    isRewriting: request.isRewriting,
    hasOutput: true,
    usage: 1_000 + providerCalls.length,
  }
  providerCalls.push(call)
  const mayCall = request.toolNames.length > 0 && request.toolChoice !== 'none' && request.round < 2
  const answer = scriptedTurn(
    mayCall && random() < 0.5
      ? [
          { name: 'search_uploaded_files', args: { query: 'tickets' } },
          { name: 'current_date', args: {} },
        ]
      : 'Tickets for adults cost twelve euros [1]. They are sold at the door.',
    call.usage!,
  )
  const body = String(answer.body)
  const { headers } = answer
  const firstEvent = body.indexOf('\n\n') + 2
  const noOutput = () => Object.assign(call, { hasOutput: false, usage: null })
  const noUsage = () => Object.assign(call, { usage: null })
  const fault = random()
  const pauseBetweenWritesMs = Math.floor(random() * 60)
  const cuts = [firstEvent, firstEvent + 20]
  if (fault < 0.6) return { headers: headers!, body, cuts, pauseBetweenWritesMs }
  if (fault < 0.66) {
    noUsage()
    const withoutUsage = body.slice(0, body.indexOf('"usage"') - 100)
    const cut = withoutUsage.slice(0, withoutUsage.lastIndexOf('\n\n') + 2)
    return { headers: headers!, body: `${cut}data: [DONE]\n\n`, cuts, pauseBetweenWritesMs }
  }
  if (fault < 0.72) {
    noOutput()
    return {
      status: random() < 0.5 ? 500 : 400,
      headers: { 'content-type': 'application/json' },
      body: '{"error":"no"}',
    }
  }
  if (fault < 0.76) {
    noOutput()
    return { resetAfterBytes: 0 }
  }
  if (fault < 0.8) {
    noOutput()
    return { headersAfterMs: 'never' }
  }
  if (fault < 0.84) {
    noOutput()
    return { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' }
  }
  noUsage()
  if (fault < 0.9) return { headers: headers!, body, resetAfterBytes: firstEvent, pauseBetweenWritesMs }
  if (fault < 0.95) return { headers: headers!, body, stallAfterBytes: firstEvent }
  return { headers: headers!, body: `${body.slice(0, firstEvent)}data: {"choices\n\n\u0000\u0001`, cuts: [firstEvent] }
}

async function send(chat: Chat): Promise<Ending> {
  const client = new AbortController()
  const { leave } = chat
  const timer =
    leave !== null && leave !== 'at first event' ? setTimeout(() => client.abort(), leave.afterMs) : undefined
  try {
    const response = await fetch(`${stage.portico.url}/v1/endpoints/${chat.space.endpointId}/chat`, {
      method: 'POST',
      headers: { 'x-api-key': chat.organisation.apiKey, 'content-type': 'application/json', ...chat.headers },
      body: JSON.stringify({ messages: chat.messages, streaming: chat.streaming }),
      signal: client.signal,
    })
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body!) {
      text += decoder.decode(bytes, { stream: true })
      if (leave === 'at first event') {
        client.abort()
        return { chat, kind: 'left' }
      }
    }
    const isComplete = chat.streaming ? text.endsWith('event: done\ndata: {"done":true}\n\n') : response.status === 200
    return { chat, kind: isComplete ? 'complete' : 'failed' }
  } catch {
    if (!client.signal.aborted)
      throw new Error(`chat ${chat.number}: the connection ended without an end of the answer`)
    return { chat, kind: 'left' }
  } finally {
    clearTimeout(timer)
  }
}

async function sendAll(): Promise<Ending[]> {
  const endings: Ending[] = []
  let next = 0
  const worker = async () => {
    while (next < chats) endings.push(await send(drawChat(next++)))
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return endings
}

it(`${chats} chats with random kills leave nothing open, and each text of the provider is billed once (seed ${seed})`, async () => {
  stage.play(reply)
  const endings = await sendAll()
  const count = (kind: Ending['kind']) => endings.filter((ending) => ending.kind === kind).length
  // The run must have exercised what it claims to prove.
  expect(count('complete')).toBeGreaterThan(chats / 10)
  expect(count('failed')).toBeGreaterThan(chats / 20)
  expect(count('left')).toBeGreaterThan(chats / 10)

  await stage.upstream.quiet()
  for (const { id } of organisations) {
    const budget = () => stage.portico.operator('GET', `/api/organisations/${id}/budget`)
    await vi.waitFor(async () => expect((await budget()).body.heldUsd).toBe('0'), { timeout: 15_000 })
  }
  const inFlight = async () =>
    /^portico_http_requests_in_flight (\d+)$/m.exec(await (await fetch(stage.portico.metricsUrl)).text())?.[1]
  await vi.waitFor(async () => expect(await inFlight()).toBe('0'), { timeout: 10_000 })
  expect(expectStatus(await stage.portico.operator('GET', '/api/audit'), 200).findings).toEqual([])

  await stage.portico.stop()
  const { entries, openHolds } = await readLedgerTables(place)
  expect(openHolds).toBe(0)
  for (const organisation of organisations) {
    const billed = entries.filter((entry) => entry.organisationId === organisation.id && entry.billed > 0n)
    const own = providerCalls.filter(({ chat }) => drawChat(chat).organisation.id === organisation.id)
    const withOutput = own.filter(({ hasOutput }) => hasOutput)
    expect(billed.length).toBeGreaterThanOrEqual(withOutput.length)
    // At most one entry for each call, the retried ones included.
    expect(billed.length).toBeLessThanOrEqual(own.length)
    // The usage that the provider reported was billed to this organisation, at most once.
    const counted = billed.filter(({ estimated }) => !estimated).map(({ promptTokens }) => promptTokens)
    expect(new Set(counted).size).toBe(counted.length)
    const reported = new Set(own.map(({ usage }) => usage))
    expect(counted.filter((tokens) => !reported.has(tokens))).toEqual([])
    // Every call of a chat that was read to its end had its usage recorded.
    const read = new Set(endings.filter(({ kind }) => kind === 'complete').map(({ chat }) => chat.number))
    const due = own
      .filter(({ chat, isRewriting, usage }) => read.has(chat) && !isRewriting && usage !== null)
      .map(({ usage }) => usage)
    expect(due.filter((tokens) => !counted.includes(tokens!))).toEqual([])
  }
}, 300_000)
