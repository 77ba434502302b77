import { errorResponses } from '../../contract/errors.ts'
import {
  erasurePageSchema,
  erasureParamsSchema,
  erasureSchema,
  erasuresQuerySchema,
  requestErasureSchema,
  verifiedErasureSchema,
  verifyErasureSchema,
} from '../../contract/erasures.ts'
import { idParamsSchema } from '../../contract/operator.ts'
import { type App, describeRoutes, type Routes } from '../../platform/http/index.ts'
import { AppError } from '../../platform/kernel/index.ts'
import { actorOf } from '../../tenants/operators/index.ts'
import { administrators, noOrganisation } from '../../tenants/organisations/index.ts'
import type { Erasures } from './erasures.ts'

export interface ErasureRoutesDependencies {
  erasures: Pick<Erasures, 'request' | 'load' | 'loadPage' | 'verify'>
  hasOrganisation: (id: string) => boolean
}

const forAdministrators = describeRoutes(administrators, 'Data protection')
const forOperators = describeRoutes({ role: 'operator' }, 'Data protection')

/** `/api/organisations/{id}/erasures`, and the check of certificates. */
export function erasureRoutes({ erasures, hasOrganisation }: ErasureRoutesDependencies): Routes {
  function known({ id }: { id: string }): string {
    if (!hasOrganisation(id.toLowerCase())) throw noOrganisation(id)
    return id.toLowerCase()
  }
  return (app) => {
    addRequest(app, erasures, known)
    addViews(app, erasures, known)
    addVerification(app, erasures, known)
  }
}

type Known = (params: { id: string }) => string

function addRequest(app: App, erasures: ErasureRoutesDependencies['erasures'], known: Known) {
  app.post(
    '/api/organisations/:id/erasures',
    forAdministrators('requestErasure', 'Erase a visitor or a document', {
      description:
        'Everything that is stored about one `user`, or one document with the answers that cite it. The request is durable with this response; the work continues on any instance, takes some seconds at least, and ends with a certificate. A second request for the same subject extends a running one.',
      params: idParamsSchema,
      body: requestErasureSchema,
      response: { 202: erasureSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => {
      const organisationId = known(request.params)
      const { user, documentId } = request.body
      const [kind, value] = user === undefined ? (['document', documentId!] as const) : (['user', user] as const)
      return erasures.request(organisationId, kind, value, actorOf(request))
    },
  )
}

function addViews(app: App, erasures: ErasureRoutesDependencies['erasures'], known: Known) {
  app.get(
    '/api/organisations/:id/erasures',
    forAdministrators('listErasures', 'Erasures of an organisation', {
      params: idParamsSchema,
      querystring: erasuresQuerySchema,
      response: { 200: erasurePageSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => erasures.loadPage(known(request.params), request.query.limit, request.query.cursor),
  )
  app.get(
    '/api/organisations/:id/erasures/:erasureId',
    forAdministrators('getErasure', 'One erasure with its certificate', {
      params: erasureParamsSchema,
      response: { 200: erasureSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => loadOne(erasures, known(request.params), request.params.erasureId),
  )
}

async function loadOne({ load }: ErasureRoutesDependencies['erasures'], organisationId: string, id: string) {
  const found = await load(organisationId, id)
  if (!found) throw new AppError('not_found', `The organisation has no erasure ${id}.`)
  return found
}

const verified =
  'Whether this installation signed the certificate and no field has changed, and whether its entries of the admin log still exist.'

function addVerification(app: App, erasures: ErasureRoutesDependencies['erasures'], known: Known) {
  app.post(
    '/api/erasures/verify',
    forOperators('verifyErasure', 'Check a certificate', {
      description: verified,
      body: verifyErasureSchema,
      response: { 200: verifiedErasureSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => erasures.verify(request.body.certificate),
  )
  app.post(
    '/api/organisations/:id/erasures/verify',
    forAdministrators('verifyOrganisationErasure', 'Check a certificate of an organisation', {
      description: `${verified} Certificates of other organisations are not genuine here.`,
      params: idParamsSchema,
      body: verifyErasureSchema,
      response: { 200: verifiedErasureSchema, ...errorResponses(400, 401, 403, 404) },
    }),
    (request) => erasures.verify(request.body.certificate, known(request.params)),
  )
}
