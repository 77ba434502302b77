import { describe, expect, it } from 'vitest'
import { chatBody } from '../../src/gateway/apis/chat-completions/chat-body.ts'
import { messagesBody } from '../../src/gateway/apis/messages/messages-body.ts'
import { responsesBody } from '../../src/gateway/apis/responses/responses-body.ts'
import {
  type JsonSchema,
  partsOf,
  SchemaProblem,
  toClaudeSchema,
  toGeminiSchema,
  toOpenAiSchema,
  toPlainSchema,
} from '../../src/gateway/conversation/index.ts'
import { canServe } from '../../src/gateway/models/create-catalogue.ts'
import { createAdapter } from '../../src/gateway/providers/create-provider.ts'
import {
  needsOf,
  ProviderError,
  type ProviderRequest,
  resolveTraits,
  type WireFormat,
} from '../../src/gateway/providers/index.ts'
import { isMedia } from '../../src/gateway/providers/media.ts'
import { readBody } from '../../src/platform/bodies/index.ts'
import { isAppError } from '../../src/platform/kernel/index.ts'
import { type ClientBody, hasClientBodies, readClientBodies } from '../harness/client-bodies.ts'
import { providerCall } from '../harness/provider-call.ts'
import { type BodyFact, createWireIndex, factsOf, parsed } from './client-body-facts.ts'

const readers = { chat: chatBody, responses: responsesBody, messages: messagesBody }
const bodies = readClientBodies(Object.keys(readers))
/** Shares of the bodies that must arrive whole: of all, and as the mean over projects. */
const least = { ofAll: 0.97, ofProjects: 0.95 }

