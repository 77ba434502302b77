import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Server } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorResponses } from '../../contract/errors.ts'
import { describeRoutes, type Routes, toAppError } from '../../platform/http/index.ts'
import { version } from '../../platform/kernel/index.ts'
import { assertRequiredFilter, readFilterHeader, type SendDependencies } from '../chat/index.ts'
import { findPublishedSpace, type Space } from '../spaces/index.ts'
import { useLibrary } from './load-library.ts'
import { callSpaceTool, spaceToolDefinitions, type SpaceVisit } from './space-tools.ts'

export interface McpRoutesDependencies extends SendDependencies {
  /** The Space that is published under an endpoint id; undefined where there is none at the moment. */
  getPublishedSpace: (endpointId: string) => Space | undefined
}

const path = '/v2/endpoints/:endpointId/mcp'

/**
 * Each published Space as a server of the Model Context Protocol (https://modelcontextprotocol.io), with the transport Streamable HTTP. Each request is
 * complete in itself: there are no sessions.
 */
export function mcpRoutes(dependencies: McpRoutesDependencies): Routes {
  const { getPublishedSpace } = dependencies
  const described = describeRoutes('organisation', 'Space chat')
  return (app) => {
    app.post(
      path,
      described('callSpaceTools', 'Use a published Space with the Model Context Protocol', {
        config: { limited: 'call' },
        description:
          'Streamable HTTP without sessions. The tool `ask` answers a question with sources, at the cost of the chat; the others search and read the files. The header `service-user` names the visitor, and `service-document-filter` restricts every tool to documents with matching metadata, as in the chat.',
        params: z.object({ endpointId: z.string() }),
        body: z.looseObject({}).describe('One message of JSON-RPC 2.0, no batch.'),
        response: { 200: z.looseObject({}), ...errorResponses(400, 401, 404, 429, 503) },
      }),
      async (request, reply) => {
        const { endpointId } = request.params
        const space = findPublishedSpace(getPublishedSpace, endpointId, request.organisation)
        const isOffered = () => getPublishedSpace(endpointId)?.id === space.id
        const filter = readFilterHeader(request.headers)
        assertRequiredFilter(space, filter)
        const visit = { request, space, filter, isOffered }
        const { createMcpHandler, Server } = await useLibrary()
        const createServer = () => createSpaceServer(Server, dependencies, visit)
        // No subscriptions: the tools of a Space never change.
        const handler = createMcpHandler(createServer, { maxSubscriptions: 0 })
        const response = await handler.fetch(toWebRequest(request), { parsedBody: request.body })
        return forward(response, reply as FastifyReply)
      },
    )
  }
}

function forward(response: Response, reply: FastifyReply) {
  for (const name of ['content-type', 'mcp-protocol-version']) {
    const value = response.headers.get(name)
    if (value !== null) reply.header(name, value)
  }
  const { body } = response
  return reply.code(response.status).send(body === null ? '' : Readable.fromWeb(body as ReadableStream))
}

function toWebRequest({ headers, clientSignal }: FastifyRequest): Request {
  const kept = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
  const list = kept.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []))
  // The handler reads neither the address nor the body, which is parsed already.
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: Object.fromEntries(list),
    signal: clientSignal,
  })
}

function createSpaceServer(SpaceServer: typeof Server, dependencies: McpRoutesDependencies, visit: SpaceVisit): Server {
  const { log } = dependencies
  const server = new SpaceServer(
    { name: 'portico', title: visit.space.name, version },
    { capabilities: { tools: {} }, instructions: `The files of the Space “${visit.space.name}”.` },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: spaceToolDefinitions.map(({ name, description, parameters }) => ({
      name,
      description,
      inputSchema: parameters as { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    try {
      const { text, structured, isError } = await callSpaceTool(
        dependencies,
        visit,
        params.name,
        params.arguments ?? {},
      )
      return {
        content: [{ type: 'text', text }],
        ...(structured && { structuredContent: structured }),
        ...(isError && { isError }),
      }
    } catch (error) {
      const { code, message, internal } = toAppError(error)
      log.warn({ requestId: visit.request.requestId, code, internal }, 'a tool of a Space failed')
      return { content: [{ type: 'text', text: message }], isError: true }
    }
  })
  return server
}
