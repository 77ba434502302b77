import { readdirSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPerson, openBrowser } from '../harness/people.ts'
import { type GatewayStage, stagePrices, startGatewayStage } from '../harness/gateway-stage.ts'
import { createApiClient, expectStatus, type TestSpace, uploadForm, waitForDocument } from '../harness/portico.ts'
import { chatAnswer } from '../upstream/replies.ts'
import { scriptedTurn } from '../upstream/scripted-model.ts'
import { startUpstream, type Upstream } from '../upstream/upstream.ts'

/**
 * Holes that were published for other model gateways and document services, as requests to the whole service. docs/operate/security.md names the
 * defences.
 */

let stage: GatewayStage
let trap: Upstream
let space: TestSpace
const sent = (): string =>
  (stage.calls('m').at(-1)!.body.messages as { content: string }[]).map(({ content }) => content).join('\n')

beforeAll(async () => {
  trap = await startUpstream(() => ({ headers: { 'content-type': 'application/json' }, body: '{}' }))
  stage = await startGatewayStage({
    settings: (baseUrl) => ({
      providers: [
        { id: 'p', flavour: 'generic', baseUrl, apiKey: 'sk-of-the-provider', hosting: 'us', models: 'declared' },
      ],
      models: [
        {
          id: 'm',
          maxOutputTokens: 1_000,
          contextTokens: 100_000,
          deployments: [{ provider: 'p', prices: stagePrices }],
        },
      ],
    }),
  })
  stage.upstream.script(({ body }) =>
    JSON.parse(body).stream ? scriptedTurn('An answer.', 10, 10) : chatAnswer('An answer.'),
  )
  space = await stage.portico.createSpace(stage.organisation, { model: 'm', instructions: 'Instructions {{7*191}}.' })
})
afterAll(async () => {
  await stage?.stop()
  await trap?.close()
})

