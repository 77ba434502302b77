import { readFileSync } from 'node:fs'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ProviderError } from '../../src/gateway/providers/index.ts'
import type { WireAdapter } from '../../src/gateway/providers/wire-adapter.ts'
import { type FoldedAnswer, foldStream, pieces, seededRandom } from '../upstream/fold-answer.ts'
import { sharedDataFolder } from './shared-data.ts'

export { type FoldedAnswer, foldStream, pieces, seededRandom } from '../upstream/fold-answer.ts'

/** One entry of wire/index.json; the README of the data folder explains the fields. */
export interface WireRecord {
  id: string
  provider: string
  /** Format of the body; in the recordings with tools only. */
  api?: string
  kind: 'nonstream' | 'stream' | 'error' | 'embeddings' | 'models'
  http_status: number
  headers?: Record<string, string>
  file: string
  url?: string
  content_type?: string
  during?: 'mid_stream'
  expected: {
    text?: string
    reasoning_text?: string
    finish_reason?: string
    wire_finish_reason?: string
    usage?: Record<string, number> | null
    tool_calls?: { name: string; arguments: unknown }[]
    error_class?: string
    retryable?: boolean
    message_contains?: string
    count?: number
    dimensions?: number
  }
}

/** Checks an adapter, without network access, against every shared recording of a provider; skipped by name where they are missing. */
export function describeRecordings(provider: string, adapter: () => WireAdapter) {
  const folder = sharedDataFolder('wire')
  const records = folder ? loadRecords(folder, provider) : []
  const name = folder ? `recordings of ${provider}` : `recordings of ${provider} (skipped: shared data not found)`
  describe.skipIf(records.length === 0)(name, () => {
    for (const record of records) {
      const body = readFileSync(path.join(folder ?? '', record.file))
      test(`${record.id} gives the expected answer`, () => checkRecord(record, body, adapter()))
      if (record.kind === 'stream') describeCuts(record, body, adapter)
    }
    test('there are recordings to check', () => expect(records.length).toBeGreaterThan(0))
  })
}

function describeCuts(record: WireRecord, body: Uint8Array, adapter: () => WireAdapter) {
  test(`${record.id} gives the same when cut after every byte`, () => {
    expectAnswer(
      record,
      foldStream(
        adapter().createStreamReader(),
        pieces(body, () => 1),
      ),
    )
  })
  test(`${record.id} gives the same when cut at random places`, () => {
    for (let seed = 1; seed <= 10; seed++) {
      const random = seededRandom(seed)
      const cut = pieces(body, () => 1 + Math.floor(random() * random() * 400))
      expectAnswer(record, foldStream(adapter().createStreamReader(), cut), `seed ${seed}`)
    }
  })
  test(`${record.id} gives the same events and error when a byte is damaged, however it is cut`, () => {
    const random = seededRandom(20261121)
    for (let run = 0; run < 15; run++) {
      const damaged = Uint8Array.from(body)
      const at = Math.floor(random() * damaged.length)
      damaged[at] = Math.floor(random() * 256)
      const whole = outcomeOf(adapter(), [damaged])
      const one = () => 1
      expect(outcomeOf(adapter(), pieces(damaged, one)), `byte ${at}`).toEqual(whole)
      const some = () => 1 + Math.floor(random() * random() * 400)
      expect(outcomeOf(adapter(), pieces(damaged, some)), `byte ${at}`).toEqual(whole)
    }
  })
  test(`${record.id} is a failure, never a short answer, when it stops early`, () => {
    for (const share of [0, 0.1, 0.5, 0.8]) {
      const head = body.subarray(0, Math.floor(body.length * share))
      const error = errorOf(() => foldStream(adapter().createStreamReader(), [head]))
      expect(error.errorClass, `share ${share}`).toBe('connection')
    }
  })
}

/** What a client receives: the text before a failure, and the failure. */
function outcomeOf(adapter: WireAdapter, body: Iterable<Uint8Array>): unknown {
  const reader = adapter.createStreamReader()
  let text = ''
  let last = ''
  const take = (events: ReturnType<typeof reader.push>) => {
    for (const event of events) {
      if (event.type === 'text') text += event.text
      else if (event.type === 'finish' || event.type === 'usage') last += inspect(event, { depth: 8 })
    }
  }
  try {
    for (const piece of body) {
      take(reader.push(piece))
      const pending = reader.pendingError?.()
      if (pending) throw pending
    }
    take(reader.end())
    return { text, last }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    return { text, last, errorClass: error.errorClass, message: error.message, code: error.code }
  }
}

export function checkRecord(record: WireRecord, body: Uint8Array, adapter: WireAdapter) {
  switch (record.kind) {
    case 'nonstream':
      return expectAnswer(record, adapter.fromResponse(body))
    case 'stream':
      return expectAnswer(record, foldStream(adapter.createStreamReader(), [body]))
    case 'error':
      return expectError(record, body, adapter)
    case 'embeddings': {
      const answer = adapter.embeddings!.fromResponse(body)
      expect(answer.vectors).toHaveLength(record.expected.count!)
      for (const vector of answer.vectors) expect(vector).toHaveLength(record.expected.dimensions!)
      return
    }
    case 'models':
      return expect(adapter.models!.fromResponse(body)).toHaveLength(record.expected.count!)
  }
}

function expectError(record: WireRecord, body: Uint8Array, adapter: WireAdapter) {
  const error =
    record.during === 'mid_stream'
      ? errorOf(() => foldStream(adapter.createStreamReader(), [body]))
      : adapter.mapError({
          status: record.http_status,
          headers: record.headers ?? {},
          body: Buffer.from(body).toString('utf8'),
        })
  expect(error.errorClass).toBe(record.expected.error_class)
  expect(error.retryable).toBe(record.expected.retryable)
  expect(error.message).toContain(record.expected.message_contains)
}

export function expectAnswer(record: WireRecord, answer: FoldedAnswer, hint = record.id) {
  const { expected } = record
  expect(answer.text, hint).toBe(expected.text)
  expect(answer.finishReason, hint).toBe(expected.finish_reason)
  expect(answer.wireFinishReason, hint).toBe(expected.wire_finish_reason)
  if (expected.reasoning_text !== undefined) expect(answer.reasoningText, hint).toBe(expected.reasoning_text)
  const calls = answer.toolCalls.map((call) => ({
    name: call.name,
    arguments: jsonOrText(call.argumentsJson),
  }))
  expect(calls, hint).toEqual(expected.tool_calls ?? [])
  if (expected.usage === null) return expect(answer.usage, hint).toBeNull()
  const { usage } = answer
  expect(usage, hint).not.toBeNull()
  const inPublicWords: Record<string, number> = {
    prompt_tokens: usage!.promptTokens,
    completion_tokens: usage!.completionTokens,
    total_tokens: usage!.promptTokens + usage!.completionTokens,
    cached_tokens: usage!.cachedTokens,
    cache_write_tokens: usage!.cacheWriteTokens,
    reasoning_tokens: usage!.reasoningTokens,
  }
  for (const [field, count] of Object.entries(expected.usage ?? {})) {
    expect(inPublicWords[field], `${hint} ${field}`).toBe(count)
  }
}

/** A call without arguments may have no JSON at all. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function errorOf(action: () => unknown): ProviderError {
  try {
    action()
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
  throw new Error('expected a ProviderError')
}

export function loadRecords(folder: string, provider?: string): WireRecord[] {
  const index = JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8')) as { records: WireRecord[] }
  return provider === undefined ? index.records : index.records.filter((record) => record.provider === provider)
}
