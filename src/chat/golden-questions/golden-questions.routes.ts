import { errorResponses } from '../../contract/errors.ts'
import {
  createGoldenQuestionSchema,
  goldenCandidatePageSchema,
  goldenCandidatesQuerySchema,
  goldenExportSchema,
  goldenImportSchema,
  goldenQuestionPageSchema,
  goldenQuestionParamsSchema,
  goldenQuestionSchema,
  importGoldenQuestionsCsvSchema,
  importGoldenQuestionsQuerySchema,
  importGoldenQuestionsSchema,
  listGoldenQuestionsQuerySchema,
  updateGoldenQuestionSchema,
} from '../../contract/golden-questions.ts'
import { emptySchema, idParamsSchema } from '../../contract/operator.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import { type App, type Routes, sendFile } from '../../platform/http/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { type RoutesOfSpace, routesOfSpace, type Space } from '../spaces/index.ts'
import type { GoldenQuestions } from './golden-questions.ts'
import { importBody, type ImportFile } from './import-file.ts'

export interface GoldenQuestionRoutesDependencies {
  questions: GoldenQuestions
  getSpace: (id: string) => Space | undefined
}

const params = idParamsSchema
const path = '/api/spaces/:id/golden-questions'

/** `/api/spaces/{id}/golden-questions`. */
export function goldenQuestionRoutes({ questions, getSpace }: GoldenQuestionRoutesDependencies): Routes {
  const context = { questions, ...routesOfSpace(getSpace, 'Golden questions') }
  return (app) => {
    addReads(app, context)
    addChanges(app, context)
    addTransfer(app, context)
  }
}

type Context = RoutesOfSpace & Pick<GoldenQuestionRoutesDependencies, 'questions'>

function addReads(app: App, { questions, forMembers, forAdministrators, spaceOf }: Context) {
  app.get(
    path,
    forMembers('listGoldenQuestions', 'List the golden questions of a Space', {
      params,
      querystring: listGoldenQuestionsQuerySchema,
      response: { 200: goldenQuestionPageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => questions.loadPage(spaceOf(request.params.id), request.query),
  )
  app.get(
    `${path}/candidates`,
    forAdministrators('listGoldenCandidates', 'List unanswered questions that are not golden questions', {
      description: 'Only of Spaces with the setting `keepUnansweredQuestions`; they are texts of visitors.',
      params,
      querystring: goldenCandidatesQuerySchema,
      response: { 200: goldenCandidatePageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => questions.loadCandidates(spaceOf(request.params.id), request.query),
  )
  app.get(
    `${path}/:questionId`,
    forMembers('getGoldenQuestion', 'Get a golden question', {
      params: goldenQuestionParamsSchema,
      response: { 200: goldenQuestionSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => questions.load(spaceOf(request.params.id), request.params.questionId),
  )
}

function addChanges(app: App, { questions, forMembers, spaceOf }: Context) {
  app.post(
    path,
    forMembers('createGoldenQuestion', 'Add a golden question', {
      description: 'A Space has at most 500; each conversation once (409).',
      params,
      body: createGoldenQuestionSchema,
      response: { 201: goldenQuestionSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    async (request, reply) => {
      const created = await questions.create(spaceOf(request.params.id), request.body, actorOf(request))
      reply.header('location', `/api/spaces/${created.spaceId}/golden-questions/${created.id}`)
      return created
    },
  )
  app.patch(
    `${path}/:questionId`,
    forMembers('updateGoldenQuestion', 'Change a golden question', {
      description: 'Absent fields keep their values. Results of earlier runs stay as they are.',
      params: goldenQuestionParamsSchema,
      headers: ifMatchHeadersSchema,
      body: updateGoldenQuestionSchema,
      response: { 200: goldenQuestionSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => {
      const { id, questionId } = request.params
      const changedBy = { actor: actorOf(request), ifMatch: request.headers['if-match'] }
      return questions.update(spaceOf(id), questionId, request.body, changedBy)
    },
  )
  app.delete(
    `${path}/:questionId`,
    forMembers('deleteGoldenQuestion', 'Delete a golden question', {
      description: 'Results of earlier runs stay.',
      params: goldenQuestionParamsSchema,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => questions.remove(spaceOf(request.params.id), request.params.questionId, actorOf(request)),
  )
}

function addTransfer(app: App, { questions, forMembers, spaceOf }: Context) {
  app.get(
    `${path}/export`,
    forMembers('exportGoldenQuestions', 'Export the golden questions of a Space', {
      description: 'A file of all questions that the import takes, also of another Space.',
      params,
      response: { 200: goldenExportSchema, ...errorResponses(401, 403, 404) },
    }),
    async (request, reply) => {
      const space = spaceOf(request.params.id)
      return sendFile(reply, `golden-questions-${space.id}`, 'json', await questions.export(space))
    },
  )
  app.post(
    `${path}/import`,
    forMembers('importGoldenQuestions', 'Import golden questions', {
      config: { body: importBody },
      description:
        'Adds all questions or none, unless `onInvalid` is `skip`. Conversations that the Space has are left out and counted. A Space has at most 500 (409).',
      params,
      querystring: importGoldenQuestionsQuerySchema,
      body: {
        content: {
          'application/json': { schema: importGoldenQuestionsSchema },
          'text/csv': { schema: importGoldenQuestionsCsvSchema },
        },
      },
      response: { 200: goldenImportSchema, ...errorResponses(400, 401, 403, 404, 409, 413, 415) },
    }),
    (request) =>
      questions.import(
        spaceOf(request.params.id),
        request.body as unknown as ImportFile,
        request.query,
        actorOf(request),
      ),
  )
}