/** The status of a request that is sent as it is. */
function rawStatus(lines: string[]): Promise<number> {
  const { hostname, port } = new URL(stage.portico.url)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n`))
    socket.once('data', (bytes: Buffer) => {
      resolve(Number(bytes.toString().split(' ')[1]))
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(0))
  })
}

/** CVE-2026-42208: the key of a request was pasted into a query. */
describe('SQL in a credential', () => {
  const payloads = [
    "' OR '1'='1",
    "ptc_' OR 1=1 --",
    "x'; UPDATE people SET is_operator = true; --",
    "'||(SELECT pg_sleep(3600))||'",
    "' UNION SELECT * FROM api_keys --",
    String.raw`\x27 OR true`,
    "$1' OR $2",
  ]
  const addresses = ['/', '/v1/gateway/models', '/v1/documents', '/v1/gateway/none', '/api/organisations', '/api/audit']

  test.each(payloads)('is an invalid key: %s', async (payload) => {
    for (const address of addresses) {
      for (const headers of [{ authorization: `Bearer ${payload}` }, { 'x-api-key': payload }]) {
        const answer = await openBrowser(stage.portico.url).call('GET', address, undefined, headers as never)
        expect([address, answer.status]).toEqual([address, 401])
        expect(JSON.stringify(answer.body)).not.toMatch(/syntax|SELECT|relation|api_keys/i)
      }
    }
  })

  test('is no session, no token of an invitation and no search', async () => {
    for (const payload of payloads) {
      const cookie = `portico.session_token=${encodeURIComponent(payload)}`
      const { call } = openBrowser(stage.portico.url)
      expect((await call('GET', '/api/me', undefined, { cookie })).status).toBe(401)
      const text = encodeURIComponent(payload)
      expect((await call('GET', `/api/invitations/${text}`)).status).toBe(404)
      expect((await call('GET', `/api/password-resets/${text}`)).status).toBe(404)
      const found = await stage.portico.operator('GET', `/api/organisations?search=${text}`)
      expect([found.status, found.body.total]).toEqual([200, 0])
    }
  })
})

/** CVE-2026-49468: the path that was authorised came from the Host header, the path that was served from the request line. */
describe('a path in a header', () => {
  const hosts = ['x/livez?', 'x/livez#', 'x:80/openapi.json?y=', 'x/api/setup/..', '127.0.0.1@x/livez', 'livez', '']
  test.each(hosts)('does not open a protected route: Host %s', async (host) => {
    for (const address of ['/api/organisations', '/v1/documents', '/api/audit'])
      expect([400, 401]).toContain(await rawStatus([`GET ${address} HTTP/1.1`, `Host: ${host}`]))
  })

  test.each(['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Uri', 'X-Forwarded-Prefix', 'X-Forwarded-Path'])(
    'does not open a protected route: %s',
    async (name) => {
      const status = await rawStatus(['GET /api/organisations HTTP/1.1', 'Host: x', `${name}: /livez`])
      expect(status).toBe(401)
      // Nor does it lead from an open route to a protected one.
      expect(await rawStatus(['GET /livez HTTP/1.1', 'Host: x', `${name}: /api/organisations`])).toBe(200)
    },
  )

  test('does not change the method or the address', async () => {
    const lines = ['Host: x', 'X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE', 'Content-Length: 0']
    expect(await rawStatus([`POST /api/spaces/${space.id}/publish HTTP/1.1`, ...lines])).toBe(401)
    for (const address of ['//api/organisations', '/api//organisations', '/api/organisations/', '/./api/organisations'])
      expect([401, 404]).toContain(await rawStatus([`GET ${address} HTTP/1.1`, 'Host: x']))
    for (const address of ['/livez/../api/organisations', '/livez%2f..%2fapi/organisations', '/api/%6frganisations'])
      expect([400, 401, 404]).toContain(await rawStatus([`GET ${address} HTTP/1.1`, 'Host: x']))
    expect([400, 401, 404]).toContain(await rawStatus(['GET http://livez/api/organisations HTTP/1.1', 'Host: livez']))
  })

  test('is not in the link of an invitation or of a new password', async () => {
    const { operator } = stage.portico
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
    const invited = await operator('POST', '/api/operator-invitations', { email: 'i@example.org' }, headers)
    expect(JSON.stringify(expectStatus(invited, 201))).not.toContain('evil.example')
  })
})

/** CVE-2026-42203: a prompt was rendered as a template with the rights of the process. */
describe('template syntax', () => {
  const templates = [
    '{{7*191}}',
    '${7*191}',
    '<%= 7*191 %>',
    '#{7*191}',
    '{% for x in (1,2) %}1337{% endfor %}',
    "{{''.__class__.__mro__[1].__subclasses__()}}",
    '{{constructor.constructor("return process")()}}',
    '$& $1 $` %s %d %(key)s {0}',
  ]
  test.each(templates)('reaches the provider unchanged: %s', async (template) => {
    expectStatus(await stage.complete('m', { messages: [{ role: 'user', content: template }] }), 200)
    expect(stage.calls('m').at(-1)!.body.messages.at(-1).content).toBe(template)
  })

  test('of instructions, file names, documents and questions is text', async () => {
    const { client } = stage.organisation
    const form = uploadForm(`A ticket costs ${templates.join(' and ')}.`, '{{7*191}}.txt')
    const { id } = expectStatus(await client('POST', `/v1/documents?spaceId=${space.id}`, form), 201)
    expect(await waitForDocument(client, id)).toMatchObject({ status: 'ready', name: '{{7*191}}.txt' })
    const messages = [{ role: 'user', content: 'What does a ticket cost, {{7*191}}?' }]
    expectStatus(await client('POST', `/v1/endpoints/${space.endpointId}/chat`, { messages }), 200)
    expect(sent()).toContain('Instructions {{7*191}}.')
    expect(sent()).toContain('What does a ticket cost, {{7*191}}?')
    // Bracketed numbers of documents are replaced, because they would look like citations.
    for (const template of templates.filter((one) => !one.includes('[1]'))) expect(sent()).toContain(template)
    expectStatus(await client('DELETE', `/v1/documents/${id}`), 204)
  })
})

