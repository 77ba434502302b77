import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadReady } from '../harness/museum.ts'
import {
  expectStatus,
  startPortico,
  type TestOrganisation,
  type TestPortico,
  type TestSpace,
} from '../harness/portico.ts'

/** A published Space as a server of the Model Context Protocol, called by the protocol's own client. */

let portico: TestPortico
let organisation: TestOrganisation
let space: TestSpace

beforeAll(async () => {
  portico = await startPortico()
  organisation = await portico.createOrganisation()
  space = await portico.createSpace(organisation, { name: 'Museum' })
  await uploadReady(
    organisation,
    space.id,
    '# Prices\n\nA ticket for adults costs 12 euros. Children pay nothing.',
    'tickets.md',
  )
})
afterAll(() => portico?.stop())

const addressOf = (endpointId: string) => new URL(`${portico.url}/v2/endpoints/${endpointId}/mcp`)

async function connect(apiKey = organisation.apiKey, endpointId = space.endpointId): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  await client.connect(new StreamableHTTPClientTransport(addressOf(endpointId), { requestInit }))
  return client
}

const textOf = (result: { content?: unknown }) => (result.content as { text: string }[])[0]!.text

describe('a published Space', () => {
  it('offers to ask, to search and to read its files', async () => {
    const client = await connect()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'ask',
      'search_uploaded_files',
      'list_documents',
      'open_document',
      'find_in_document',
      'describe_tables',
      'query_tables',
    ])
    const call = async (name: string, given: Record<string, unknown>) =>
      client.callTool({ name, arguments: given }) as Promise<{ content?: unknown; isError?: boolean }>
    expect(textOf(await call('search_uploaded_files', { query: 'price of a ticket' }))).toMatch(
      /^\[1\] tickets\.md, document [^]*Prices[^]*A ticket for adults costs 12 euros/,
    )
    expect(textOf(await call('list_documents', {}))).toContain('tickets.md')
    expect(textOf(await call('open_document', { document: 'tickets.md' }))).toContain('Children pay nothing')
    const wrong = await call('open_document', { document: 'absent.md' })
    expect(wrong).toMatchObject({ isError: true })
    expect(await call('search_uploaded_files', {})).toMatchObject({ isError: true })
    expect(await call('rm', {})).toMatchObject({ isError: true })
    await client.close()
  })

  it('answers a question with its sources and bills it as the chat does', async () => {
    const client = await connect()
    const result = await client.callTool({
      name: 'ask',
      arguments: { question: 'What does a ticket for adults cost?' },
    })
    expect(textOf(result)).toMatch(/12 euros[^]*\[1\][^]*Sources:\n\[1\] tickets\.md/)
    expect(result.structuredContent).toMatchObject({ references: [{ title: 'tickets.md' }] })
    await client.close()
    await expect
      .poll(async () => {
        const path = `/api/organisations/${organisation.id}/usage?by=surface`
        return expectStatus(await portico.operator('GET', path), 200).rows
      })
      .toMatchObject([{ surface: 'space_chat', requests: 1 }])
  })

  it('is closed to other organisations and to clients without a key', async () => {
    const other = await portico.createOrganisation()
    await expect(connect(other.apiKey)).rejects.toThrow(/404|no published Space/)
    await expect(connect('ptc_wrong')).rejects.toThrow()
    await expect(connect(organisation.apiKey, 'e')).rejects.toThrow(/404|no published Space/)
  })

  it('refuses messages that are none, and methods and subscriptions that it does not have', async () => {
    const send = async (body: unknown, method = 'POST') => {
      const headers = {
        'x-api-key': organisation.apiKey,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(addressOf(space.endpointId), { method, headers, ...text })
      return { status: response.status, text: await response.text() }
    }
    expect((await send(undefined, 'GET')).status).toBe(405)
    expect((await send({ hello: 1 })).status).toBe(400)
    expect((await send([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }])).status).toBe(400)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'no/such' })).text).toContain('-32601')
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} })).text).toContain('error')
  })
})
