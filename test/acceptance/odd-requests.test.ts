import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createApiClient,
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** Requests that no SDK sends: each response has its status, the standard error body and an x-request-id. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation)
})
afterAll(() => portico?.stop())

interface RawAnswer {
  status: number
  headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

/** Sends raw bytes and reads the first response to its end; the connection is closed by the server or after the response. */
function raw(text: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(portico.url)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(text))
    let received = ''
    const parse = (ended: boolean) => {
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return ended && reject(new Error(`no answer: ${received}`))
      const [line = '', ...lines] = received.slice(0, end).split('\r\n')
      const headers = Object.fromEntries(lines.map((one) => one.split(/: (.*)/s).slice(0, 2)))
      const lower = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]),
      )
      const body = received.slice(end + 4)
      if (!ended && Buffer.byteLength(body) < Number(lower['content-length'] ?? Infinity)) return
      resolve({ status: Number(line.split(' ')[1]), headers: lower, body: body === '' ? '' : JSON.parse(body) })
      socket.destroy()
    }
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      parse(false)
    })
    socket.on('end', () => parse(true))
    socket.on('error', reject)
  })
}

function expectError(answer: RawAnswer, status: number) {
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  expect(answer.headers['x-request-id']).toMatch(/^req_/)
  expect(answer.headers['content-type']).toContain('application/json')
  expect(Object.keys(answer.body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|FST_|at \w+ \(/)
}

const key = () => `x-api-key: ${organisation.apiKey}\r\n`
const long = 'x'.repeat(5000)

describe('what is not HTTP, or not supported by this server', () => {
  it.each<[string, () => string, number]>([
    ['no HTTP at all', () => 'hello\r\n\r\n', 400],
    ['a method that does not exist', () => `BREW / HTTP/1.1\r\nhost: x\r\n${key()}\r\n`, 400],
    [
      'a wrong content-length',
      () => `POST /v1/documents HTTP/1.1\r\nhost: x\r\n${key()}content-length: 1x\r\n\r\n`,
      400,
    ],
    [
      'two content-lengths',
      () => 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
    ],
    [
      'content-length and chunks',
      () => 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['a header without a name', () => 'GET / HTTP/1.1\r\nhost: x\r\n: y\r\n\r\n', 400],
    ['headers that are too long', () => `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['an address that is too long', () => `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    ['no host', () => `GET / HTTP/1.1\r\n${key()}\r\n`, 400],
    [
      'an expectation other than 100-continue',
      () => `GET / HTTP/1.1\r\nhost: x\r\nexpect: a miracle\r\n${key()}\r\n`,
      417,
    ],
    ['a tunnel', () => 'CONNECT example.org:443 HTTP/1.1\r\nhost: example.org\r\n\r\n', 405],
    ['TRACE', () => `TRACE / HTTP/1.1\r\nhost: x\r\n${key()}\r\n`, 405],
    ['a malformed percent-encoding', () => `GET /v1/documents/%zz HTTP/1.1\r\nhost: x\r\n${key()}\r\n`, 400],
    ['a percent-encoding that is no UTF-8', () => `GET /v1/documents/%ff HTTP/1.1\r\nhost: x\r\n${key()}\r\n`, 400],
    ['an over-long unknown path', () => `GET /${long} HTTP/1.1\r\nhost: x\r\n\r\n`, 404],
    ['two hosts', () => `GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n${key()}\r\n`, 400],
    ['a host with user information', () => 'GET /api/auth/get-session HTTP/1.1\r\nhost: x@y\r\n\r\n', 400],
    [
      'a body that waits for the status 100, without a valid key',
      () => 'POST /v1/documents?spaceId=x HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n',
      401,
    ],
    [
      'a sign-in whose body waits for the status 100, without an origin',
      () => 'POST /api/auth/sign-in/email HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n',
      403,
    ],
    ['U+0000 in a path', () => `GET /v1/documents/a%00b HTTP/1.1\r\nhost: x\r\n${key()}\r\n`, 404],
  ])('%s', async (_name, text, status) => {
    expectError(await raw(text()), status)
  })

  it('serves HTTP/1.0 without a host, and handles an upgrade as an ordinary request', async () => {
    expect((await raw(`GET / HTTP/1.0\r\n${key()}\r\n`)).status).toBe(200)
    const upgrade = `GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n${key()}\r\n`
    expect((await raw(upgrade)).status).toBe(200)
  })
})

describe('a file of the console or of the API page', () => {
  const paths = [
    '..%5c..%5cpackage.json',
    '..%2f..%2fpackage.json',
    '%5c',
    '..%5c',
    '.%5c.',
    'a%5c..%5c..%5cb',
    '%2e%2e%5c',
    '.env',
    'x'.repeat(3000),
  ]
  it.each(['/console/assets', '/docs/static'].flatMap((folder) => paths.map((name) => `${folder}/${name}`)))(
    'does not exist at %s',
    async (path) => {
      for (const method of ['GET', 'HEAD']) {
        const { status } = await fetch(portico.url + path, { method })
        expect(status, method).toBe(404)
      }
    },
  )

  it('is not sent in a range or a version that it does not have', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await fetch(`${portico.url}/docs/static/swagger-ui.css`, { headers })).status
    expect(await ask({ range: 'bytes=99999999-' })).toBe(416)
    expect(await ask({ 'if-match': '"x"' })).toBe(400)
    expect(await ask({ 'if-unmodified-since': 'Mon, 02 Jan 2006 15:04:05 GMT' })).toBe(400)
  })
})

describe('an over-long path parameter', () => {
  it.each([
    ['GET', '/v1/documents/{}'],
    ['PATCH', '/v1/documents/{}'],
    ['DELETE', '/v1/documents/{}'],
    ['POST', '/v1/endpoints/{}/chat'],
    ['GET', '/v1/gateway/models/{}'],
  ])('%s %s is 404 with the key and 401 without', async (method, path) => {
    const body =
      method === 'GET' || method === 'DELETE' ? undefined : { name: 'x', messages: [{ role: 'user', content: 'x' }] }
    for (const id of [long, 'x'.repeat(201), 'x'.repeat(12_000)]) {
      const target = path.replace('{}', id)
      const known = await organisation.client(method, target, body)
      expectStatus(known, 404)
      expect(JSON.stringify(known.body).length).toBeLessThan(1000)
      expectStatus(await createApiClient(portico.url, 'ptc_wrong')(method, target, body), 401)
    }
  })

  it.each([
    ['GET', '/api/organisations/{}'],
    ['GET', '/api/organisations/{}/budget'],
    ['GET', '/api/spaces/{}'],
    ['POST', '/api/spaces/{}/publish'],
    ['GET', '/api/spaces/{}/documents'],
    ['GET', '/api/documents/{}/chunks'],
    ['GET', '/api/usage/{}'],
    ['DELETE', '/api/models/{}'],
    ['GET', '/api/providers/{}'],
    ['DELETE', '/api/providers/{}'],
    ['DELETE', '/api/deployments/x/prices/{}'],
    ['DELETE', '/api/deployments/{}'],
    ['GET', '/api/deployments/{}/prices'],
  ])('%s %s is 404 for the operator and 401 for others', async (method, path) => {
    for (const id of [long, encodeURIComponent('a\u0000b'), encodeURIComponent("x' or 1=1 --")]) {
      expectStatus(await portico.operator(method, path.replace('{}', id)), 404)
      expectStatus(await organisation.client(method, path.replace('{}', id)), 401)
    }
  })
})

describe('a path with another method', () => {
  it.each([
    ['DELETE', '/v1/documents', 'GET, POST'],
    ['POST', '/v1/documents/0198a7ee-0000-7000-8000-000000000000', 'DELETE, GET, PATCH'],
    ['PUT', '/v1/endpoints/x/chat', 'POST'],
    ['POST', '/livez', 'GET'],
  ])('%s %s is 405 with `allow`', async (method, path, allow) => {
    const answer = await organisation.client(method, path, {})
    expect(expectStatus(answer, 405).error.code).toBe('method_not_allowed')
    expect(answer.headers.get('allow')).toBe(allow)
  })
})

describe('an organisation without the gateway', () => {
  it.each([
    ['GET', '/v1/gateway/models'],
    ['POST', '/v1/gateway/chat/completions'],
    ['GET', '/v1/gateway/chat/completions'],
    ['DELETE', '/v1/gateway/models'],
    ['GET', '/v1/gateway'],
    ['GET', '/v1/gateway/'],
    ['GET', '/v1/gateway/nothing/at/all'],
    ['GET', '/v1/%67ateway/nothing'],
    ['POST', '/v1/gateway/models/x'],
  ])('gets 403 for %s %s, after the 401', async (method, path) => {
    const closed = await portico.createOrganisation({ gatewayEnabled: false })
    const body = method === 'GET' ? undefined : {}
    expect(expectStatus(await closed.client(method, path, body), 403).error.code).toBe('gateway_not_enabled')
    expectStatus(await createApiClient(portico.url, 'ptc_wrong')(method, path, body), 401)
  })
})

describe('two credentials that differ', () => {
  it.each<[string, (key: string, other: string) => string]>([
    ['x-api-key twice', (one, other) => `x-api-key: ${one}\r\nx-api-key: ${other}`],
    ['x-api-key joined by a proxy', (one, other) => `x-api-key: ${one}, ${other}`],
    ['authorization twice', (one, other) => `authorization: Bearer ${one}\r\nauthorization: Bearer ${other}`],
    ['authorization joined by a proxy', (one, other) => `authorization: Bearer ${one}, Bearer ${other}`],
    ['x-api-key and authorization', (one, other) => `x-api-key: ${one}\r\nauthorization: Bearer ${other}`],
    ['x-api-key and another scheme', (one, other) => `x-api-key: ${one}\r\nauthorization: Basic ${other}`],
  ])('%s are 401, in either order', async (_name, headers) => {
    const other = (await portico.createOrganisation()).apiKey
    for (const [one, two] of [
      [organisation.apiKey, other],
      [organisation.apiKey, 'ptc_wrong'],
      ['ptc_wrong', organisation.apiKey],
    ] as const) {
      expectError(await raw(`GET / HTTP/1.1\r\nhost: x\r\n${headers(one, two)}\r\n\r\n`), 401)
    }
  })

  it('are accepted when they are equal', async () => {
    const { apiKey } = organisation
    for (const headers of [
      `x-api-key: ${apiKey}\r\nX-API-Key: ${apiKey}`,
      `x-api-key: ${apiKey}, ${apiKey}`,
      `x-api-key: ${apiKey}\r\nauthorization: bearer ${apiKey}`,
      `x-api-key: ${apiKey}\r\nauthorization: Bearer `,
    ]) {
      expect((await raw(`GET / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`)).status, headers).toBe(200)
    }
  })
})

describe('bodies', () => {
  const completion = { model: 'portico/offline', messages: [{ role: 'user', content: 'Hello.' }] }

  it.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity'])('with content-encoding %s are 415', async (encoding) => {
    const answer = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json', 'content-encoding': encoding },
      body: gzipSync(JSON.stringify(completion)),
    })
    const { error } = (await answer.json()) as { error: { message: string } }
    expect(answer.status).toBe(415)
    expect(error).toMatchObject({ param: 'content-encoding', message: expect.stringContaining('without compression') })
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'with the unknown field %s are accepted, and the field is named',
    async (field) => {
      const text = JSON.stringify(completion).replace(
        '{',
        `{${JSON.stringify(field)}:{"constructor":{"prototype":{"x":1}}},`,
      )
      const post = (path: string, body: string) =>
        fetch(portico.url + path, {
          method: 'POST',
          headers: { 'x-api-key': organisation.apiKey, 'content-type': 'application/json' },
          body,
        })
      const answer = await post('/v1/gateway/chat/completions', text)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-ignored-params')).toBe(field)
      expect((await post(`/v1/endpoints/${space.endpointId}/chat`, text)).status).toBe(200)
      expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    },
  )

  it('for an unknown path are not read', async () => {
    const answer = await organisation.client('POST', '/v1/nothing', 'x'.repeat(100), { 'content-type': 'text/xml' })
    expectStatus(answer, 404)
  })

  it('that are refused while they still arrive let the client read the response', async () => {
    const refused = await fetch(`${portico.url}/v1/gateway/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': 'ptc_wrong', 'content-type': 'application/json' },
      body: 'x'.repeat(30_000_000),
    })
    expect(refused.status).toBe(401)
  })
})

describe('headers for browsers', () => {
  const policyOf = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(portico.url + path, { headers })
    return {
      status: answer.status,
      policy: answer.headers.get('content-security-policy') ?? '',
      frames: answer.headers.get('x-frame-options'),
      sniffing: answer.headers.get('x-content-type-options'),
      caching: answer.headers.get('cache-control') ?? '',
    }
  }

  it('forbid frames and foreign scripts for the API page', async () => {
    for (const path of ['/docs', '/docs/', '/docs/static/index.html']) {
      const page = await policyOf(path)
      expect(page).toMatchObject({ status: 200, frames: 'DENY', sniffing: 'nosniff' })
      expect(page.policy).toMatch(/frame-ancestors 'none'/)
      expect(page.policy).toMatch(/script-src 'self'(;|$)/)
    }
  })

  it('forbid caching of responses to a key or the token, errors included', async () => {
    const operator = { authorization: `Bearer ${portico.operatorToken}` }
    const client = { 'x-api-key': organisation.apiKey }
    for (const [path, headers] of [
      ['/api/organisations', operator],
      ['/api/providers', operator],
      ['/v1/documents?spaceId=' + space.id, client],
      ['/v1/gateway/models', client],
      ['/api/organisations', {}],
    ] as const) {
      const answer = await policyOf(path, headers)
      expect(answer, path).toMatchObject({ caching: 'no-store', sniffing: 'nosniff', frames: 'DENY' })
    }
  })
})

describe('keys of providers', () => {
  it.each(['sk-a\nb', 'sk-a\u0001', 'sk-a b', 'sk-ü', 'sk-a\r\n'])(
    'with %j are refused and not quoted',
    async (apiKey) => {
      const body = { format: 'openai', baseUrl: 'https://example.org', apiKey }
      const { error } = expectStatus(await portico.operator('PUT', '/api/providers/with-key', body), 400)
      expect(error).toMatchObject({ param: 'apiKey', message: expect.stringContaining('visible ASCII') })
      expect(error.message).not.toContain('sk-')
    },
  )

  it('in extra headers are refused when they would break the header', async () => {
    const body = { format: 'openai', baseUrl: 'https://example.org', headers: { 'x-a': 'b\r\nx-forged: 1' } }
    const { error } = expectStatus(await portico.operator('PUT', '/api/providers/with-key', body), 400)
    expect(error.param).toBe('headers.x-a')
  })
})

describe('texts that PostgreSQL cannot store', () => {
  it.each([
    ['U+0000', 'a\u0000b'],
    ['half of a surrogate pair', 'a\ud800b'],
  ])('%s in a field of the operator is 400 naming the field', async (_name, text) => {
    const { id } = organisation
    const attempts: [string, string, Record<string, unknown>, string][] = [
      ['POST', '/api/organisations', { name: text }, 'name'],
      ['PATCH', `/api/organisations/${id}`, { disabledModels: ['a', text] }, 'disabledModels.1'],
      ['PATCH', `/api/organisations/${id}`, { timeZone: text }, 'timeZone'],
      ['POST', '/api/spaces', { organisationId: id, name: text }, 'name'],
      ['PATCH', `/api/spaces/${space.id}`, { instructions: text }, 'instructions'],
      ['PATCH', `/api/spaces/${space.id}`, { model: text }, 'model'],
      ['PUT', `/api/organisations/${id}/webhook`, { url: 'https://example.org', secret: text.repeat(10) }, 'secret'],
      ['PUT', '/api/providers/p', { format: 'openai', baseUrl: 'https://example.org', project: text }, 'project'],
      ['PUT', '/api/models/m', { ownedBy: text }, 'ownedBy'],
    ]
    for (const [method, path, body, param] of attempts) {
      const { error } = expectStatus(await portico.operator(method, path, body), 400)
      expect(error.param, path).toBe(param)
    }
  })

  it('are handled in queries, names and conversations', async () => {
    expect(expectStatus(await portico.operator('GET', '/api/organisations?search=%00'), 400).error.param).toBe('search')
    expect(expectStatus(await organisation.client('GET', '/v1/documents?spaceId=%00'), 400).error.param).toBe('spaceId')
    for (const content of ['What about \u0000 this?', 'and \ud800 that']) {
      const messages = [{ role: 'user', content }]
      expectStatus(await organisation.client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }), 200)
      expectStatus(
        await organisation.client('POST', '/v1/gateway/chat/completions', {
          model: 'portico/offline',
          messages,
          user: content,
        }),
        200,
      )
      const unknown = await organisation.client('POST', '/v1/gateway/chat/completions', { model: content, messages })
      expectStatus(unknown, 404)
    }
  })
})
