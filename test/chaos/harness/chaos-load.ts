import { setTimeout as wait } from 'node:timers/promises'
import { drawCall } from '../../harness/ledger-crash/crash-load.ts'
import { type PlannedCall, type PlannedProvider, quickCall } from '../../harness/ledger-crash/planned-provider.ts'
import { type Caller, type CallRecord, sendRecorded } from '../../harness/ledger-crash/recorded-call.ts'
import { type ApiAnswer, createApiClient, type TestSpace, uploadForm } from '../../harness/portico.ts'

/** Clients of every kind that continue through faults, and what each of them has received. */
export interface ChaosLoad {
  records: CallRecord[]
  chats: ChatRecord[]
  uploads: UploadRecord[]
  /** One call, one chat and one upload to this address. Resolves to what failed; empty when all are answered. Each is reported as it fails. */
  tryAll(url: string, onFailed?: (what: string) => void): Promise<string[]>
  /** Streams that have sent text and not ended. */
  openStreams(): number
  /** As many streams at once, whose clients leave after the first words. Resolves to the number of those that did. */
  hangUp(url: string, clients: number): Promise<number>
  /** Answers with the status 500 or the code `internal_error`: no fault may cause one. */
  internalErrors(): string[]
  /** Stops new requests; resolves when the running ones have ended. */
  stop(): Promise<void>
}

export interface ChatRecord {
  /** Null when no response headers arrived. */
  requestId: string | null
  isWhole: boolean
}

export interface UploadRecord {
  name: string
  /** Undefined unless the upload was accepted. */
  id: string | undefined
  /** Undefined: nobody wanted to delete it. */
  deletion?: 'sent' | 'acknowledged'
}

export interface ChaosLoadOptions {
  provider: PlannedProvider
  random: () => number
  /** Addresses of the instances. */
  urls: readonly string[]
  /** Of completions. */
  callers: readonly Caller[]
  /** Of chats and uploads. */
  team: Caller
  space: TestSpace
  /** Of each instance; 3 by default. */
  completionClients?: number | undefined
}

const chatPauseMs = 300
const uploadPauseMs = 800
/** Long enough that most uploads stay. */
const deletionPauseMs = 2_500
const afterFailureMs = 50
const uploadWords = 400

const isInternal = ({ status, errorCode }: CallRecord) => status === 500 || errorCode === 'internal_error'

export function startChaosLoad(options: ChaosLoadOptions): ChaosLoad {
  const { provider, random, callers, team, space, completionClients = 3 } = options
  const records: CallRecord[] = []
  const chats: ChatRecord[] = []
  const uploads: UploadRecord[] = []
  const streaming = new Set<CallRecord>()
  /** Calls of `tryAll` that wait for their answer. */
  const tries = new Set<Promise<unknown>>()
  const stopping = new AbortController()
  const internal: string[] = []
  let number = 0

  const noteInternal = (what: string, answer: ApiAnswer | undefined) => {
    if (answer?.status === 500) internal.push(`${what} ${answer.headers.get('x-request-id')}`)
    return answer
  }

  async function send(url: string, call: Omit<PlannedCall, 'number'>): Promise<CallRecord> {
    const caller = callers[Math.floor(random() * callers.length)]!
    const planned = provider.planned({ ...call, number: ++number })
    const record = await sendRecorded(url, caller, planned, (open) => void streaming.add(open))
    streaming.delete(record)
    records.push(record)
    return record
  }

  async function ask(url: string): Promise<ApiAnswer | undefined> {
    const streaming = random() < 0.5
    const record: ChatRecord = { requestId: null, isWhole: false }
    chats.push(record)
    const body = { messages: [{ role: 'user', content: 'Which garden has roses?' }], streaming }
    const target = `/v1/endpoints/${space.endpointId}/chat`
    const sent = createApiClient(url, team.apiKey)('POST', target, body)
    const answer = noteInternal('chat', await sent.catch(() => undefined))
    if (!answer) return undefined
    record.requestId = answer.headers.get('x-request-id')
    record.isWhole = answer.status === 200 && (!streaming || String(answer.body).includes('event: done'))
    return answer
  }

  async function upload(url: string): Promise<ApiAnswer | undefined> {
    const record: UploadRecord = { name: `garden-${++number}.txt`, id: undefined }
    uploads.push(record)
    const text = `The garden number ${number} has roses and ${'old '.repeat(uploadWords)} trees.`
    const target = `/v1/documents?spaceId=${space.id}`
    const client = createApiClient(url, team.apiKey)
    const sent = client('POST', target, uploadForm(text, record.name))
    const answer = noteInternal('upload', await sent.catch(() => undefined))
    if (answer?.status === 201) record.id = answer.body.id
    return answer
  }

  /** Of the first upload that nobody deletes yet. */
  async function remove(url: string): Promise<void> {
    const record = uploads.find(({ id, deletion }) => id !== undefined && deletion === undefined)
    if (!record) return
    record.deletion = 'sent'
    const sent = createApiClient(url, team.apiKey)('DELETE', `/v1/documents/${record.id}`)
    const answer = noteInternal('deletion', await sent.catch(() => undefined))
    if (answer?.status === 204) record.deletion = 'acknowledged'
  }

  async function tryEach(url: string, onFailed: (what: string) => void): Promise<string[]> {
    const failed: string[] = []
    const note = (isAnswered: boolean, what: string) => {
      if (isAnswered) return
      failed.push(what)
      onFailed(what)
    }
    await Promise.all([
      send(url, quickCall).then(({ status, errorCode }) => note(status === 200, `completion ${status} ${errorCode}`)),
      ask(url).then((chat) => note(chat?.status === 200, `chat ${chat?.status} ${JSON.stringify(chat?.body)}`)),
      upload(url).then((file) => note(file?.status === 201, `upload ${file?.status} ${JSON.stringify(file?.body)}`)),
    ])
    const ready = await fetch(`${url}/readyz`).catch(() => undefined)
    note(ready?.status === 200, `readyz ${ready?.status}`)
    return failed
  }

  const client = async (act: () => Promise<boolean>, pauseMs = 0) => {
    while (!stopping.signal.aborted) await wait((await act()) ? pauseMs : Math.max(pauseMs, afterFailureMs))
  }
  const clients = options.urls.flatMap((url) => [
    ...Array.from({ length: completionClients }, () =>
      client(async () => (await send(url, drawCall(random, 0))).status === 200),
    ),
    client(async () => (await ask(url))?.status === 200, chatPauseMs),
    client(async () => (await upload(url))?.status === 201, uploadPauseMs),
    client(() => remove(url).then(() => true), deletionPauseMs),
  ])

  return {
    records,
    chats,
    uploads,
    tryAll(url, onFailed = () => {}) {
      const trying = tryEach(url, onFailed).finally(() => tries.delete(trying))
      tries.add(trying)
      return trying
    },
    openStreams: () => streaming.size,
    async hangUp(url, count) {
      const call = { ...quickCall, stream: true, words: 40, pauseMs: 50, capTokens: null, hangUpAfterWords: 1 }
      const sent = await Promise.all(Array.from({ length: count }, () => send(url, call)))
      return sent.filter(({ hungUp }) => hungUp).length
    },
    internalErrors: () => [
      ...internal,
      ...records.filter(isInternal).map(({ requestId }) => `completion ${requestId}`),
    ],
    async stop() {
      stopping.abort()
      await Promise.all([...clients, ...tries])
    },
  }
}
