import type { FastifyReply } from 'fastify'
import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import {
  changeToolServerSchema,
  checkedToolServerSchema,
  checkToolServerSchema,
  newToolServerSchema,
  type ToolServerBody,
  toolServerHeadersSchema,
  toolServerListSchema,
  toolServerParamsSchema,
  toolServerSchema,
} from '../../contract/space-tools.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { noSpace, peopleOfSpace, type Space } from '../spaces/index.ts'
import type { ReadTools, ToolServer } from './tool-server.ts'
import type { ToolServers } from './tool-servers.ts'

export interface ToolServerRoutesDependencies {
  servers: ToolServers
  getSpace: (id: string) => Space | undefined
}

const described = describeRoutes({ role: 'operator' }, 'Tools of Spaces')
const path = '/api/spaces/:id/tools'
const place = { params: toolServerParamsSchema, headers: toolServerHeadersSchema }

/** `/api/spaces/{id}/tools`: tool servers of a Space, for the people of its organisation. */
export function toolServerRoutes(dependencies: ToolServerRoutesDependencies): Routes {
  return (app) => {
    addReads(app, dependencies)
    addChanges(app, dependencies)
  }
}

function findSpace(getSpace: ToolServerRoutesDependencies['getSpace'], id: string): Space {
  const space = getSpace(id)
  if (!space) throw noSpace(id)
  return space
}

function addReads(app: App, { servers, getSpace }: ToolServerRoutesDependencies) {
  app.get(
    path,
    described(
      'listToolServers',
      'List the tool servers of a Space',
      { params: idParamsSchema, response: { 200: toolServerListSchema, ...errorResponses(401, 403, 404) } },
      peopleOfSpace({ get: getSpace }, 'member'),
    ),
    async ({ params }) => ({ items: (await servers.list(findSpace(getSpace, params.id))).map(render) }),
  )
  app.post(
    `${path}/check`,
    described(
      'checkToolServer',
      'List what a tool server or an OpenAPI file offers',
      {
        description: 'Calls an MCP server with the given credential, or reads a file. Nothing is stored.',
        params: idParamsSchema,
        body: checkToolServerSchema,
        response: { 200: checkedToolServerSchema, ...errorResponses(400, 401, 403, 404, 503) },
      },
      peopleOfSpace({ get: getSpace }, 'administrator'),
    ),
    ({ params, body, clientSignal }) =>
      servers.check(findSpace(getSpace, params.id), body, clientSignal).then(renderRead),
  )
}

function addChanges(app: App, { servers, getSpace }: ToolServerRoutesDependencies) {
  const administrators = peopleOfSpace({ get: getSpace }, 'administrator')
  app.post(
    path,
    described(
      'addToolServer',
      'Add a tool server to a Space',
      {
        description:
          'Reads the tools of the MCP server or the file. Answers use the definitions as they were then; `refresh` reads them again.',
        params: idParamsSchema,
        body: newToolServerSchema,
        response: { 201: toolServerSchema, ...errorResponses(400, 401, 403, 404, 409, 503) },
      },
      administrators,
    ),
    async (request, reply) => {
      const author = { actor: actorOf(request), signal: request.clientSignal }
      const server = await servers.create(findSpace(getSpace, request.params.id), request.body, author)
      return send(reply.code(201) as FastifyReply, server)
    },
  )
  app.put(
    `${path}/:serverId`,
    described(
      'changeToolServer',
      'Change a tool server of a Space',
      {
        description:
          'Replaces the settings; absent fields get their defaults. Without `document` the tools of a file stay. 409 if the server was changed since it was read.',
        ...place,
        body: changeToolServerSchema,
        response: { 200: toolServerSchema, ...errorResponses(400, 401, 403, 404, 409, 503) },
      },
      administrators,
    ),
    async (request, reply) => {
      const { id, serverId } = request.params
      const author = { actor: actorOf(request), signal: request.clientSignal }
      const space = findSpace(getSpace, id)
      const server = await servers.change(space, serverId, request.body, author, generationOf(request.headers))
      return send(reply as FastifyReply, server)
    },
  )
  app.delete(
    `${path}/:serverId`,
    described(
      'deleteToolServer',
      'Delete a tool server of a Space',
      { ...place, response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 409) } },
      administrators,
    ),
    async (request, reply) => {
      const { id, serverId } = request.params
      await servers.remove(findSpace(getSpace, id), serverId, actorOf(request), generationOf(request.headers))
      return reply.code(204).send(null)
    },
  )
}

function generationOf(headers: Record<string, unknown>): number | undefined {
  const match = headers['if-match']
  return typeof match === 'string' ? Number(match.slice(1, -1)) : undefined
}

function send(reply: FastifyReply, server: ToolServer) {
  reply.header('etag', `"${server.generation}"`)
  return render(server)
}

function renderRead({ title, url, tools, isComplete }: ReadTools) {
  return { title, url, tools: tools.map(renderTool), isComplete }
}

const renderTool = ({ name, description, changesData, problem }: ToolServer['tools'][number]) => ({
  name,
  description,
  changesData,
  problem,
})

function render(server: ToolServer): ToolServerBody {
  const { id, kind, name, url, enabled, mayChangeData, visitors, credentialShown, tools, generation } = server
  const allowed = new Set(server.allowed.map((tool) => tool.name))
  return {
    id,
    kind,
    name,
    url,
    enabled,
    mayChangeData,
    visitors,
    credential: credentialShown,
    tools: tools.map((tool) => ({ ...renderTool(tool), allowed: allowed.has(tool.name) })),
    generation,
    readAt: new Date(server.readAt).toISOString(),
    createdAt: new Date(server.createdAt).toISOString(),
    updatedAt: new Date(server.updatedAt).toISOString(),
  }
}
