import { describe, expect, it } from 'vitest'
import { chatBody } from '../../src/gateway/apis/chat-completions/chat-body.ts'
import { embeddingBody } from '../../src/gateway/apis/embeddings/embedding-body.ts'
import { partsOf } from '../../src/gateway/conversation/index.ts'
import { readBody, readLongBody } from '../../src/platform/bodies/index.ts'
import type { ProviderRequest } from '../../src/gateway/providers/index.ts'
import { type ClientBody, hasClientBodies, readClientBodies } from '../harness/client-bodies.ts'

const least = 0.97

/** Share of accepted bodies, of all and as the mean over projects; prints the refused ones. */
function rateOf(family: string, read: (body: Buffer, one: ClientBody) => void) {
  const counts = new Map<string, { ok: number; all: number }>()
  for (const one of readClientBodies([family])) {
    const count = counts.get(one.repo) ?? { ok: 0, all: 0 }
    counts.set(one.repo, count)
    count.all++
    try {
      read(Buffer.from(JSON.stringify(one.body)), one)
      count.ok++
    } catch (error) {
      console.log(`${one.id}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  for (const [repo, { ok, all }] of counts) console.log(`${family} ${repo}: ${ok} of ${all}`)
  const rows = [...counts.values()]
  const sum = (key: 'ok' | 'all') => rows.reduce((total, row) => total + row[key], 0)
  return {
    ofAll: sum('ok') / sum('all'),
    ofProjects: rows.reduce((total, { ok, all }) => total + ok / all, 0) / rows.length,
  }
}

describe.skipIf(!hasClientBodies)(
  `recorded client bodies${hasClientBodies ? '' : ' (skipped: no shared data)'}`,
  () => {
    it('of chat completions are accepted, and nothing of their conversation is lost', () => {
      const rate = rateOf('chat', (bytes, { body }) => {
        const { request } = readBody(bytes, chatBody, 'json')
        expect(textsOf(request)).toEqual(textsSent(body))
        expect(request.tools ?? []).toEqual((body.tools ?? []).map(toTool))
        expect(callsOf(request)).toEqual(callsSent(body))
        expect(mediaOf(request)).toBe(mediaSent(body))
      })
      expect(rate.ofAll).toBeGreaterThanOrEqual(least)
      expect(rate.ofProjects).toBeGreaterThanOrEqual(least)
    })

    it('of chat completions are read the same in a thread, where long texts stay bytes', () => {
      for (const { body } of readClientBodies(['chat'])) {
        const bytes = () => Buffer.from(JSON.stringify(body))
        const { request, ignored } = readLongBody(bytes(), chatBody, 'json')
        const inPlace = readBody(bytes(), chatBody, 'json')
        expect(JSON.stringify(request)).toBe(JSON.stringify(inPlace.request))
        expect(ignored.toSorted()).toEqual(inPlace.ignored.toSorted())
      }
    })

    it('of embeddings are accepted', () => {
      const rate = rateOf('embeddings', (bytes, { body }) => {
        const { texts, tokens } = readBody(bytes, embeddingBody, 'json')
        expect(tokens ?? texts).toEqual(typeof body.input === 'string' ? [body.input] : body.input)
      })
      expect(rate.ofAll).toBeGreaterThanOrEqual(least)
      expect(rate.ofProjects).toBeGreaterThanOrEqual(least)
    })
  },
)

const textsOf = ({ messages }: ProviderRequest) =>
  messages.map(({ content }) =>
    partsOf(content)
      .map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text.toString() : ''))
      .join(''),
  )

// oxlint-disable-next-line typescript/no-explicit-any
type Sent = any

const textsSent = (body: Sent) =>
  body.messages.map(({ content }: Sent) =>
    [content ?? '']
      .flat()
      .map((part: Sent) => (typeof part === 'string' ? part : (part.text ?? '')))
      .join(''),
  )

const callsOf = ({ messages }: ProviderRequest) =>
  messages.flatMap(({ toolCalls = [], toolCallId }) => [
    ...toolCalls.map(({ id, name, argumentsJson }) => `${id} ${name} ${argumentsJson}`),
    ...(toolCallId === undefined ? [] : [`result of ${toolCallId}`]),
  ])

const callsSent = (body: Sent) =>
  body.messages.flatMap(({ tool_calls: calls, tool_call_id: id }: Sent) => [
    ...(calls ?? []).map((call: Sent) => `${call.id} ${call.function.name} ${call.function.arguments}`),
    ...(id === undefined ? [] : [`result of ${id}`]),
  ])

const isMedia = (type: string) => type !== 'text' && type !== 'refusal'
const mediaOf = ({ messages }: ProviderRequest) =>
  messages.flatMap(({ content }) => partsOf(content)).filter(({ type }) => isMedia(type)).length
const mediaSent = (body: Sent) =>
  body.messages
    .flatMap(({ content }: Sent) => (Array.isArray(content) ? content : []))
    .filter(({ type }: Sent) => isMedia(type)).length

const toTool = ({ function: { name, description, parameters, strict } }: Sent) => ({
  name,
  ...(typeof description === 'string' && { description }),
  parameters: parameters ?? { type: 'object', properties: {} },
  ...(typeof strict === 'boolean' && { strict }),
})
