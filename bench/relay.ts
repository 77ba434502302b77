/**
 * How many streamed chunks one core relays: read from the provider's bytes, metered and rendered for the client, without sockets. For
 * comparison, the same bytes only decoded and split at event ends.
 *
 *   bin/run bench/relay.ts [--chunks 200000] [--rounds 3] [--json FILE]
 *
 * Best of the rounds. Chunks are those of OpenAI with padding, about 300 bytes each, in reads of 16 KiB as a busy socket gives them
 * and one chunk a read as a slow model does.
 */
import { parseArgs } from 'node:util'
import { createOutputMeter } from '../src/gateway/gateway/relay.ts'
import { createChunkRenderer } from '../src/gateway/gateway/gateway.routes.ts'
import { createOpenAiAdapter } from '../src/gateway/providers/openai/index.ts'
import { runPaired } from './runner/paired.ts'
import { figureWriter } from './runner/figures.ts'

const { values: options } = parseArgs({
  options: {
    chunks: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
})
const chunkCount = Number(options.chunks)
const rounds = Number(options.rounds)
const write = figureWriter(options.json)

const adapter = createOpenAiAdapter({ id: 'bench', format: 'openai', flavour: 'openai' })
const identity = { id: 'chatcmpl-bench', createdSeconds: 1_770_747_154, model: 'gpt-4.1' }
const chunks = Array.from({ length: chunkCount }, (_, index) => chunkText(index))

for (const [name, readBytes] of [
  ['16 KiB a read', 16 * 1024],
  ['1 chunk a read', 0],
] as const) {
  const reads = cut(chunks, readBytes)
  console.log(`${name}:`)
  const times = await runPaired({
    case: name,
    rounds,
    repetitions: 1,
    subjects: [
      { name: 'relayed', call: async () => assertAll(relayAll(reads)) },
      { name: 'split only', reference: true, call: async () => assertAll(splitAll(reads)) },
    ],
    write,
  })
  for (const [subject, ms] of times)
    console.log(`  ${subject.padEnd(14)} ${perSecond(Math.min(...ms) / 1000)} chunks/s`)
}

function chunkText(index: number): string {
  const words = ['Certainly', ' here', ' is', ' a', ' list', ' of', ' all', ' “50”', ' states', ':\\n\\n', ' é']
  const padding = 'pCjdYd4kX4W2q'.slice(0, 5 + (index % 9))
  return `data: {"id":"chatcmpl-D7mVuqaadwp22jFsp2qAKiE1utU3K","object":"chat.completion.chunk","created":1770747154,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_8b22347a3e","choices":[{"index":0,"delta":{"content":"${words[index % words.length]}"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"${padding}"}\n\n`
}

/** Bodies as reads of about `readBytes`; 0: one chunk each. */
function cut(texts: readonly string[], readBytes: number): Buffer[] {
  if (readBytes === 0) return texts.map((text) => Buffer.from(text))
  const whole = Buffer.from(texts.join(''))
  return Array.from({ length: Math.ceil(whole.length / readBytes) }, (_, index) =>
    whole.subarray(index * readBytes, (index + 1) * readBytes),
  )
}

function assertAll(handled: number): void {
  if (handled < chunkCount) throw new Error(`${handled} of ${chunkCount} chunks were handled`)
}

function relayAll(reads: readonly Buffer[]): number {
  const reader = adapter.createStreamReader()
  const meter = createOutputMeter()
  const renderer = createChunkRenderer(identity, { includeUsage: false })
  let relayed = 0
  for (const read of reads) {
    let text = ''
    for (const event of meter.take(reader.push(read))) {
      text += renderer.event(event)
      relayed++
    }
    Buffer.from(text)
  }
  return relayed
}

function splitAll(reads: readonly Buffer[]): number {
  let parts = 0
  for (const read of reads) parts += read.toString('utf8').split('\n\n').length
  return parts
}

function perSecond(seconds: number): string {
  return Math.round(chunkCount / seconds)
    .toLocaleString('en')
    .padStart(12)
}
