import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { expectStatus, type SeparatePortico, startSeparatePortico, type TestOrganisation } from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/** No request blocks others: `/livez` answers within 100 ms while it is handled. */

const maximumBytes = 33 * 1024 * 1024
const maximumCharacters = 200_000

let upstream: Upstream
let portico: SeparatePortico
let organisation: TestOrganisation

beforeAll(async () => {
  upstream = await startUpstream(({ body }) => chatAnswer(String(Buffer.byteLength(body))))
  portico = await startSeparatePortico({
    settings: {
      providers: [{ id: 'wire', format: 'openai', baseUrl: upstream.url, apiKey: 'sk-test-0123456789' }],
      models: [
        {
          id: 'wire',
          contextTokens: 100_000_000,
          deployments: [{ provider: 'wire', prices: { input: '0.01', output: '0.01' } }],
        },
      ],
      ollama: { detect: false },
    },
  })
  organisation = await portico.createOrganisation({ monthlyBudgetUsd: '100000' })
})
afterAll(async () => {
  await portico?.stop()
  await upstream?.close()
})

const post = (body: Buffer | string) =>
  fetch(`${portico.url}/v1/gateway/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
    body: body as string,
  }).then(async (response) => {
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text) }
  })

/** A body of just under 33 MiB whose messages have the content `content`, as JSON. */
function fullBody(content: string): Buffer {
  const message = `{"role":"user","content":${content}}`
  const count = Math.min(1024, Math.floor((maximumBytes - 100) / (Buffer.byteLength(message) + 1)))
  return Buffer.from(`{"model":"wire","messages":[${Array(count).fill(message).join(',')}]}`)
}

const parts = `[${Array(1024).fill('{"type":"text","text":"a"}').join(',')}]`
/** The `content` of every message, as JSON. */
const legal: [string, string][] = [
  ['one letter', JSON.stringify('a'.repeat(maximumCharacters))],
  ['words', JSON.stringify('the roses in the garden '.repeat(8000))],
  ['emoji', JSON.stringify('😀'.repeat(maximumCharacters))],
  ['ideographs', JSON.stringify('漢字'.repeat(maximumCharacters / 2))],
  ['escapes of control characters', `"${String.raw`\u0001`.repeat(maximumCharacters)}"`],
  ['escaped halves of surrogate pairs', `"${String.raw`\ud800`.repeat(maximumCharacters)}"`],
  ['quotation marks', `"${String.raw`\"`.repeat(maximumCharacters)}"`],
  ['text parts', parts],
  ['text parts with fields that are ignored', parts.replaceAll('"a"}', '"a","cache_control":{"type":"ephemeral"}}')],
]

describe('a legal body of 33 MiB leaves the event loop free', () => {
  it.each(legal)('%s', async (_name, content) => {
    const body = fullBody(content)
    const answer = await expectResponsive(portico, () => post(body))
    expect(expectStatus(answer, 200).choices).toHaveLength(1)
  })

  it.each([
    ['zeros', `[${'0,'.repeat(16_000_000)}0]`],
    ['objects', `[${'{},'.repeat(10_000_000)}{}]`],
    ['keys', `{${'"a":0,'.repeat(5_000_000)}"a":0}`],
    ['white space', ' '.repeat(30_000_000) + '0'],
  ])('an unknown field full of %s, which is ignored', async (_name, value) => {
    const body = Buffer.from(`{"model":"wire","unknown":${value},"messages":[{"role":"user","content":"Hello."}]}`)
    const answer = await expectResponsive(portico, () => post(body))
    expectStatus(answer, 200)
    expect(answer.headers.get('x-ignored-params')).toBe('unknown')
  })
})

describe('a body beyond a limit is refused at once, naming field and limit', () => {
  const hello = '{"role":"user","content":"Hello."}'
  it.each<[string, string, number, string | null, RegExp]>([
    [
      'parts',
      `{"model":"wire","messages":[{"role":"user","content":[${'0,'.repeat(16_000_000)}0]}]}`,
      400,
      'messages.0.content',
      /1024/,
    ],
    ['messages', `{"model":"wire","messages":[${`${hello},`.repeat(1024)}${hello}]}`, 400, 'messages', /1024/],
    [
      'metadata pairs',
      `{"model":"wire","messages":[${hello}],"metadata":{${'"a":"b",'.repeat(2_000_000)}"a":"b"}}`,
      400,
      'metadata',
      /16/,
    ],
    ['nesting', `{"model":"wire","messages":[${hello}],"stop":${'['.repeat(10_000_000)}`, 400, 'stop', /32/],
    ['nesting of an unknown field', `{"x":${'{"a":'.repeat(5_000_000)}`, 400, 'x', /32/],
    [
      'values',
      `{"model":"wire","messages":[${hello}],"stop":[${'[[],[],[],[],[],[],[]],'.repeat(1_000_000)}0]}`,
      400,
      'stop',
      /./,
    ],
    ['bytes', `{"model":"wire","messages":[${hello}],"x":"${'x'.repeat(maximumBytes)}"}`, 413, null, /34603008/],
  ])('%s', async (_name, text, status, param, limit) => {
    const body = Buffer.from(text)
    const answer = await expectResponsive(portico, () => post(body))
    const { error } = expectStatus(answer, status)
    expect(error).toMatchObject({ param, message: expect.stringMatching(limit) })
    expect(JSON.stringify(answer.body).length).toBeLessThan(1000)
  })
})
