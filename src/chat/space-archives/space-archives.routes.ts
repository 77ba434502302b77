import type { FastifyRequest } from 'fastify'
import { archiveSchema } from '../../contract/backup.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { importedSpaceSchema, importSpaceQuerySchema } from '../../contract/space-archives.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError, type Clock } from '../../platform/kernel/index.ts'
import { type Actor, actorOf } from '../../tenants/operators/index.ts'
import { administrators } from '../../tenants/organisations/index.ts'
import { routesOfSpace, type Space } from '../spaces/index.ts'
import { type ExportDependencies, startExport } from './export-space.ts'
import { type ImportDependencies, importSpace } from './import-space.ts'

export interface SpaceArchiveRoutesDependencies {
  exports: ExportDependencies
  imports: ImportDependencies
  /** Writes the entry of the admin log, before anything leaves. */
  recordExport(space: Space, actor: Actor, nowMs: number): Promise<void>
  getSpace: (id: string) => Space | undefined
  clock: Clock
}

const tag = 'Operator: Spaces'

/** Export and import of whole Spaces, for administrators of the organisation and for operators. */
export function spaceArchiveRoutes(dependencies: SpaceArchiveRoutesDependencies): Routes {
  return (app) => {
    addExport(app, dependencies)
    void app.register(async (scope: unknown) => addImport(scope as App, dependencies))
  }
}

function addExport(app: App, { exports, recordExport, getSpace, clock }: SpaceArchiveRoutesDependencies) {
  const { forAdministrators, spaceOf } = routesOfSpace(getSpace, tag)
  app.get(
    '/api/spaces/:id/export',
    forAdministrators('exportSpace', 'Export a Space', {
      description:
        'A tar archive of the settings, the documents with their files, chunks and vectors, and the golden questions. It has no keys, no conversations and no usage. The admin log records who exported.',
      params: idParamsSchema,
      response: { 200: archiveSchema, ...errorResponses(401, 403, 404, 503) },
    }),
    async (request, reply) => {
      const space = spaceOf(request.params.id)
      await recordExport(space, actorOf(request), clock.now())
      const stream = await startExport(exports, space, request.clientSignal)
      return reply
        .header('content-type', 'application/x-tar')
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="space-${space.id}.tar"`)
        .send(stream as never)
    },
  )
}

function addImport(app: App, { imports }: SpaceArchiveRoutesDependencies) {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-tar', async () => ({}))
  app.post(
    '/api/organisations/:id/spaces/import',
    describeRoutes({ ...administrators, acting: true }, tag)('importSpace', 'Import a Space', {
      config: { limited: 'upload', longBody: true },
      description:
        'Makes a new, unpublished Space from an archive of `exportSpace`, of this or another installation. The Space appears when everything is stored; after an error nothing is kept. With another embedder, documents are embedded again in the background.',
      consumes: ['application/x-tar'],
      params: idParamsSchema,
      querystring: importSpaceQuerySchema,
      response: { 201: importedSpaceSchema, ...errorResponses(400, 401, 403, 404, 413, 415, 429, 503) },
    }),
    async (request, reply) => {
      const { name, model } = request.query
      const imported = await importSpace(imports, {
        organisationId: request.organisation.id,
        name,
        model,
        source: bodyOf(request),
        actor: actorOf(request),
        signal: request.clientSignal,
      })
      reply.header('location', `/api/spaces/${imported.spaceId}`)
      return imported
    },
  )
}

/** The body as it arrives. The connection stays open for the error where it is not read to its end. */
function bodyOf({ raw, headers }: FastifyRequest): AsyncIterable<Uint8Array> {
  if (!/^application\/x-tar\b/i.test(headers['content-type'] ?? '')) {
    throw new AppError('unsupported_media_type', 'Send the archive as application/x-tar.', { param: 'content-type' })
  }
  return raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
}
