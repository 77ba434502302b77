import { sendRecorded, type CallRecord } from './ledger-crash/recorded-call.ts'
import type { PlannedCall, PlannedProvider } from './ledger-crash/planned-provider.ts'
import { type TestOrganisation, type TestSpace, uploadForm } from './portico.ts'

/** Clients that send every kind of request without a pause and repeat nothing, so that each failed request is seen. */
export interface ReplacementLoad {
  /** Completions with what the client received. */
  records: CallRecord[]
  /** Request ids of finished chats. */
  chats: string[]
  documents: string[]
  /** One line for each request that failed or was cut. */
  failures: string[]
  /** Streams that have begun and not ended. */
  openStreams(): number
  stop(): Promise<void>
}

interface LoadTarget {
  url: string
  provider: PlannedProvider
  random: () => number
  /** Of completions; the ledger is compared with their records. */
  caller: TestOrganisation
  /** Of chats and uploads. */
  team: TestOrganisation
  space: TestSpace
}

const completionClients = 6
const chatClients = 3
const uploadClients = 2
const uploadBytes = 100_000

export function startReplacementLoad(target: LoadTarget): ReplacementLoad {
  const records: CallRecord[] = []
  const chats: string[] = []
  const documents: string[] = []
  const failures: string[] = []
  const stopping = new AbortController()
  let openStreams = 0
  let number = 0

  async function complete(client: number) {
    // Half of the clients always have a stream that outlasts the moment of a stop.
    const call = target.provider.planned(drawCall(target.random, ++number, client % 2 === 0))
    if (call.stream) openStreams++
    const record = await sendRecorded(target.url, target.caller, call)
    if (call.stream) openStreams--
    records.push(record)
    if (record.status !== 200 || !record.sawEnd || record.errorCode !== null)
      failures.push(
        `completion ${call.number}: ${record.status}, ${record.errorCode}, ${record.wordsAtMs.length} words`,
      )
  }

  async function ask(client: number) {
    const streaming = client % 2 === 0
    const answer = await target.team.client('POST', `/v1/endpoints/${target.space.endpointId}/chat`, {
      messages: [{ role: 'user', content: 'Which garden has roses?' }],
      streaming,
    })
    const isWhole = !streaming || String(answer.body).includes('event: done')
    if (answer.status !== 200 || !isWhole) failures.push(`chat: ${answer.status} ${JSON.stringify(answer.body)}`)
    chats.push(answer.headers.get('x-request-id')!)
  }

  async function upload() {
    const text = `The garden number ${++number} has roses. `.repeat(uploadBytes / 40)
    const form = uploadForm(text, `garden-${number}.txt`)
    const answer = await target.team.client('POST', `/v1/documents?spaceId=${target.space.id}`, form)
    if (answer.status === 201) documents.push(answer.body.id)
    else failures.push(`upload: ${answer.status} ${JSON.stringify(answer.body)}`)
    // Every document is read to its end in the test.
    await new Promise((resolve) => setTimeout(resolve, 500))
  }

  const client = async (name: string, send: () => Promise<void>) => {
    while (!stopping.signal.aborted) {
      await send().catch((error: Error) => failures.push(`${name}: ${error.message} ${String(error.cause ?? '')}`))
    }
  }
  const clients = [
    ...Array.from({ length: completionClients }, (_, index) => client('completion', () => complete(index))),
    ...Array.from({ length: chatClients }, (_, index) => client('chat', () => ask(index))),
    ...Array.from({ length: uploadClients }, () => client('upload', upload)),
  ]
  return {
    records,
    chats,
    documents,
    failures,
    openStreams: () => openStreams,
    async stop() {
      stopping.abort()
      await Promise.all(clients)
    },
  }
}

function drawCall(random: () => number, number: number, isLongStream: boolean): PlannedCall {
  const stream = isLongStream || random() < 0.4
  return {
    number,
    stream,
    words: isLongStream ? 60 + Math.floor(random() * 60) : 1 + Math.floor(random() * 40),
    headersAfterMs: Math.floor(random() * 60),
    pauseMs: isLongStream ? 25 : stream ? 3 : 0,
    promptTokens: 5 + Math.floor(random() * 10),
    sendsUsage: random() < 0.85,
    capTokens: null,
    hangUpAfterWords: null,
  }
}