/** CVE-2026-35030: a cache found the person of a token by its first characters only. */
describe('a credential that begins and ends like a valid one', () => {
  test('is not valid', async () => {
    const { apiKey } = stage.organisation
    const { operatorToken, url } = stage.portico
    expectStatus(await createApiClient(url, apiKey)('GET', '/'), 200)
    for (const [credential, address] of [
      [apiKey, '/'],
      [operatorToken, '/api/audit'],
    ] as const) {
      const middle = Math.floor(credential.length / 2)
      const changed = credential[middle] === 'a' ? 'b' : 'a'
      for (const forged of [
        credential.slice(0, middle) + changed + credential.slice(middle + 1),
        credential.slice(0, -1),
        `${credential}a`,
        credential.toUpperCase(),
        credential.slice(0, 20),
      ])
        expect((await createApiClient(url, forged)('GET', address)).status).toBe(401)
    }
  })

  test('is no session', async () => {
    const { portico } = stage
    const browser = await createPerson(portico, { email: 'session@example.org' })
    const cookie = browser.cookie()
    expect((await browser.call('GET', '/api/me')).status).toBe(200)
    const [value, signature] = decodeURIComponent(cookie.split('=').slice(1).join('=')).split('.') as [string, string]
    const other = value.startsWith('a') ? 'b' : 'a'
    for (const forged of [
      `${value}.${'A'.repeat(43)}=`,
      `${other}${value.slice(1)}.${signature}`,
      value,
      `${value}.`,
    ]) {
      const headers = { cookie: `portico.session_token=${encodeURIComponent(forged)}` }
      expect((await openBrowser(portico.url).call('GET', '/api/me', undefined, headers)).status).toBe(401)
    }
  })
})

describe('equal secrets', () => {
  test('are stored with a new nonce each time, and open in their own place only', async () => {
    const { operator, service } = stage.portico
    const provider = { format: 'openai', flavour: 'generic', baseUrl: trap.url, hosting: 'us', models: 'declared' }
    for (const id of ['twin-a', 'twin-b', 'twin-c'])
      expectStatus(await operator('PUT', `/api/providers/${id}`, { ...provider, apiKey: 'sk-the-same-secret' }), 200)
    const read = () =>
      service.control.query<{ id: string; sealed: string }>(
        `SELECT id, secrets_sealed AS sealed FROM catalogue_providers WHERE id LIKE 'twin-%' ORDER BY id`,
      )
    const rows = await read()
    const bytes = rows.map(({ sealed }) => Buffer.from(sealed.split('.')[1]!, 'base64url').toString('hex'))
    // 12 bytes of nonce, 16 of the tag, then the text.
    expect(new Set(bytes.map((hex) => hex.slice(0, 24))).size).toBe(3)
    expect(new Set(bytes.map((hex) => hex.slice(56))).size).toBe(3)
    expectStatus(await operator('PUT', '/api/providers/twin-a', { ...provider, apiKey: 'sk-the-same-secret' }), 200)
    expect((await read())[0]!.sealed).not.toBe(rows[0]!.sealed)
  })
})

/** A request named the address, the key and the headers of the call to the provider. */
describe('settings of a provider in a request', () => {
  test('do not lead the call, or the key of the provider, to another address', async () => {
    const names = ['api_base', 'base_url', 'baseUrl', 'api_key', 'apiKey', 'extra_headers', 'api_version', 'proxy']
    const fields = Object.fromEntries(names.map((name) => [name, `${trap.url}/${name}`]))
    const answer = await stage.organisation.client(
      'POST',
      '/v1/gateway/chat/completions',
      { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields, extra_headers: { host: 'evil.example' } },
      { 'x-api-base': trap.url, 'x-forwarded-host': 'evil.example' },
    )
    expect([200, 400]).toContain(answer.status)
    expect(trap.requests).toEqual([])
    if (answer.status === 200) {
      const call = stage.calls('m').at(-1)!
      expect(JSON.stringify(call.body)).not.toContain(trap.url)
      expect(call.headers['authorization']).toBe('Bearer sk-of-the-provider')
    }
  })
})

/** Addresses of webhooks and providers led to services that only the server can reach. */
describe('the address of an internal service', () => {
  test.each(['http://127.0.0.1:8080/', 'http://0x7f.1/', 'http://[::ffff:10.0.0.1]/', 'http://169.254.169.254/'])(
    'is no address of a webhook: %s',
    async (url) => {
      const { portico, organisation } = stage
      const answer = await portico.operator('PUT', `/api/organisations/${organisation.id}/webhook`, { url })
      expect([answer.status, answer.body.error?.param]).toEqual([400, 'url'])
    },
  )

  test.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/',
  ])('that gives out credentials is no address of a provider: %s', async (baseUrl) => {
    const { operator } = stage.portico
    const provider = { format: 'openai', flavour: 'generic', baseUrl, hosting: 'us', models: 'declared' }
    for (const [method, address, body] of [
      ['PUT', '/api/providers/inward', provider],
      ['PATCH', '/api/providers/twin-a', { baseUrl }],
    ] as const) {
      const answer = await operator(method, address, body)
      expect([answer.status, answer.body.error?.param]).toEqual([400, 'baseUrl'])
    }
  })
})

