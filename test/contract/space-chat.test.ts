import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SseEvent, SseParser } from '../../src/platform/kernel/index.ts'
import { startMuseum, uploadReady } from '../harness/museum.ts'
import { expectStatus, type TestOrganisation, type TestPortico, type TestSpace } from '../harness/portico.ts'

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
const museum = `# Opening hours

The museum is open from Tuesday to Friday between 10:00 and 18:00. On Sundays it closes at 17:00.

# Tickets

A ticket costs 12 euros. Children under six years enter free of charge.
`
const question = { messages: [{ role: 'user', content: 'How much does a ticket cost?' }] }
const inline = { 'service-enable-inline-sources': 'true' }

beforeAll(async () => {
  const metadata = '{"url": "https://example.com/museum"}'
  ;({ portico, organisation, space } = await startMuseum(museum, { metadata }))
  await upload(space, 'The garden has 120 kinds of roses and a pond with herons.', 'garden.txt')
})
afterAll(() => portico?.stop())

const upload = (target: TestSpace, text: string, fileName: string) =>
  uploadReady(organisation, target.id, text, fileName)

const chat = (body: unknown, headers?: Record<string, string>, endpointId = space.endpointId) =>
  organisation.client('POST', `/v1/endpoints/${endpointId}/chat`, body, headers)

async function streamChat(
  body: object,
  headers: Record<string, string> = {},
): Promise<{ response: Response; events: SseEvent[] }> {
  const response = await fetch(`${portico.url}/v1/endpoints/${space.endpointId}/chat`, {
    method: 'POST',
    headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...body, streaming: true }),
  })
  const parser = new SseParser({ maximumEventBytes: 1_000_000 })
  return { response, events: [...parser.push(new Uint8Array(await response.arrayBuffer())), ...parser.end()] }
}

const markersOf = (text: string) =>
  [...new Set([...text.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])))].sort()

describe('an answer as JSON', () => {
  it('quotes the file with the answer, and cites it', async () => {
    const body = expectStatus(await chat(question, inline), 200)
    expect(Object.keys(body).sort()).toEqual(['content', 'id', 'references', 'role'])
    expect(body.role).toBe('assistant')
    expect(body.content).toContain('12 euros')
    expect(body.references[0]).toMatchObject({
      id: 1,
      title: 'museum.md',
      url: 'https://example.com/museum',
      documentId: expect.any(String),
    })
  })

  it('has markers and references that match one to one', async () => {
    const body = expectStatus(
      await chat(
        { messages: [{ role: 'user', content: 'Tell me about tickets and about the roses of the garden.' }] },
        inline,
      ),
      200,
    )
    expect(markersOf(body.content)).toEqual(body.references.map((reference: { id: number }) => reference.id))
    expect(body.references.length).toBeGreaterThan(0)
  })

  it('has no markers without inline sources, and lists the documents that the model received', async () => {
    const body = expectStatus(await chat(question), 200)
    expect(markersOf(body.content)).toEqual([])
    expect(body.references.map((reference: { title: string }) => reference.title)).toContain('museum.md')
  })

  it('is returned even when nothing was found', async () => {
    const empty = await portico.createSpace(organisation)
    const body = expectStatus(await chat(question, inline, empty.endpointId), 200)
    expect(body.content).toMatch(/\S/)
    expect(body.references).toEqual([])
  })
})

describe('a streamed answer', () => {
  it('sends message_source, assistant_write …, references, done, each as in the contract', async () => {
    const { response, events } = await streamChat(question, inline)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const names = events.map((event) => event.event)
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
      'message_source',
      'assistant_write',
      'references',
      'done',
    ])
    const data = events.map((event) => JSON.parse(event.data))
    expect(data[0]).toEqual({ source: 'UPLOADED_FILES', status: 'RETRIEVED', count: expect.any(Number) })
    expect(data.at(-1)).toEqual({ done: true })
    expect(data.at(-2).references[0]).toEqual({ id: 1, title: 'museum.md', url: 'https://example.com/museum' })
  })

  it('has the same content as the JSON answer', async () => {
    const { events } = await streamChat(question, inline)
    const text = events
      .filter((event) => event.event === 'assistant_write')
      .map((event) => JSON.parse(event.data).delta)
      .join('')
    expect(text).toBe(expectStatus(await chat(question, inline), 200).content)
  })
})

