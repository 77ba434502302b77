import { errorResponses } from '../../contract/errors.ts'
import {
  createOrganisationSchema,
  emptySchema,
  idParamsSchema,
  listOrganisationsQuerySchema,
  type NewApiKeyBody,
  newApiKeySchema,
  optInSchema,
  type OrganisationBody,
  organisationPageSchema,
  organisationSchema,
  putWebhookSchema,
  type UpdateOrganisationBody,
  updateOrganisationSchema,
  webhookSchema,
} from '../../contract/operator.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import {
  type App,
  describeRoutes,
  forbidden,
  ownerOf,
  type Routes,
  visibleOrganisations,
} from '../../platform/http/index.ts'
import { type Clock, invalidField } from '../../platform/kernel/index.ts'
import { actorOf } from '../operators/index.ts'
import { administrators } from './administrators.ts'
import { renderApiKey, renderOrganisation } from './describe-organisation.ts'
import type { Organisation } from './organisation.ts'
import { type OrganisationChange, parseMarkup, parseMonthlyBudget } from './organisation-change.ts'
import type { Organisations } from './organisations.ts'
import { switchModelsSchema } from '../../contract/console-developer-tools.ts'

declare module '../../platform/http/caller.ts' {
  /** `request.organisation` of routes with `auth: 'organisation'`. */
  interface Caller extends Organisation {}
}

const forOperators = describeRoutes({ role: 'operator' }, 'Operator: organisations')
const forPeople = describeRoutes({ role: 'person' }, 'Operator: organisations')
const forAdministrators = describeRoutes(administrators, 'Operator: organisations')
/** What administrators may change of their organisation; the rest is the operator's. */
const fieldsOfAdministrators = new Set(['disabledModels', 'recordUsageTags'])
const params = idParamsSchema

export interface OrganisationRoutesDependencies {
  organisations: Organisations
  /** The canonical id behind a model's id or alias; undefined for an unknown model. */
  canonicalModelId: (id: string) => string | undefined
  clock: Clock
}

/** `/api/organisations`: plans, subscriptions, enablement, budgets, the one key, webhooks. */
export function organisationRoutes(dependencies: OrganisationRoutesDependencies): Routes {
  return (app) => {
    addReads(app, dependencies)
    addChanges(app, dependencies)
    addKeyAndOptIn(app, dependencies)
    addWebhook(app, dependencies)
  }
}

function addReads(app: App, dependencies: OrganisationRoutesDependencies) {
  const { organisations, clock } = dependencies
  const load = loader(dependencies)
  app.get(
    '/api/organisations',
    forPeople('listOrganisations', 'List organisations', {
      description: 'Newest first: all for operators, else those in which the person is an administrator.',
      querystring: listOrganisationsQuerySchema,
      response: { 200: organisationPageSchema, ...errorResponses(400, 401, 403) },
    }),
    (request) => {
      const { limit, offset, search } = request.query
      const ids = visibleOrganisations(request, 'administrator')
      return organisations
        .loadPage({
          owner: ownerOf(request),
          limit,
          offset,
          ...(search === undefined ? {} : { search }),
          ...(ids && { ids }),
        })
        .then(({ total, records }) => ({
          total,
          limit,
          offset,
          items: records.map((record) => renderOrganisation(record, clock.now())),
        }))
    },
  )
  app.get(
    '/api/organisations/:id',
    forAdministrators('getOrganisation', 'Get an organisation', {
      params,
      response: { 200: organisationSchema, ...errorResponses(401, 403, 404) },
    }),
    (request) => load(request.params.id),
  )
}

