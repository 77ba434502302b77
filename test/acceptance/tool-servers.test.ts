import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'
import { shopFile, startMcpService, textResult, type ToolService } from '../harness/tool-services.ts'

/** The tool servers of a Space: their rules, their entries in the admin log, and what archives have of them. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace
let crm: ToolService
const secret = 'a-token-that-must-stay-secret'

beforeAll(async () => {
  portico = await startPortico({ settings: { network: { toolNetworks: ['127.0.0.1'] } } })
  organisation = await portico.createOrganisation()
  const tools = [{ name: 'find_customer', annotations: { readOnlyHint: true } }]
  crm = await startMcpService({ tools, call: () => textResult('') })
})
beforeEach(async () => {
  space = await portico.createSpace(organisation)
})
afterAll(async () => {
  await portico?.stop()
  await crm?.close()
})

const operate = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  portico.operator(method, `/api/spaces/${space.id}/tools${path}`, body, headers)
const crmServer = (fields: object = {}) => ({
  kind: 'mcp',
  name: 'crm',
  url: `${crm.url}/mcp`,
  allowed: ['find_customer'],
  ...fields,
})
const shopServer = (fields: object = {}) => ({
  kind: 'openapi',
  name: 'shop',
  url: 'https://shop.example/v1',
  document: shopFile,
  allowed: ['getOrder'],
  ...fields,
})
const add = async (body: object) => expectStatus(await operate('POST', '', body), 201)

describe('rules of a Space', () => {
  test('two editors do not overwrite each other', async () => {
    const { id } = await add(crmServer())
    const { kind: _, ...body } = crmServer()
    const first = await operate('PUT', `/${id}`, body, { 'if-match': '"1"' })
    expect(first).toMatchObject({ status: 200, body: { generation: 2 } })
    expect(first.headers.get('etag')).toBe('"2"')
    const second = await operate('PUT', `/${id}`, body, { 'if-match': '"1"' })
    expect(second).toMatchObject({ status: 409, body: { error: { param: 'if-match' } } })
    expect((await operate('DELETE', `/${id}`, undefined, { 'if-match': '"1"' })).status).toBe(409)
  })

  test('the admin log has each change, without the credential', async () => {
    const { id } = await add(shopServer())
    const { kind: _kind, document: _document, ...body } = shopServer({ allowed: [] })
    expectStatus(await operate('PUT', `/${id}`, { ...body, credential: { kind: 'bearer', token: secret } }), 200)
    expectStatus(await operate('DELETE', `/${id}`), 204)
    const { items } = expectStatus(await portico.operator('GET', `/api/admin-log?subjectId=${id}`), 200)
    expect(items).toMatchObject([
      { action: 'tool_server.removed', before: { name: 'shop', credential: 'bearer' }, after: null },
      {
        action: 'tool_server.updated',
        before: { tools: ['getOrder'], credential: null },
        after: { name: 'shop', tools: [], credential: 'bearer', credentialChanged: true },
      },
      { action: 'tool_server.created', before: null, after: { name: 'shop', enabled: true, tools: ['getOrder'] } },
    ])
    expect(JSON.stringify(items)).not.toContain(secret)
  })

  test.each([
    [{ name: 'Not a name' }, 'name', '20'],
    [{ url: 'https://127.0.0.2/mcp' }, 'url', 'toolNetworks'],
    [{ url: 'http://8.8.8.8/mcp' }, 'url', 'toolNetworks'],
    [{ allowed: ['absent'] }, 'allowed', 'no such tool'],
    [{ allowed: Array.from({ length: 41 }, (_, index) => `t${index}`) }, 'allowed', '40'],
    [{ credential: { kind: 'bearer', token: 'a b' } }, 'credential.token', 'visible ASCII'],
    [{ credential: { kind: 'header', name: 'host', value: 'x' } }, 'credential.name', ''],
    [{ document: 'x' }, 'document', 'openapi'],
  ])('%j is refused with its field', async (fields, param, words) => {
    const { status, body } = await operate('POST', '', crmServer(fields))
    expect({ status, error: body.error }).toMatchObject({
      status: 400,
      error: { param, message: expect.stringContaining(words) },
    })
  })

  test('a Space has at most ten servers', async () => {
    for (let number = 0; number < 10; number++) await add(shopServer({ name: `shop-${number}`, allowed: [] }))
    const refused = await operate('POST', '', shopServer({ name: 'shop-10', allowed: [] }))
    expect(refused.body.error).toMatchObject({ param: 'name', message: expect.stringContaining('at most 10') })
  })

  test('its servers go with it', async () => {
    await add(shopServer())
    const load = () => portico.service.control.query('SELECT 1 FROM space_tool_servers WHERE space_id = $1', [space.id])
    expect(await load()).toHaveLength(1)
    expectStatus(await portico.operator('DELETE', `/api/spaces/${space.id}`), 204)
    expect(await load()).toEqual([])
  })
})

test('an archive has the servers without credentials, and an import switches them off', async () => {
  await add(shopServer({ credential: { kind: 'bearer', token: secret }, visitors: true }))
  const headers = { authorization: `Bearer ${portico.operatorToken}` }
  const exported = await fetch(`${portico.url}/api/spaces/${space.id}/export`, { headers })
  const archive = Buffer.from(await exported.arrayBuffer())
  expect(archive.includes(secret)).toBe(false)
  const imported = await fetch(`${portico.url}/api/organisations/${organisation.id}/spaces/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-tar' },
    body: archive,
  })
  expect(imported.status).toBe(201)
  const { spaceId } = (await imported.json()) as { spaceId: string }
  const { items } = expectStatus(await portico.operator('GET', `/api/spaces/${spaceId}/tools`), 200)
  expect(items).toMatchObject([
    { name: 'shop', enabled: false, visitors: true, credential: null, tools: [{ name: 'getOrder', allowed: true }] },
  ])
})
