import { randomUUID } from 'node:crypto'
import { SseParser } from '../../src/platform/kernel/index.ts'
import { type ApiAnswer, createApiClient, expectStatus, type TestPortico, type TestSpace } from './portico.ts'
import type { ChatEvent } from './scripted-space.ts'

/** Websites of Spaces, and visitors of them as their browsers call the server. */

let sites = 0

/** Sets the site of a Space up; resolves to its name. */
export async function openSite(
  { operator }: Pick<TestPortico, 'operator'>,
  space: Pick<TestSpace, 'id'>,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const name = `site-${++sites}-${randomUUID().slice(0, 8)}`
  const body = { enabled: true, name, title: 'Museum', dailyCapUsd: '1', ...fields }
  return expectStatus(await operator('PUT', `/api/spaces/${space.id}/site`, body), 200).site.name as string
}

export interface Visitor {
  visitorId: string
  session: string
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>
  /** A whole answer. */
  ask(question?: string): Promise<ApiAnswer>
  /** A streamed answer, to its end. */
  stream(question?: string, signal?: AbortSignal): Promise<{ requestId: string; status: number; events: ChatEvent[] }>
}

export const museumQuestion = 'What do tickets cost at the museum?'

export async function openVisit(url: string, name: string, fields: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return createApiClient(url, '')(
    'POST',
    `/s/${name}/session`,
    { visitorId: randomUUID(), ...fields },
    { authorization: '' },
  )
}

/** A browser with a session. */
export async function enterSite(url: string, name: string, fields: Record<string, unknown> = {}): Promise<Visitor> {
  const visitorId = randomUUID()
  const { session } = expectStatus(await openVisit(url, name, { visitorId, ...fields }), 200)
  const client = createApiClient(url, session)
  const call: Visitor['call'] = (method, path, body, headers) => client(method, `/s/${name}${path}`, body, headers)
  const messagesOf = (content: string) => [{ role: 'user', content }]
  return {
    visitorId,
    session,
    call,
    ask: (question = museumQuestion) => call('POST', '/chat', { messages: messagesOf(question) }),
    async stream(question = museumQuestion, signal) {
      const response = await fetch(`${url}/s/${name}/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: messagesOf(question), streaming: true }),
        ...(signal && { signal }),
      })
      const parser = new SseParser({ maximumEventBytes: 10_000_000 })
      const parsed = response.ok ? [...parser.push(new Uint8Array(await response.arrayBuffer())), ...parser.end()] : []
      return {
        requestId: response.headers.get('x-request-id')!,
        status: response.status,
        events: parsed.map(({ event, data }) => ({ event, data: JSON.parse(data) })),
      }
    },
  }
}
