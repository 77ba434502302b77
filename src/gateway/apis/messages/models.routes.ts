import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { messagesErrors, messagesModelListSchema, messagesModelSchema } from '../../../contract/gateway-v2-messages.ts'
import { queryInteger } from '../../../contract/query-integer.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import type { Clock } from '../../../platform/kernel/index.ts'
import { assertGatewayAccess, type Organisation } from '../../../tenants/organisations/index.ts'
import { modelNotFound } from '../../gateway/index.ts'
import type { Catalogue, ListedModel } from '../../models/index.ts'
import { invalid } from '../limits.ts'

export interface ModelsDependencies {
  catalogue: Catalogue
  clock: Clock
}

/** Page sizes of the Messages API. */
const usualLimit = 20
const maximumLimit = 1_000

/** `GET /v2/gateway/anthropic/v1/models` and `…/models/{id}`. */
export function messagesModelRoutes({ catalogue, clock }: ModelsDependencies): Routes {
  const described = describeRoutes('organisation', 'Gateway, version 2: Messages API')
  const render = (organisation: Organisation, { id, created }: ListedModel) => {
    const model = catalogue.resolve(organisation, id, clock.now())?.model
    return {
      type: 'model' as const,
      id,
      display_name: id,
      created_at: new Date(created * 1_000).toISOString(),
      max_input_tokens: model?.contextTokens ?? null,
      max_tokens: model?.maxOutputTokens ?? null,
    }
  }
  const find = (request: FastifyRequest, id: string) => {
    const model = catalogue.find(request.organisation, id, clock.now())
    if (!model) throw modelNotFound(id, 2)
    return render(request.organisation, model)
  }
  return (app) => {
    app.get(
      '/v2/gateway/anthropic/v1/models',
      described('listMessagesModels', 'List models', {
        config: { access: assertGatewayAccess },
        description: 'Every model that the organisation may call, of all providers.',
        querystring: z.object({
          limit: queryInteger(1, maximumLimit).default(usualLimit),
          after_id: z.string().optional(),
          before_id: z.string().optional(),
        }),
        response: { 200: messagesModelListSchema, ...messagesErrors(400, 401, 403) },
      }),
      ({ organisation, query }) => {
        const page = pageOf(catalogue.list(organisation, clock.now()), query)
        const data = page.models.map((model) => render(organisation, model))
        return { data, has_more: page.hasMore, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      },
    )
    app.get(
      '/v2/gateway/anthropic/v1/models/:id',
      described('getMessagesModel', 'Get a model', {
        config: { access: assertGatewayAccess },
        description: 'By id or alias. A slash in an id may be sent as it is or as %2F.',
        params: z.object({ id: z.string() }),
        response: { 200: messagesModelSchema, ...messagesErrors(401, 403, 404) },
      }),
      (request) => find(request, request.params.id),
    )
    // Ids with a slash that the client has not encoded.
    app.get(
      '/v2/gateway/anthropic/v1/models/*',
      { config: { auth: 'organisation', access: assertGatewayAccess }, schema: { hide: true } as object },
      (request) => find(request, (request.params as { '*': string })['*']),
    )
  }
}

/** The models after or before an id, in the order of the list. Throws AppError for an id that is not in it. */
function pageOf(
  models: readonly ListedModel[],
  { limit, after_id, before_id }: { limit: number; after_id?: string | undefined; before_id?: string | undefined },
) {
  const indexOf = (id: string, param: string) => {
    const index = models.findIndex((model) => model.id === id)
    if (index === -1) throw invalid([param], 'is not the id of a listed model')
    return index
  }
  const end = before_id === undefined ? models.length : indexOf(before_id, 'before_id')
  const start = after_id === undefined ? 0 : indexOf(after_id, 'after_id') + 1
  if (before_id !== undefined && after_id === undefined) {
    return { models: models.slice(Math.max(0, end - limit), end), hasMore: end > limit }
  }
  return { models: models.slice(start, Math.min(end, start + limit)), hasMore: start + limit < end }
}
