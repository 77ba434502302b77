/**
 * How many streamed chunks one core relays: the fast path (a known chunk is recognised and its text passed on as it came), the
 * same reader with every chunk parsed, and what the relay can never beat: taking the bytes apart at line ends.
 *
 *   bin/run bench/relay.ts [--chunks 200000] [--rounds 3]
 *
 * Best of the rounds. Chunks are those of OpenAI with padding, about 300 bytes each, in reads of 16 KiB as a busy socket gives them
 * and one chunk a read as a slow model does.
 */
import { parseArgs } from 'node:util'
import { createOpenAiAdapter } from '../src/providers/openai/index.ts'
import type { WireAdapter } from '../src/providers/wire-adapter.ts'

const { values: options } = parseArgs({
  options: { chunks: { type: 'string', default: '200000' }, rounds: { type: 'string', default: '3' } },
})
const chunkCount = Number(options.chunks)
const rounds = Number(options.rounds)

const adapter = createOpenAiAdapter({ id: 'bench', format: 'openai', flavour: 'openai' })
const chunks = Array.from({ length: chunkCount }, (_, index) => chunkText(index, 'content'))
// A changing time makes every chunk differ from the one before it, so that none fits the template.
const unlike = Array.from({ length: chunkCount }, (_, index) => chunkText(index, 'content', index))
const ending = 'data: [DONE]\n\n'

for (const [name, readBytes] of [
  ['16 KiB a read', 16 * 1024],
  ['1 chunk a read', 0],
] as const) {
  const fast = measure(cut(chunks, readBytes))
  const parsed = measure(cut(unlike, readBytes))
  const floor = measureFloor(cut(chunks, readBytes))
  console.log(`${name}:`)
  console.log(
    `  fast path       ${perSecond(fast.seconds)} chunks/s  (${fast.relayed} of ${chunkCount} relayed unparsed)`,
  )
  console.log(`  every one parsed${perSecond(parsed.seconds)} chunks/s  (${parsed.relayed} relayed unparsed)`)
  console.log(`  split at lines  ${perSecond(floor)} chunks/s  (no meaning read at all)`)
  console.log(`  fast / parsed   ${(parsed.seconds / fast.seconds).toFixed(1)}x`)
}

function chunkText(index: number, field: string, created = 1_770_747_154): string {
  const words = ['Certainly', ' here', ' is', ' a', ' list', ' of', ' all', ' “50”', ' states', ':\\n\\n', ' é']
  const padding = 'pCjdYd4kX4W2q'.slice(0, 5 + (index % 9))
  return `data: {"id":"chatcmpl-D7mVuqaadwp22jFsp2qAKiE1utU3K","object":"chat.completion.chunk","created":${created},"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_8b22347a3e","choices":[{"index":0,"delta":{"${field}":"${words[index % words.length]}"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"${padding}"}\n\n`
}

/** Bodies as reads of about `readBytes`; 0: one chunk each. */
function cut(texts: readonly string[], readBytes: number): Buffer[] {
  if (readBytes === 0) return [...texts, ending].map((text) => Buffer.from(text))
  const whole = Buffer.from(texts.join('') + ending)
  return Array.from({ length: Math.ceil(whole.length / readBytes) }, (_, index) =>
    whole.subarray(index * readBytes, (index + 1) * readBytes),
  )
}

function measure(reads: readonly Buffer[]): { seconds: number; relayed: number } {
  let best = Number.POSITIVE_INFINITY
  let relayed = 0
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now()
    relayed = relayAll(adapter, reads)
    best = Math.min(best, (performance.now() - startedMs) / 1000)
  }
  return { seconds: best, relayed }
}

/** Reads and renders, as the gateway does. Returns how many chunks were not parsed. */
function relayAll({ createStreamReader }: WireAdapter, reads: readonly Buffer[]): number {
  const reader = createStreamReader()
  let relayed = 0
  let written = 0
  for (const read of reads) {
    let text = ''
    for (const event of reader.push(read)) {
      if (event.type === 'chunk') {
        relayed++
        text += `data: {"choices":[{"index":0,"delta":{"content":${event.contentJson}},"finish_reason":null}]}\n\n`
      } else if (event.type === 'text') {
        text += `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(event.text)}},"finish_reason":null}]}\n\n`
      }
    }
    written += Buffer.byteLength(text)
  }
  if (written === 0) throw new Error('nothing was relayed')
  return relayed
}

function measureFloor(reads: readonly Buffer[]): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now()
    let lines = 0
    for (const read of reads) lines += read.toString('utf8').split('\n\n').length
    if (lines < chunkCount) throw new Error('too few lines')
    best = Math.min(best, (performance.now() - startedMs) / 1000)
  }
  return best
}

function perSecond(seconds: number): string {
  return Math.round(chunkCount / seconds)
    .toLocaleString('en')
    .padStart(12)
}
