import { describe, expect, test } from 'vitest'
import { shopFile } from '../../../test/harness/tool-services.ts'
import type { ToolCredential } from '../../contract/space-tools.ts'
import { callAction } from './http-action.ts'
import { readOpenapi } from './openapi/read-openapi.ts'
import { answerLimits } from './tool-answer.ts'
import type { ReadTools } from './tool-server.ts'

const { tools } = readOpenapi(shopFile) as ReadTools

interface Sent {
  url: string
  init: RequestInit
}

/** Calls an operation of the shop; `sent` has its request. */
async function call(
  name: string,
  given: Record<string, unknown>,
  reply: () => Response = () => Response.json({ ok: true }),
  credential: ToolCredential | null = null,
) {
  const sent: Sent[] = []
  const answer = await callAction({
    url: 'https://shop.example/api/v1/',
    request: tools.find((tool) => tool.name === name)!.request!,
    credential,
    given,
    fetch: (async (url: string, init: RequestInit) => {
      sent.push({ url, init })
      return reply()
    }) as typeof fetch,
    signal: new AbortController().signal,
  })
  return { answer, sent: sent[0] }
}

test('arguments go to their places below the address', async () => {
  const { sent } = await call('getOrder', { orderId: 'a/b c', fields: ['x', 'y&z'], 'X-Region': 'eu' })
  expect(sent!.url).toBe('https://shop.example/api/v1/orders/a%2Fb%20c?fields=x&fields=y%26z')
  expect(sent!.init).toMatchObject({ method: 'GET', redirect: 'manual', headers: { 'x-region': 'eu' } })
  const created = await call('createOrder', { body: { item: 'hat' } })
  expect(created.sent!.init).toMatchObject({
    method: 'POST',
    body: '{"item":"hat"}',
    headers: { 'content-type': 'application/json' },
  })
})

test.each([
  ['getOrder', { orderId: '..' }, 'orderId must not be empty'],
  ['getOrder', { orderId: '' }, 'orderId must not be empty'],
  ['getOrder', {}, 'orderId is required'],
  ['getOrder', { orderId: '1', other: 1 }, 'There is no argument other'],
  ['getOrder', { orderId: '1', 'X-Region': 'eu\r\nx: y' }, 'ASCII'],
  ['createOrder', {}, 'body is required'],
])('%s with %j sends nothing', async (name, given, problem) => {
  const { answer, sent } = await call(name, given)
  expect(sent).toBeUndefined()
  expect(answer).toEqual({ problem: expect.stringContaining(problem) })
})

test.each<[ToolCredential, object]>([
  [{ kind: 'bearer', token: 'secret' }, { authorization: 'Bearer secret' }],
  [{ kind: 'header', name: 'x-key', value: 'secret' }, { 'x-key': 'secret' }],
  [{ kind: 'basic', username: 'me', password: 'secret' }, { authorization: `Basic ${btoa('me:secret')}` }],
])('the credential %j is sent, and is not in what the service repeats', async (credential, headers) => {
  const echo = () => Response.json(headers)
  const { answer, sent } = await call('getOrder', { orderId: '1' }, echo, credential)
  expect(sent!.init.headers).toMatchObject(headers)
  for (const secret of ['secret', btoa('me:secret')]) expect(JSON.stringify(answer)).not.toContain(secret)
})

describe('an answer', () => {
  const answerTo = async (reply: () => Response) => (await call('getOrder', { orderId: '1' }, reply)).answer

  test('is cut at its limit', async () => {
    const answer = await answerTo(() => new Response('x'.repeat(1_000_000)))
    expect(answer).toEqual({ text: 'x'.repeat(answerLimits.characters), isCut: true })
  })

  test('that does not end is received up to the limit', async () => {
    let cancelled = false
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('y'.repeat(10_000))),
      cancel: () => void (cancelled = true),
    })
    expect(await answerTo(() => new Response(endless))).toMatchObject({ isCut: true })
    expect(cancelled).toBe(true)
  })

  test.each([
    [302, { location: 'http://10.0.0.1/' }, 'a redirect (302)'],
    [200, { 'content-type': 'image/png' }, 'no text'],
    [500, { 'content-type': 'text/html' }, 'the status 500'],
  ])('with status %i is a problem', async (status, headers, problem) => {
    const answer = await answerTo(() => new Response('x', { status, headers: headers as Record<string, string> }))
    expect(answer).toMatchObject({ problem: expect.stringContaining(problem) })
  })

  test('of an error quotes its beginning', async () => {
    const answer = await answerTo(() => new Response('e'.repeat(2_000), { status: 422 }))
    expect(answer).toEqual({ problem: expect.any(String), quoted: 'e'.repeat(answerLimits.problem) })
  })
})
