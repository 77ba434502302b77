import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

/** Services of tests that are tools of Spaces: an HTTP service, and a server of the Model Context Protocol. */

export interface ToolService {
  /** `http://127.0.0.1:PORT`. */
  url: string
  requests: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[]
  /** Requests whose client has left before the whole reply was sent. */
  left(): number
  close(): Promise<void>
}

export type ServiceScript = (
  request: { method: string; path: string; headers: IncomingHttpHeaders; body: string },
  response: ServerResponse,
) => unknown

export async function startToolService(script: ServiceScript): Promise<ToolService> {
  const requests: ToolService['requests'] = []
  let left = 0
  const server = createServer((request, response) => void answer(request, response))
  async function answer(incoming: IncomingMessage, response: ServerResponse) {
    response.once('close', () => {
      if (!response.writableFinished) left++
    })
    const { method = '', url = '', headers } = incoming
    const request = { method, path: url, headers, body: await text(incoming) }
    requests.push(request)
    await script(request, response)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    left: () => left,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface McpTool {
  name: string
  description?: string
  inputSchema?: object
  annotations?: object
}

export interface McpScript {
  tools: McpTool[]
  call: (name: string, given: Record<string, unknown>) => object | Promise<object>
}

/** The endpoint is `/mcp`. `before` may answer a request itself: it then returns true. */
export function startMcpService(
  script: McpScript,
  before: (...given: Parameters<ServiceScript>) => boolean = () => false,
): Promise<ToolService> {
  const createSpaceServer = () => {
    const server = new Server({ name: 'scripted', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({
      tools: script.tools.map((tool) => ({ inputSchema: { type: 'object' as const }, ...tool })) as never,
    }))
    server.setRequestHandler(
      'tools/call',
      async ({ params }) => (await script.call(params.name, params.arguments ?? {})) as never,
    )
    return server
  }
  const handler = createMcpHandler(createSpaceServer, { maxSubscriptions: 0 })
  return startToolService(async (request, response) => {
    if (before(request, response)) return
    const { method, path, headers, body } = request
    const init = { method, headers: headers as Record<string, string>, ...(method === 'POST' && { body }) }
    const answered = await handler.fetch(new Request(`http://127.0.0.1${path}`, init))
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    response.end(Buffer.from(await answered.arrayBuffer()))
  })
}

export const textResult = (value: string) => ({ content: [{ type: 'text', text: value }] })

/** An OpenAPI file of a shop. */
export const shopFile = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example/v1' }],
  paths: {
    '/orders/{orderId}': {
      parameters: [
        { name: 'orderId', in: 'path', required: true, schema: { type: 'string' }, description: 'Its number.' },
      ],
      get: {
        operationId: 'getOrder',
        summary: 'Get an order',
        parameters: [
          { name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Region', in: 'header', schema: { type: 'string' } },
        ],
      },
      delete: { operationId: 'deleteOrder' },
    },
    '/orders': {
      post: {
        operationId: 'createOrder',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Order' } } },
        },
      },
    },
  },
  components: {
    schemas: {
      Order: {
        type: 'object',
        required: ['item'],
        properties: { item: { type: 'string' }, parent: { $ref: '#/components/schemas/Order' } },
      },
    },
  },
})