/** One host of each kind of wire, with a model of today. */
const hosts = [
  { format: 'openai', flavour: 'openai', model: 'gpt-4.1' },
  { format: 'anthropic', model: 'claude-sonnet-4-5' },
  { format: 'gemini', model: 'gemini-2.5-pro' },
  { format: 'bedrock', region: 'eu-central-1', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' },
  { format: 'cohere', model: 'command-a-03-2025' },
  { format: 'ollama', model: 'qwen3' },
].map(({ model, format, ...settings }) => {
  const host = { id: format, format: format as WireFormat, apiKey: 'test', ...settings }
  return { format, model, adapter: createAdapter(host as Parameters<typeof createAdapter>[0]) }
})
type Host = (typeof hosts)[number]

interface Outcome {
  repo: string
  /** What does not arrive, by format; null: all of it does. Formats without the capabilities are absent. */
  lost: Map<string, string | null>
  /** Why the body is refused before any host. */
  refused: string | null
}

/** The host's API has no place for a part: the client gets an error, and nothing is dropped. */
const refusal = 'refused: '

function outcomeOf({ repo, family, body }: ClientBody): Outcome {
  const lost = new Map<string, string | null>()
  const bytes = Buffer.from(JSON.stringify(body))
  let request: ProviderRequest
  try {
    ;({ request } = readBody<{ request: ProviderRequest }>(bytes, readers[family as keyof typeof readers], 'json'))
  } catch (error) {
    if (isAppError(error)) return { repo, lost, refused: error.message }
    throw error
  }
  for (const host of hosts) {
    if (!serves(host, request)) continue
    try {
      lost.set(host.format, lostAt(host, request, body))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      lost.set(host.format, `${refusal}${error.message}`)
    }
  }
  return { repo, lost, refused: lost.size === 0 ? `no host has ${[...needsOf(request)].join(', ')}` : null }
}

function serves({ format, model }: Host, request: ProviderRequest): boolean {
  const traits = resolveTraits(format as WireFormat, providerCall({}, { id: model }).model)
  return [...needsOf(request)].every((need) => canServe({ traits, format: format as WireFormat }, need))
}

/** The transport fetches media whose address the host does not take. */
const fetchedBytes = Buffer.from('%PDF-1.7 fetched').toString('base64')

function lostAt({ model, adapter }: Host, request: ProviderRequest, body: Record<string, unknown>): string | null {
  const fetched = new Set<unknown>()
  const messages = request.messages.map((message) => ({
    ...message,
    content: partsOf(message.content).map((part) => {
      if (!isMedia(part) || part.source.kind !== 'url' || adapter.takesAddress?.(part)) return part
      fetched.add(part.source.url)
      const mediaType = part.type === 'image' ? 'image/png' : 'application/pdf'
      return { ...part, source: { kind: 'base64' as const, mediaType, data: fetchedBytes } }
    }),
  }))
  const call = providerCall(
    { ...request, ...(fetched.size > 0 && { messages }) },
    { id: model, maxOutputTokens: 64_000 },
  )
  const wire = createWireIndex(JSON.parse(JSON.stringify(adapter.toRequest(call, { stream: false }).body)))
  const missing = factsOf(body).find((fact) => {
    if (fact.kind === 'media' && fetched.has(fact.value)) return !wire.hasText(fetchedBytes)
    return !arrives(fact, wire)
  })
  return missing === undefined ? null : `${missing.kind} ${JSON.stringify(missing.value).slice(0, 200)}`
}

function arrives({ kind, value }: BodyFact, wire: ReturnType<typeof createWireIndex>): boolean {
  // A file of text may arrive as its text.
  if (kind === 'media' && wire.hasText(Buffer.from(String(value), 'base64').toString('utf8'))) return true
  if (kind === 'schema') return dialectsOf(value as JsonSchema).some((schema) => wire.hasValue(schema))
  if (typeof value !== 'string') return wire.hasValue(value)
  // White space around a text has no meaning, and some hosts refuse it. A text that is JSON may arrive as its value.
  return wire.hasText(value.trim()) || (parsed(value) !== undefined && wire.hasValue(parsed(value)))
}

/** The schema in each form that a host may receive; the translations have their own tests. */
function dialectsOf(schema: JsonSchema): JsonSchema[] {
  const dialects = [toPlainSchema, toClaudeSchema, toGeminiSchema, (of: JsonSchema) => toOpenAiSchema(of).schema]
  return dialects.reduce<JsonSchema[]>(
    (found, translate) => {
      try {
        return [...found, translate(schema)]
      } catch (error) {
        if (error instanceof SchemaProblem) return found
        throw error
      }
    },
    [schema],
  )
}

function sharesOf(outcomes: readonly Outcome[], isWhole: (outcome: Outcome) => boolean, title: string) {
  const byRepo = Object.entries(Object.groupBy(outcomes, ({ repo }) => repo)).map(([repo, all]) => {
    const whole = all!.filter(isWhole).length
    return { repo, whole, all: all!.length }
  })
  const mean = byRepo.reduce((sum, { whole, all }) => sum + whole / all, 0) / byRepo.length
  const rows = byRepo.map(({ repo, whole, all }) => `${repo} ${whole}/${all}`).join(', ')
  const ofAll = outcomes.filter(isWhole).length / outcomes.length
  console.log(
    `${title}: ${(100 * ofAll).toFixed(1)} % of ${outcomes.length}, mean ${(100 * mean).toFixed(1)} %: ${rows}`,
  )
  return { ofAll, ofProjects: mean }
}

describe.skipIf(!hasClientBodies)(
  `recorded client bodies${hasClientBodies ? '' : ' (skipped: no shared data)'}`,
  () => {
    const outcomes = bodies.map((body) => ({ ...outcomeOf(body), id: body.id, family: body.family }))

    it.each(Object.keys(readers))('of %s arrive whole at a host, and no host drops a part in silence', (family) => {
      const ofFamily = outcomes.filter((outcome) => outcome.family === family)
      for (const { id, refused, lost } of ofFamily) {
        if (refused !== null) console.log(`${id}: ${refused}`)
        for (const [format, what] of lost) if (what !== null) console.log(`${id} at ${format}: ${what}`)
      }
      const isWhole = ({ lost }: Outcome) => {
        const whats = [...lost.values()]
        return whats.includes(null) && whats.every((what) => what === null || what.startsWith(refusal))
      }
      expect(ofFamily.length).toBeGreaterThan(0)
      const shares = sharesOf(ofFamily, isWhole, family)
      expect(shares.ofAll).toBeGreaterThanOrEqual(least.ofAll)
      expect(shares.ofProjects).toBeGreaterThanOrEqual(least.ofProjects)
    })

    it('all have a part whose loss is found', () => {
      const nothing = createWireIndex('')
      for (const { id, body } of bodies) {
        const facts = factsOf(body)
        expect(facts.length, id).toBeGreaterThan(0)
        for (const fact of facts) expect(arrives(fact, nothing), `${id}: ${fact.kind}`).toBe(false)
      }
    })

    it.each(hosts.map(({ format }) => format))('arrive whole at %s', (format) => {
      const served = outcomes.filter(({ lost }) => lost.has(format))
      const shares = sharesOf(served, ({ lost }) => lost.get(format) === null, format)
      expect(shares.ofAll).toBeGreaterThanOrEqual(least.ofAll)
      expect(shares.ofProjects).toBeGreaterThanOrEqual(least.ofProjects)
    })
  },
)