describe('a path in the name of an upload', () => {
  const names = [
    '../../../../../../tmp/evil-portico.txt',
    '/tmp/evil-portico.txt',
    String.raw`..\..\evil-portico.txt`,
    'C:\\evil-portico.txt',
    '..%2f..%2fevil-portico.txt',
    'evil-portico.txt/../../evil-portico.txt',
    '....//....//evil-portico.txt',
  ]
  test.each(names)('is a name only: %s', async (name) => {
    const { client } = stage.organisation
    const answer = await client('POST', `/v1/documents?spaceId=${space.id}`, uploadForm('A text.', name, { name }))
    expect([201, 400]).toContain(answer.status)
    if (answer.status === 201) expectStatus(await client('DELETE', `/v1/documents/${answer.body.id}`), 204)
    const { dataFolder } = stage.portico.place
    const files = [...readdirSync(dataFolder, { recursive: true }), ...readdirSync(path.dirname(dataFolder))]
    expect(files.filter((file) => String(file).includes('evil-portico'))).toEqual([])
  })

  test.each([
    '/console/..%2f..%2fpackage.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/docs/static/..%2f..%2f..%2fpackage.json',
  ])('of a page reads no file outside: %s', async (address) => {
    expect(await rawStatus([`GET ${address} HTTP/1.1`, 'Host: x'])).not.toBe(500)
    const { body } = await openBrowser(stage.portico.url).call('GET', address)
    expect(JSON.stringify(body)).not.toContain('devDependencies')
  })
})

describe('fields that a caller may not set', () => {
  test('give no right', async () => {
    const { portico, organisation } = stage
    const member = await createPerson(portico, { email: 'mass@example.org', organisationId: organisation.id })
    const rights = { isOperator: true, is_operator: true, role: 'operator', memberships: [{ role: 'administrator' }] }
    await member.call('PATCH', '/api/me', { name: 'mass', ...rights })
    const me = expectStatus(await member.call('GET', '/api/me'), 200)
    expect(me.person.isOperator).toBe(false)
    expect((await member.call('GET', '/api/people')).status).toBe(403)
    const invited = { email: 'late@example.org', role: 'member' }
    const path = `/api/organisations/${organisation.id}/invitations`
    const { token } = expectStatus(await portico.operator('POST', path, invited), 201)
    const account = { name: 'late', password: 'correct horse battery staple', ...rights }
    await openBrowser(portico.url).call('POST', `/api/invitations/${token}/accept`, account)
    const people = expectStatus(await portico.operator('GET', '/api/people?search=late@example.org'), 200)
    for (const person of people.items) expect(person.isOperator).toBe(false)
  })

  test('of a prototype change no other object', async () => {
    const { portico, organisation } = stage
    const polluted = '{"__proto__":{"isOperator":true,"polluted":1},"constructor":{"prototype":{"polluted":1}},'
    const post = (address: string, method: string, rest: string, key: string) =>
      fetch(portico.url + address, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: polluted + rest,
      })
    const completion = '"model":"m","messages":[{"role":"user","content":"Hi","__proto__":{"polluted":1}}]}'
    const answers = [
      await post('/v1/gateway/chat/completions', 'POST', completion, organisation.apiKey),
      await post(`/v1/endpoints/${space.endpointId}/chat`, 'POST', completion, organisation.apiKey),
      await post(`/api/spaces/${space.id}`, 'PATCH', '"name":"A name"}', portico.operatorToken),
      await post(`/api/organisations/${organisation.id}`, 'PATCH', '"name":"A name"}', portico.operatorToken),
    ]
    for (const { status } of answers) expect([200, 400]).toContain(status)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    const form = uploadForm('A text.', 'a.txt', { metadata: '{"__proto__":{"polluted":"1"}}' })
    const uploaded = await organisation.client('POST', `/v1/documents?spaceId=${space.id}`, form)
    expect([201, 400]).toContain(uploaded.status)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    const person = await createPerson(portico, { email: 'plain@example.org', organisationId: organisation.id })
    expect((await person.call('GET', '/api/people')).status).toBe(403)
  })
})