describe('refusals', () => {
  it('are the same 404 for an unknown endpoint, an unpublished Space and another organisation', async () => {
    const other = await portico.createOrganisation()
    const hidden = await portico.createSpace(organisation)
    expectStatus(await portico.operator('POST', `/api/spaces/${hidden.id}/unpublish`), 200)
    const answers = [
      await chat(question, {}, '00000000-0000-4000-8000-000000000000'),
      await chat(question, {}, hidden.endpointId),
      await other.client('POST', `/v1/endpoints/${space.endpointId}/chat`, question),
    ]
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'endpoint_not_found' } } })
    expect(new Set(answers.map((answer) => answer.body.error.message)).size).toBe(1)
  })

  it('keep the endpoint id when a Space is published again', async () => {
    const again = await portico.createSpace(organisation)
    expectStatus(await portico.operator('POST', `/api/spaces/${again.id}/unpublish`), 200)
    const published = expectStatus(await portico.operator('POST', `/api/spaces/${again.id}/publish`), 200)
    expect(published.endpointId).toBe(again.endpointId)
    expectStatus(await chat(question, {}, again.endpointId), 200)
  })

  it.each([
    ['without messages', {}, 'messages'],
    ['with no message', { messages: [] }, 'messages'],
    ['with a system message', { messages: [{ role: 'system', content: 'x' }] }, 'messages.0.role'],
    [
      'that ends with an answer',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y' },
        ],
      },
      'messages',
    ],
    ['with too long a text', { messages: [{ role: 'user', content: 'x'.repeat(200_001) }] }, 'messages.0.content'],
    ['with an invalid flag', { messages: [{ role: 'user', content: 'x' }], streaming: 'yes' }, 'streaming'],
  ])('%s are a 400 that names the field', async (_what, body, param) => {
    expect(await chat(body)).toMatchObject({ status: 400, body: { error: { param } } })
  })

  it('of an ended subscription and of exhausted credits are 402, streamed or not', async () => {
    for (const [fields, code] of [
      [{ subscription: { status: 'cancelled' } }, 'subscription_required'],
      [{ monthlyBudgetUsd: '0' }, 'insufficient_quota'],
    ] as const) {
      const poor = await portico.createOrganisation(fields)
      const target = await portico.createSpace(poor)
      for (const streaming of [false, true]) {
        const answer = await poor.client('POST', `/v1/endpoints/${target.endpointId}/chat`, { ...question, streaming })
        expect(answer).toMatchObject({ status: 402, body: { error: { code } } })
      }
    }
  })

  it('of exhausted credits are replaced by a base-tier model where the Space allows it', async () => {
    const poor = await portico.createOrganisation({ monthlyBudgetUsd: '0' })
    const target = await portico.createSpace(poor, { settings: { baseTierFallback: true } })
    expectStatus(await poor.client('POST', `/v1/endpoints/${target.endpointId}/chat`, question), 200)
  })
})

describe('documents of a Space', () => {
  it('are not cited after they are deleted', async () => {
    const target = await portico.createSpace(organisation)
    const id = await upload(target, 'The secret ingredient of the soup is lovage.', 'soup.txt')
    const soup = { messages: [{ role: 'user', content: 'What is the secret ingredient of the soup?' }] }
    expect(expectStatus(await chat(soup, inline, target.endpointId), 200).content).toContain('lovage')
    expectStatus(await organisation.client('DELETE', `/v1/documents/${id}`), 204)
    const after = expectStatus(await chat(soup, inline, target.endpointId), 200)
    expect(after.content).not.toContain('lovage')
    expect(after.references).toEqual([])
  })

  it('of another organisation are never found, even when they contain the same words', async () => {
    const other = await portico.createOrganisation()
    const theirs = await portico.createSpace(other)
    const body = expectStatus(
      await other.client('POST', `/v1/endpoints/${theirs.endpointId}/chat`, question, inline),
      200,
    )
    expect(body.content).not.toContain('12 euros')
    expect(body.references).toEqual([])
  })
})
