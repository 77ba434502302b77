import type { FastifyReply } from 'fastify'
import { errorResponses } from '../../contract/errors.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import {
  changeToolServerSchema,
  checkedToolServerSchema,
  checkToolServerSchema,
  newToolServerSchema,
  type ToolServerBody,
  toolServerListSchema,
  toolServerParamsSchema,
  toolServerSchema,
} from '../../contract/space-tools.ts'
import { generationHeaders, generationOf } from '../../contract/settings-version.ts'
import type { App, Routes } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import type { ReadTools, ToolServer } from './tool-server.ts'
import type { ToolServers } from './tool-servers.ts'

export interface ToolServerRoutesDependencies {
  servers: ToolServers
  getSpace: (id: string) => Space | undefined
}

const path = '/api/spaces/:id/tools'
const place = {
  params: toolServerParamsSchema,
  headers: generationHeaders('a server that was changed since is a 409.'),
}

/** `/api/spaces/{id}/tools`: tool servers of a Space, for the people of its organisation. */
export function toolServerRoutes({ servers, getSpace }: ToolServerRoutesDependencies): Routes {
  const context = { servers, ...routesOfSpace(getSpace, 'Tools of Spaces') }
  return (app) => {
    addReads(app, context)
    addChanges(app, context)
  }
}

type Context = RoutesOfSpace & Pick<ToolServerRoutesDependencies, 'servers'>

function addReads(app: App, { servers, forMembers, forAdministrators, spaceOf }: Context) {
  app.get(
    path,
    forMembers('listToolServers', 'List the tool servers of a Space', {
      params: idParamsSchema,
      response: { 200: toolServerListSchema, ...errorResponses(401, 403, 404) },
    }),
    async ({ params }) => ({ items: (await servers.list(spaceOf(params.id))).map(render) }),
  )
  app.post(
    `${path}/check`,
    forAdministrators('checkToolServer', 'List what a tool server or an OpenAPI file offers', {
      description: 'Calls an MCP server with the given credential, or reads a file. Nothing is stored.',
      params: idParamsSchema,
      body: checkToolServerSchema,
      response: { 200: checkedToolServerSchema, ...errorResponses(400, 401, 403, 404, 503) },
    }),
    ({ params, body, clientSignal }) => servers.check(spaceOf(params.id), body, clientSignal).then(renderRead),
  )
}

function addChanges(app: App, { servers, forAdministrators, spaceOf }: Context) {
  app.post(
    path,
    forAdministrators('addToolServer', 'Add a tool server to a Space', {
      description:
        'Reads the tools of the MCP server or the file. Answers use the definitions as they were then; `refresh` reads them again.',
      params: idParamsSchema,
      body: newToolServerSchema,
      response: { 201: toolServerSchema, ...errorResponses(400, 401, 403, 404, 409, 503) },
    }),
    async (request, reply) => {
      const author = { actor: actorOf(request), signal: request.clientSignal }
      const server = await servers.create(spaceOf(request.params.id), request.body, author)
      return send(reply as FastifyReply, server)
    },
  )
  app.put(
    `${path}/:serverId`,
    forAdministrators('changeToolServer', 'Change a tool server of a Space', {
      description:
        'Replaces the settings; absent fields get their defaults. Without `document` the tools of a file stay. 409 if the server was changed since it was read.',
      ...place,
      body: changeToolServerSchema,
      response: { 200: toolServerSchema, ...errorResponses(400, 401, 403, 404, 409, 503) },
    }),
    async (request, reply) => {
      const { id, serverId } = request.params
      const author = { actor: actorOf(request), signal: request.clientSignal }
      const space = spaceOf(id)
      const server = await servers.change(space, serverId, request.body, author, generationOf(request.headers))
      return send(reply as FastifyReply, server)
    },
  )
  app.delete(
    `${path}/:serverId`,
    forAdministrators('deleteToolServer', 'Delete a tool server of a Space', {
      ...place,
      response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    async (request) => {
      const { id, serverId } = request.params
      await servers.remove(spaceOf(id), serverId, actorOf(request), generationOf(request.headers))
    },
  )
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
