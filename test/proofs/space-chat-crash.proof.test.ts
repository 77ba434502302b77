import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabases } from '../harness/statements.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { type DatabasePlace, freshDatabasePlace } from '../harness/database.ts'
import { readLedgerTables } from '../harness/ledger-crash/ledger-tables.ts'
import {
  expectStatus,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
  uploadForm,
  waitForDocument,
} from '../harness/portico.ts'
import { createRandom } from '../harness/random.ts'
import { readToolRequest, scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream, type UpstreamReply } from '../upstream/upstream.ts'
import { testSeed } from '../harness/seed.ts'

/** Published chats of a Space that keeps conversations, under kill -9 of the service at random moments. */

const seed = testSeed
const kills = Number(process.env['PORTICO_TEST_KILLS'] ?? 4)
const parallel = 8
/** An instance on a server is presumed dead after 10 s; embedded, the next start settles everything. */
const releasedWithinMs = 40_000
const text = 'Tickets for adults cost twelve euros [1]. They are sold at the door.'
/** Without inline sources the markers are removed. */
const shown = 'Tickets for adults cost twelve euros. They are sold at the door.'

/** One call as the provider remembers it. */
interface ProviderCall {
  chat: number
  /** The prompt tokens of its usage, which no other call has. */
  usage: number
}

interface Ending {
  number: number
  isComplete: boolean
  /** The end of what the client received. */
  received: string
}

const random = createRandom(seed)
const providerCalls: ProviderCall[] = []
let upstream: Upstream
let place: DatabasePlace
let portico: SeparatePortico
let organisation: TestOrganisation
let space: TestSpace

const start = () => startSeparatePortico({ settings: settings(), place })

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => reply(body))
  place = await freshDatabasePlace()
  portico = await start()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, { model: 'm', settings: { keepConversations: true } })
  const form = uploadForm('Tickets for adults cost twelve euros at the museum.', 'tickets.txt')
  const document = expectStatus(await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
  await waitForDocument(organisation.client, document.id)
}, 120_000)
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
  await place?.remove()
})

function settings() {
  const deployments = [{ provider: 'p', prices: { input: '1', output: '2' } }]
  return {
    ollama: { detect: false },
    embeddings: { kind: 'hashing' },
    providers: [{ id: 'p', flavour: 'generic', baseUrl: `${upstream.url}/v1`, apiKey: 'sk', hosting: 'us' }],
    models: [{ id: 'm', maxOutputTokens: 1_000, contextTokens: 200_000, deployments }],
  }
}

/** A tool call or the answer, with pauses, so that a kill finds calls in every state. */
function reply(body: string): UpstreamReply {
  const request = readToolRequest(body)
  const call = { chat: Number(/\(#(\d+)\)/.exec(request.prompt)![1]), usage: 1_000 + providerCalls.length }
  providerCalls.push(call)
  const calls = request.toolNames.length > 0 && request.round === 0 && random() < 0.7
  const turn = calls ? [{ name: 'search_uploaded_files', args: { query: 'tickets' } }] : text
  const { headers, body: whole } = scriptedTurn(turn, call.usage)
  const cuts = [...String(whole).matchAll(/\n\n/g)].map(({ index }) => index + 2)
  return { headers: headers!, body: whole!, cuts, pauseBetweenWritesMs: Math.floor(random() * 80) }
}

const questionOf = (number: number) => `What do they cost? (#${number})`

/** A chat that ends by itself, or with its service. */
async function send(number: number): Promise<Ending> {
  const streaming = number % 2 === 0
  const question = { role: 'user', content: questionOf(number) }
  const earlier = [
    { role: 'user', content: 'What about tickets for adults?' },
    { role: 'assistant', content: 'They cost money.' },
  ]
  const headers: Record<string, string> = number % 4 < 2 ? { 'service-enable-agentic-workflow': 'true' } : {}
  try {
    const response = await fetch(`${portico.url}/v1/endpoints/${space.endpointId}/chat`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ messages: number % 3 === 0 ? [...earlier, question] : [question], streaming }),
    })
    const received = await response.text()
    const isComplete = streaming ? received.endsWith('event: done\ndata: {"done":true}\n\n') : response.status === 200
    return { number, isComplete, received: received.slice(-500) }
  } catch (error) {
    return { number, isComplete: false, received: String(error) }
  }
}

