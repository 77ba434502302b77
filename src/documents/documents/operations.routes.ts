import type { FastifyRequest } from 'fastify'
import {
  documentMetadataChangeSchema,
  documentOperationSchema,
  documentSelectionSchema,
  operationParamsSchema,
  type DocumentOperationBody,
  type DocumentSelection,
} from '../../contract/document-progress.ts'
import { errorResponses } from '../../contract/errors.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import type { App, describeRoutes } from '../../platform/http/index.ts'
import { AppError, isUuid, type SpaceId } from '../../platform/kernel/index.ts'
import { noSpace } from './document-members.ts'
import { memberTexts } from './document-metadata.ts'
import type { DocumentOperation, DocumentOperations, DocumentWork, OperationPlace } from './document-operations.ts'
import { acceptBodyTexts } from './document-requests.routes.ts'
import { readMetadataChange } from './metadata-change.ts'
import { renderOperation } from './render-progress.ts'
import type { ChangeAuthor } from './change-author.ts'
import type { DocumentLists } from './document-list.ts'
import type { Documents } from './documents.ts'

export interface DocumentSessionRoutesDependencies {
  documents: Documents
  store: Pick<DocumentLists, 'loadProgressOf'> & DocumentOperations
  /** The organisation of a document; undefined if there is no such document. */
  findOrganisation: (documentId: string) => Promise<string | undefined>
  /** Undefined if there is no such Space. */
  findSpace: (id: string) => { id: string; organisationId: string } | undefined
  /** The author of a change that a request makes, for the admin log. */
  authorOf: (request: FastifyRequest) => ChangeAuthor
}

type Dependencies = Pick<DocumentSessionRoutesDependencies, 'store' | 'findSpace' | 'authorOf'>
type Described = ReturnType<typeof describeRoutes>

const operations = [
  {
    kind: 'delete',
    operationId: 'deleteDocuments',
    summary: 'Delete many documents of a Space',
    description: 'Deletes them in the background.',
  },
  {
    kind: 'retry',
    operationId: 'retryDocuments',
    summary: 'Process failed documents of a Space again',
    description:
      'From their stored files, in the background. Documents of the selection that are not failed stay as they are.',
  },
] as const

const reported = 'The list and the event stream report progress. A repeated request returns the unfinished operation.'

/** Work on many documents: `/api/spaces/{id}/documents/{delete,retry,metadata}` and `…/operations/{operationId}`. */
export function addOperations(app: App, dependencies: Dependencies, forMembers: Described) {
  // Only a change of metadata needs the text of its body; the others have the same limit of its size.
  acceptBodyTexts(app)
  for (const { kind, operationId, summary, description } of operations) {
    app.post(
      `/api/spaces/:id/documents/${kind}`,
      forMembers(operationId, summary, {
        description: `${description} ${reported}`,
        params: idParamsSchema,
        body: documentSelectionSchema,
        response: { 202: documentOperationSchema, ...errorResponses(400, 401, 403, 404) },
      }),
      (request) =>
        start(dependencies, request, { spaceId: request.params.id, work: { kind }, selection: request.body }),
    )
  }
  addMetadataChange(app, dependencies, forMembers)
  addOneOperation(app, dependencies, forMembers)
}

function addMetadataChange(app: App, dependencies: Dependencies, forMembers: Described) {
  app.post(
    '/api/spaces/:id/documents/metadata',
    forMembers('changeDocumentsMetadata', 'Change metadata of many documents of a Space', {
      description: `Sets and removes top-level keys, in the background. A document whose metadata would have more than 16384 bytes stays as it is and is counted in \`skipped\`. ${reported}`,
      params: idParamsSchema,
      body: documentMetadataChangeSchema,
      response: { 202: documentOperationSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => {
      const { set: _set, remove, ...selection } = request.body
      // The text keeps all digits of numbers.
      const change = readMetadataChange(memberTexts(request.bodyText ?? '{}').get('set'), remove)
      return start(dependencies, request, { spaceId: request.params.id, work: { kind: 'metadata', change }, selection })
    },
  )
}

async function start(
  { store, findSpace, authorOf }: Dependencies,
  request: FastifyRequest,
  started: { spaceId: string; work: DocumentWork; selection: DocumentSelection },
): Promise<DocumentOperationBody> {
  const space = findSpace(started.spaceId)
  if (!space) throw noSpace()
  const operation = await store.startOperation({
    organisationId: request.organisation.id,
    spaceId: space.id as SpaceId,
    work: started.work,
    selection: started.selection,
    author: authorOf(request),
  })
  return renderOperation(operation)
}

function addOneOperation(app: App, { store, authorOf }: Dependencies, forMembers: Described) {
  const path = '/api/spaces/:id/documents/operations/:operationId'
  const schema = {
    params: operationParamsSchema,
    response: { 200: documentOperationSchema, ...errorResponses(401, 403, 404) },
  }
  async function load(place: OperationPlace): Promise<DocumentOperation> {
    const operation = isUuid(place.operationId) ? await store.loadOperation(place) : undefined
    if (!operation) throw noOperation()
    return operation
  }
  app.get(
    path,
    forMembers('getDocumentOperation', 'Get the work on many documents', {
      description: 'Also after its end, for a day.',
      ...schema,
    }),
    (request) => load(placeOf(request)).then(renderOperation),
  )
  app.post(
    `${path}/stop`,
    forMembers('stopDocumentOperation', 'Stop the work on many documents', {
      description:
        'No further document is handled. What was done stays done. An operation that has ended stays as it is.',
      ...schema,
    }),
    async (request) => {
      const place = placeOf(request)
      await load(place)
      await store.stopOperation(place, authorOf(request))
      return renderOperation(await load(place))
    },
  )
}

function placeOf({ organisation, params }: FastifyRequest): OperationPlace {
  const { id, operationId } = params as { id: string; operationId: string }
  return { organisationId: organisation.id, spaceId: id, operationId }
}

function noOperation(): AppError {
  return new AppError('not_found', 'There is no work on documents with this id.', { param: 'operationId' })
}
