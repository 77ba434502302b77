import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  checkRecord,
  expectAnswer,
  foldStream,
  loadRecords,
  pieces,
  seededRandom,
  type WireRecord,
} from '../../../test/harness/recorded-wire.ts'
import { testSeed } from '../../../test/harness/seed.ts'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { createAdapter } from './create-provider.ts'
import type { ProviderSettings } from './port.ts'

const folder = sharedDataFolder('wire-tools')
const records = folder ? loadRecords(folder) : []

const formats: Readonly<Record<string, ProviderSettings['format']>> = {
  'anthropic-messages': 'anthropic',
  'google-generatecontent': 'gemini',
  'bedrock-converse': 'bedrock',
  'ollama-chat': 'ollama',
}

function adapterOf({ provider, api }: WireRecord) {
  const format = formats[api ?? ''] ?? (provider === 'azure' ? 'azure' : provider === 'gemini' ? 'gemini' : 'openai')
  const address = { baseUrl: 'https://example.org', region: 'eu-central-1' }
  // An unlisted host of the family works without a separate flavour.
  return createAdapter({ id: 'x', format, flavour: provider, apiKey: 'test-key', ...address })
}

/**
 * The record with the values that Portico gives on purpose. Vercel's gateway leaves reasoning out of completion and total, and its stated
 * cost bills it as output. Older versions of Ollama end an answer that calls tools with `stop`.
 */
function asGiven(record: WireRecord): WireRecord {
  const { usage, tool_calls, ...expected } = record.expected
  const { reasoning_tokens = 0, completion_tokens = 0 } = usage ?? {}
  const isOutside = record.provider === 'vercel' && reasoning_tokens > completion_tokens
  const isCalling = record.provider === 'ollama' && (tool_calls?.length ?? 0) > 0
  return {
    ...record,
    expected: {
      ...expected,
      ...(tool_calls && { tool_calls }),
      ...(usage !== undefined && { usage }),
      ...(usage &&
        isOutside && {
          usage: {
            ...usage,
            completion_tokens: completion_tokens + reasoning_tokens,
            total_tokens: usage.total_tokens! + reasoning_tokens,
          },
        }),
      ...(isCalling && { finish_reason: 'tool_calls' }),
    },
  }
}

const name = 'recordings with tools, schemas, reasoning and images'
describe.skipIf(records.length === 0)(folder ? name : `${name} (skipped: shared data not found)`, () => {
  const byProvider = Map.groupBy(records, ({ provider }) => provider)
  test.each([...byProvider.keys()])('of %s give the expected answers, however they are cut', (provider) => {
    for (const original of byProvider.get(provider)!) {
      const record = asGiven(original)
      const body = readFileSync(path.join(folder!, record.file))
      checkRecord(record, body, adapterOf(record))
      if (record.kind !== 'stream' || record.during) continue
      const random = seededRandom(testSeed)
      for (const next of [() => 1, () => 1 + Math.floor(random() * random() * 400)]) {
        expectAnswer(record, foldStream(adapterOf(record).createStreamReader(), pieces(body, next)), `${record.id} cut`)
      }
    }
  })

  test('there are recordings to check', () => expect(records.length).toBeGreaterThan(0))
})