function addChanges(app: App, dependencies: OrganisationRoutesDependencies) {
  const { organisations, canonicalModelId } = dependencies
  const load = loader(dependencies)
  app.post(
    '/api/organisations',
    forOperators('createOrganisation', 'Create an organisation', {
      description: 'Closed by default. `POST /api/organisations/{id}/api-key` creates its API key.',
      body: createOrganisationSchema,
      response: { 201: organisationSchema, ...errorResponses(400, 401, 403) },
    }),
    async (request, reply) => {
      const change = toChange(request.body, { canonicalModelId })
      const created = await organisations.create({ ...change, name: request.body.name }, actorOf(request))
      reply.header('location', `/api/organisations/${created.id}`)
      return load(created.id)
    },
  )
  app.patch(
    '/api/organisations/:id',
    forAdministrators('updateOrganisation', 'Change an organisation', {
      description:
        'Effective for the next request, on other instances within a second. Absent fields stay unchanged. An administrator of the organisation may change `disabledModels` and `recordUsageTags` only.',
      params,
      headers: ifMatchHeadersSchema,
      body: updateOrganisationSchema,
      response: { 200: organisationSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => {
      const { id } = request.params
      const { person, body } = request
      const isOperator = !person || person.isOperator
      if (!isOperator && Object.keys(body).some((field) => !fieldsOfAdministrators.has(field)))
        throw forbidden('an operator')
      const change = toChange(body, { canonicalModelId, current: organisations.get(id) })
      return organisations.update(id, change, actorOf(request), request.headers['if-match']).then(() => load(id))
    },
  )
  app.delete(
    '/api/organisations/:id',
    forOperators('deleteOrganisation', 'Remove an organisation', {
      description: 'Rejected while it has Spaces. Its key becomes invalid at once; usage records stay.',
      params,
      response: { 204: emptySchema, ...errorResponses(401, 403, 404, 409) },
    }),
    (request) => organisations.remove(request.params.id, actorOf(request)),
  )
}

function addKeyAndOptIn(app: App, dependencies: OrganisationRoutesDependencies) {
  const { organisations } = dependencies
  const load = loader(dependencies)
  app.post(
    '/api/organisations/:id/api-key',
    forAdministrators('rotateApiKey', 'Create or replace the API key', {
      description:
        'The key is shown only in this response. The former key becomes invalid at once, on other instances within a second.',
      params,
      response: { 201: newApiKeySchema, ...errorResponses(401, 403, 404) },
    }),
    async (request, reply): Promise<NewApiKeyBody> => {
      const made = await organisations.createKey(request.params.id, actorOf(request))
      reply.header('cache-control', 'no-store')
      return { ...renderApiKey({ ...made, lastUsedAt: null }), key: made.key }
    },
  )
  app.put(
    '/api/organisations/:id/opt-in',
    forAdministrators('setOptIn', "Set a team administrator's opt-in to the gateway", {
      params,
      headers: ifMatchHeadersSchema,
      body: optInSchema,
      response: { 200: organisationSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => {
      const { id } = request.params
      const change = { gatewayOptIn: request.body.optIn }
      return organisations.update(id, change, actorOf(request), request.headers['if-match']).then(() => load(id))
    },
  )
}

function addWebhook(app: App, { organisations }: OrganisationRoutesDependencies) {
  app.put(
    '/api/organisations/:id/webhook',
    forOperators('putWebhook', 'Set the webhook for budget thresholds', {
      description:
        'The secret is shown only in this response. The `version` of the organisation changes with address and secret.',
      params,
      headers: ifMatchHeadersSchema,
      body: putWebhookSchema,
      response: { 200: webhookSchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    async (request, reply) => {
      const { url, secret } = request.body
      reply.header('cache-control', 'no-store')
      const webhook = { url, ...(secret === undefined ? {} : { secret }) }
      return organisations.setWebhook(request.params.id, webhook, actorOf(request), request.headers['if-match'])
    },
  )
  app.delete(
    '/api/organisations/:id/webhook',
    forOperators('deleteWebhook', 'Remove the webhook', {
      params,
      headers: ifMatchHeadersSchema,
      response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 409) },
    }),
    (request) => organisations.removeWebhook(request.params.id, actorOf(request), request.headers['if-match']),
  )
}

/** Loads an organisation in its response form. */
function loader({ organisations, clock }: OrganisationRoutesDependencies) {
  return async (id: string): Promise<OrganisationBody> =>
    renderOrganisation(await organisations.loadRecord(id), clock.now())
}

/** The body in domain units. Throws `invalid_request` with the field. */
function toChange(
  body: UpdateOrganisationBody,
  {
    canonicalModelId,
    current,
  }: Pick<OrganisationRoutesDependencies, 'canonicalModelId'> & { current?: Organisation | undefined },
): OrganisationChange {
  const { subscription, monthlyBudgetUsd, markupPercent, disabledModels, ...plain } = body
  return {
    ...plain,
    ...(monthlyBudgetUsd === undefined ? {} : { monthlyBudgetPicoUsd: parseMonthlyBudget(monthlyBudgetUsd) }),
    ...(markupPercent === undefined ? {} : { markupBasisPoints: parseMarkup(markupPercent) }),
    ...(subscription === undefined ? {} : { subscription: toSubscription(subscription) }),
    ...(disabledModels === undefined
      ? {}
      : { disabledModels: disabledModels.map((id) => toCanonical(id, canonicalModelId, current)) }),
  }
}

function toSubscription({ status, startsAt, endsAt }: NonNullable<UpdateOrganisationBody['subscription']>) {
  return {
    ...(status === undefined ? {} : { status }),
    ...(startsAt === undefined ? {} : { startsAt: Date.parse(startsAt) }),
    ...(endsAt === undefined ? {} : { endsAt: endsAt === null ? null : Date.parse(endsAt) }),
  }
}

/** Rejects unknown models, because a typo would leave the model callable. Models that are disabled already are accepted. */
function toCanonical(
  id: string,
  canonicalModelId: OrganisationRoutesDependencies['canonicalModelId'],
  current: Organisation | undefined,
): string {
  const canonical = current?.disabledModels.includes(id) ? id : canonicalModelId(id)
  if (canonical !== undefined) return canonical
  throw invalidField('disabledModels', `disabledModels: there is no model ${id}. GET /api/models lists all models.`)
}

const described = describeRoutes(administrators, 'Console: developer tools')

/** Enables and disables single models, so that two administrators do not overwrite each other's list. */
export function modelSwitchRoutes({
  organisations,
  canonicalModelId,
}: {
  organisations: Pick<Organisations, 'get' | 'switchModels'>
  /** The canonical id behind a model's id or alias; undefined for an unknown model. */
  canonicalModelId: (id: string) => string | undefined
}): Routes {
  function toCanonical(param: 'enable' | 'disable', ids: readonly string[], disabled: readonly string[]): string[] {
    return ids.map((id) => {
      // A model that is disabled may no longer exist.
      const canonical = disabled.includes(id) ? id : canonicalModelId(id)
      if (canonical !== undefined) return canonical
      throw invalidField(param, `${param}: there is no model ${id}.`)
    })
  }

  return (app) => {
    app.patch(
      '/api/organisations/:id/models',
      described('switchOrganisationModels', 'Enable or disable models for an organisation', {
        description:
          'Ids or aliases without `eu/`. A disabled model and its EU id are neither listed nor callable, from the next request on.',
        params: idParamsSchema,
        headers: ifMatchHeadersSchema,
        body: switchModelsSchema,
        response: { 204: emptySchema, ...errorResponses(400, 401, 403, 404, 409) },
      }),
      (request) => {
        const { id } = request.params
        const { enable = [], disable = [] } = request.body
        const disabled = organisations.get(id)?.disabledModels ?? []
        const ids = {
          enable: toCanonical('enable', enable, disabled),
          disable: toCanonical('disable', disable, disabled),
        }
        return organisations.switchModels(id, ids, actorOf(request), request.headers['if-match'])
      },
    )
  }
}