/** Chats until the service is killed after some of them. */
async function killDuringChats(first: number): Promise<Ending[]> {
  const endings: Ending[] = []
  const killAfter = 4 + Math.floor(random() * 12)
  const enough = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let next = first
  const worker = async () => {
    while (!stopping.signal.aborted) {
      const ending = await send(next++)
      endings.push(ending)
      if (endings.length >= killAfter) enough.resolve()
    }
  }
  const workers = Array.from({ length: parallel }, worker)
  await enough.promise
  // Answers are stored each second: some kills find them before, some after.
  await wait(random() * 2_000)
  stopping.abort()
  await portico.kill('SIGKILL')
  await portico.stop()
  await Promise.all(workers)
  return endings
}

async function nothingHeld(): Promise<void> {
  const budget = async () =>
    expectStatus(await portico.operator('GET', `/api/organisations/${organisation.id}/budget`), 200) as {
      heldUsd: string
    }
  await expect.poll(async () => (await budget()).heldUsd, { timeout: releasedWithinMs, interval: 200 }).toBe('0')
}

interface StoredTurn {
  question: string
  answer: string
  outcome: string
}

async function readConversations() {
  const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog })
  try {
    const turns = await databases.control.query<StoredTurn>('SELECT question, answer, outcome FROM conversation_turns')
    const wrongSums = await databases.control.query(
      `SELECT v.id FROM conversations v
         LEFT JOIN LATERAL (SELECT count(*) AS turns, coalesce(sum(bytes), 0) AS bytes FROM conversation_turns
                             WHERE conversation_id = v.id) t ON true
        WHERE (v.turns, v.bytes) IS DISTINCT FROM (t.turns, t.bytes)
       UNION ALL
       SELECT t.conversation_id FROM conversation_turns t LEFT JOIN conversations v ON v.id = t.conversation_id
        WHERE v.id IS NULL`,
    )
    return { turns, wrongSums }
  } finally {
    await databases.close()
  }
}

it(`bills every call once and stores every answer once or not at all, in ${kills} kills during chats (seed ${seed})`, async () => {
  const endings: Ending[] = []
  for (let kill = 0; kill < kills; kill++) {
    endings.push(...(await killDuringChats(1_000 * (kill + 1))))
    portico = await start()
  }
  // On a server, dead instances keep their share of the budget for some seconds.
  await upstream.quiet()
  await nothingHeld()
  const last = await Promise.all([1, 2, 3, 4].map((number) => send(1_000 * (kills + 1) + number)))
  expect(last.filter(({ isComplete }) => !isComplete)).toEqual([])
  await nothingHeld()
  expect(expectStatus(await portico.operator('GET', '/api/audit'), 200).findings).toEqual([])
  expect(await portico.kill('SIGTERM')).toBe(0)

  const complete = [...endings, ...last].filter(({ isComplete }) => isComplete).map(({ number }) => number)
  // The run must have exercised what it claims to prove.
  expect(complete.length).toBeGreaterThan(kills)
  expect(endings.filter(({ isComplete }) => !isComplete).length).toBeGreaterThan(kills)

  const { entries, openHolds } = await readLedgerTables(place)
  expect(openHolds).toBe(0)
  const billed = entries.filter((entry) => entry.billed > 0n)
  // A call that was killed is billed although its request may not have reached the provider: nobody knows.
  expect(billed.filter(({ ending }) => ending !== 'crashed').length).toBeLessThanOrEqual(providerCalls.length)
  const counted = billed.filter(({ estimated }) => !estimated).map(({ promptTokens }) => promptTokens)
  expect(new Set(counted).size).toBe(counted.length)
  expect(counted.filter((tokens) => !providerCalls.some(({ usage }) => usage === tokens))).toEqual([])
  // A client that received a whole answer pays for its answering call with the usage of the provider.
  const answering = complete.map((number) => providerCalls.findLast(({ chat }) => chat === number)!.usage)
  expect(answering.filter((usage) => !counted.includes(usage))).toEqual([])

  const { turns, wrongSums } = await readConversations()
  expect(wrongSums).toEqual([])
  const questions = turns.map(({ question }) => question)
  expect(new Set(questions).size).toBe(questions.length)
  expect(questions.filter((question) => !/^What do they cost\? \(#\d+\)$/.test(question))).toEqual([])
  const stored = turns.filter(({ outcome }) => outcome === 'complete')
  // A service that stops, instead of being killed, has stored every answer.
  const storedQuestions = new Set(stored.map(({ question }) => question))
  expect(
    last.filter(({ number }) => !storedQuestions.has(questionOf(number))),
    'not stored',
  ).toEqual([])
  expect(stored.filter(({ answer }) => answer !== shown)).toEqual([])
}, 240_000)
