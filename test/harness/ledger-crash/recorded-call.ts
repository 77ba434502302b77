import { type PlannedCall, plannedModel, promptOf, wordCharacters } from './planned-provider.ts'

/** A client's record of one call: only what the client received. */
export interface CallRecord {
  call: PlannedCall
  organisationId: string
  /** Address of the process: a new process has a new port. */
  url: string
  sentAtMs: number
  /** Null when no response headers arrived. */
  requestId: string | null
  status: number | null
  errorCode: string | null
  /** Time at which each word of text was read, in milliseconds of performance.now(). */
  wordsAtMs: number[]
  usage: { promptTokens: number; completionTokens: number } | null
  /** True after a whole body, or `[DONE]`. */
  sawEnd: boolean
  hungUp: boolean
  overAtMs: number
}

export interface Caller {
  id: string
  apiKey: string
}

/** Sends a call and records the result. Never rejects: a broken connection is a result as well. */
export async function sendRecorded(
  url: string,
  organisation: Caller,
  call: PlannedCall,
  onText: (record: CallRecord) => void = () => {},
): Promise<CallRecord> {
  const record: CallRecord = {
    call,
    organisationId: organisation.id,
    url,
    sentAtMs: performance.now(),
    requestId: null,
    status: null,
    errorCode: null,
    wordsAtMs: [],
    usage: null,
    sawEnd: false,
    hungUp: false,
    overAtMs: 0,
  }
  const hangUp = new AbortController()
  try {
    const response = await fetch(`${url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: plannedModel,
        messages: promptOf(call),
        ...(call.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
        ...(call.capTokens === null ? {} : { max_completion_tokens: call.capTokens }),
      }),
      signal: hangUp.signal,
    })
    record.status = response.status
    record.requestId = response.headers.get('x-request-id')
    if (call.stream && response.status === 200) await readStream(record, response, hangUp, onText)
    else readWhole(record, (await response.json()) as WholeBody)
  } catch {
    // Killed or disconnected: the record has what arrived before.
  }
  record.overAtMs = performance.now()
  return record
}

interface WireUsage {
  prompt_tokens: number
  completion_tokens: number
}

interface WholeBody {
  error?: { code: string | null; type: string }
  usage?: WireUsage
}

interface Chunk extends WholeBody {
  choices?: { delta?: { content?: string } }[]
}

function readWhole(record: CallRecord, body: WholeBody) {
  record.sawEnd = true
  if (body.error) record.errorCode = body.error.code ?? body.error.type
  noteUsage(record, body.usage)
}

async function readStream(
  record: CallRecord,
  response: Response,
  hangUp: AbortController,
  onText: (record: CallRecord) => void,
) {
  const { hangUpAfterWords } = record.call
  let pending = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    const lines = (pending + decoder.decode(bytes as Uint8Array, { stream: true })).split('\n\n')
    pending = lines.pop()!
    for (const line of lines) readLine(record, line)
    onText(record)
    if (hangUpAfterWords !== null && record.wordsAtMs.length >= hangUpAfterWords) {
      record.hungUp = true
      hangUp.abort()
    }
  }
}

function readLine(record: CallRecord, line: string) {
  const data = line.replace(/^data: /, '')
  if (data === '[DONE]') {
    record.sawEnd = true
    return
  }
  const chunk = JSON.parse(data) as Chunk
  if (chunk.error) record.errorCode = chunk.error.code ?? chunk.error.type
  noteUsage(record, chunk.usage)
  const words = (chunk.choices?.[0]?.delta?.content ?? '').length / wordCharacters
  for (let word = 0; word < words; word++) record.wordsAtMs.push(performance.now())
}

function noteUsage(record: CallRecord, usage: WireUsage | null | undefined) {
  if (usage) record.usage = { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens }
}
