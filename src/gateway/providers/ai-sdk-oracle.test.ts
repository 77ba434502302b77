import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createCohere } from '@ai-sdk/cohere'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { describe, expect, test } from 'vitest'
import { type FoldedAnswer, foldStream, loadRecords, type WireRecord } from '../../../test/harness/recorded-wire.ts'
import { sharedDataFolder } from '../../../test/harness/shared-data.ts'
import { createAnthropicAdapter } from './anthropic/index.ts'
import { createBedrockAdapter } from './bedrock/index.ts'
import { createCohereAdapter } from './cohere/index.ts'
import { createGeminiAdapter } from './gemini/index.ts'
import { createOpenAiAdapter } from './openai/index.ts'
import type { WireAdapter } from './wire-adapter.ts'

type Fetch = typeof globalThis.fetch
type Model = ReturnType<ReturnType<typeof createAnthropic>['languageModel']>

/** Compares our reading of each recording with that of the AI SDK's provider packages. */
const oracles: Record<string, { ours: WireAdapter; theirs(fetch: Fetch): Model }> = {
  anthropic: {
    ours: createAnthropicAdapter({ id: 'x', format: 'anthropic', apiKey: 'k' }),
    theirs: (fetch) => createAnthropic({ apiKey: 'k', fetch }).languageModel('claude-sonnet-4-5'),
  },
  gemini: {
    ours: createGeminiAdapter({ id: 'x', format: 'gemini', apiKey: 'k' }),
    theirs: (fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch }).languageModel('gemini-2.5-flash'),
  },
  bedrock: {
    ours: createBedrockAdapter({ id: 'x', format: 'bedrock', region: 'eu-central-1', apiKey: 'k' }),
    theirs: (fetch) => createAmazonBedrock({ region: 'eu-central-1', apiKey: 'k', fetch }).languageModel('amazon.nova'),
  },
  cohere: {
    ours: createCohereAdapter({ id: 'x', format: 'cohere', apiKey: 'k' }),
    theirs: (fetch) => createCohere({ apiKey: 'k', fetch }).languageModel('command-a-03-2025'),
  },
  openai: {
    ours: createOpenAiAdapter({ id: 'x', format: 'openai', apiKey: 'k' }),
    theirs: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4o'),
  },
  azure: {
    ours: createOpenAiAdapter({ id: 'x', format: 'azure', baseUrl: 'https://x.openai.azure.com', apiKey: 'k' }),
    theirs: (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4o'),
  },
  mistral: {
    ours: createOpenAiAdapter({ id: 'x', format: 'openai', flavour: 'mistral', apiKey: 'k' }),
    theirs: (fetch) => createMistral({ apiKey: 'k', fetch }).languageModel('mistral-small-latest'),
  },
}

/** Hosts that the AI SDK reads with its general package. */
for (const flavour of [
  'groq',
  'deepseek',
  'xai',
  'together',
  'openrouter',
  'perplexity',
  'cerebras',
  'alibaba',
  'moonshotai',
]) {
  oracles[flavour] = {
    ours: createOpenAiAdapter({ id: 'x', format: 'openai', flavour, apiKey: 'k' }),
    theirs: (fetch) =>
      createOpenAICompatible({ name: flavour, baseURL: 'https://host.test/v1', apiKey: 'k', fetch }).chatModel('model'),
  }
}

/** Known differences, and why our reading is right. A difference that no longer occurs fails, so that the list stays correct. */
const knownDifferences: Record<string, { why: string; ours: Partial<Reading> }> = {
  'openai/nonstream/refusal': {
    why: 'the compatible API keeps `stop` and parts the refusal from the text; the AI SDK shows it as text with content-filter',
    ours: { text: '', finish: 'stop' },
  },
  'groq/stream/x-groq-usage': {
    why: 'usage is in `x_groq`, which the general adapter of the AI SDK does not read',
    ours: { promptTokens: 12, completionTokens: 26 },
  },
  'groq/stream/x-groq-usage-longer': {
    why: 'usage is in `x_groq`, as above',
    ours: { promptTokens: 18, completionTokens: 73 },
  },
  'xai/nonstream/grok-reasoning': {
    why: 'xAI leaves reasoning out of completion_tokens, and bills it; the general adapter of the AI SDK reports the number as sent',
    ours: { completionTokens: 229 },
  },
}

const folder = sharedDataFolder('wire')
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }]

/** The compared fields. */
interface Reading {
  text: string
  finish: string
  promptTokens: number | undefined
  completionTokens: number | undefined
  toolNames: string[]
}

const suite = folder ? 'a recording' : 'a recording (skipped: shared data not found)'

describe.skipIf(!folder)(suite, () => {
  for (const [provider, { ours, theirs }] of Object.entries(oracles)) {
    const records = folder ? loadRecords(folder, provider).filter(isAnswer) : []
    test.each(records.map((record) => [record.id, record] as const))(
      '%s gives the same result here and in the AI SDK',
      async (_id, record) => {
        const body = readFileSync(path.join(folder ?? '', record.file))
        const fetch: Fetch = async () => new Response(body, { headers: { 'content-type': record.content_type ?? '' } })
        const own = record.kind === 'stream' ? foldStream(ours.createStreamReader(), [body]) : ours.fromResponse(body)
        const other = await (record.kind === 'stream' ? readStream(theirs(fetch)) : readWhole(theirs(fetch)))
        const known = knownDifferences[record.id]
        expect(toReading(own), known?.why).toEqual({ ...other, ...known?.ours })
        if (known) expect(toReading(own)).not.toEqual(other)
      },
    )
  }
})

function isAnswer(record: WireRecord): boolean {
  return record.kind === 'nonstream' || record.kind === 'stream'
}

function toReading(answer: Pick<FoldedAnswer, 'text' | 'finishReason' | 'usage' | 'toolCalls'>): Reading {
  return {
    text: answer.text,
    finish: (answer.finishReason ?? '').replace('_', '-'),
    promptTokens: answer.usage?.promptTokens,
    completionTokens: answer.usage?.completionTokens,
    toolNames: answer.toolCalls.map((call) => call.name),
  }
}

async function readWhole(model: Model): Promise<Reading> {
  const { content, finishReason, usage } = await model.doGenerate({ prompt })
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const toolNames = content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
  return {
    text,
    finish: finishReason.unified,
    promptTokens: usage.inputTokens.total,
    completionTokens: usage.outputTokens.total,
    toolNames,
  }
}

async function readStream(model: Model): Promise<Reading> {
  const { stream } = await model.doStream({ prompt })
  const reading: Reading = { text: '', finish: '', promptTokens: undefined, completionTokens: undefined, toolNames: [] }
  for await (const part of stream) {
    if (part.type === 'text-delta') reading.text += part.delta
    else if (part.type === 'tool-call') reading.toolNames.push(part.toolName)
    else if (part.type === 'error') throw part.error
    else if (part.type === 'finish') {
      reading.finish = part.finishReason.unified
      reading.promptTokens = part.usage.inputTokens.total
      reading.completionTokens = part.usage.outputTokens.total
    }
  }
  return reading
}
