import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { errorResponses } from '../../../contract/errors.ts'
import { modelListV2Schema, type ModelV2Body, modelV2Schema } from '../../../contract/gateway-v2-models.ts'
import { hostedToolKinds } from '../../../contract/hosted-tools.ts'
import { describeRoutes, type Routes } from '../../../platform/http/index.ts'
import { assertGatewayAccess } from '../../../tenants/organisations/index.ts'
import { ceilDivide, type Clock, formatPicoUsd } from '../../../platform/kernel/index.ts'
import { modelNotFound } from '../../gateway/index.ts'
import { type Catalogue, euPrefix, listCapabilities, priceInForce, type ResolvedModel } from '../../models/index.ts'
import { basisPointsPerWhole, type UnitPrices, withDefaults } from '../../billing/index.ts'

const described = describeRoutes('organisation', 'Gateway, version 2')
const config = { access: assertGatewayAccess }

/** `/v2/gateway/models`: every model that the organisation can call, with what it can do, its limits and prices. */
export function modelRoutes({ catalogue, clock }: { catalogue: Catalogue; clock: Clock }): Routes {
  const render = ({ organisation: { markupBasisPoints } }: FastifyRequest, resolved: ResolvedModel) => {
    const capabilities = [...listCapabilities(catalogue, resolved), ...hosted(resolved)]
    return renderModel(resolved, capabilities, { markupBasisPoints, nowMs: clock.now() })
  }
  /** Tools that the provider runs, if they have a price. */
  const hosted = (resolved: ResolvedModel) =>
    hostedToolKinds.filter((kind) =>
      catalogue
        .capable(resolved, [`use:${kind}`])
        .some((deployment) => priceInForce(deployment, clock.now())?.toolUses?.[kind] !== undefined),
    )
  const find = (request: FastifyRequest, id: string) => {
    const resolved = catalogue.resolve(request.organisation, id, clock.now())
    if (resolved) return render(request, resolved)
    throw modelNotFound(id, 2)
  }
  return (app) => {
    app.get(
      '/v2/gateway/models',
      described('listModelsV2', 'List models of every kind', {
        config,
        description:
          'Chat, embedding and rerank models with what they can do, their limits and prices, `eu/` ids included.',
        response: { 200: modelListV2Schema, ...errorResponses(401, 403) },
      }),
      (request) => ({
        object: 'list' as const,
        data: catalogue.callable(request.organisation, clock.now()).map((resolved) => render(request, resolved)),
      }),
    )
    app.get(
      '/v2/gateway/models/:id',
      described('getModelV2', 'Get a model with what it can do', {
        config,
        description: 'An entry of the list, by id or alias. A slash in an id may be sent as it is or as %2F.',
        params: z.object({ id: z.string() }),
        response: { 200: modelV2Schema, ...errorResponses(401, 403, 404) },
      }),
      (request) => find(request, request.params.id),
    )
    // Ids with a slash (`eu/…`, `vendor/model`) that the client has not encoded.
    const hidden = { config: { auth: 'organisation', ...config }, schema: { hide: true } as object } as const
    app.get('/v2/gateway/models/*', hidden, (request) => find(request, (request.params as { '*': string })['*']))
  }
}

/** An entry of the list. `capabilities`: what at least one of the deployments can do. */
function renderModel(
  { model, eu, deployments }: ResolvedModel,
  capabilities: readonly string[],
  { markupBasisPoints, nowMs }: { markupBasisPoints: number; nowMs: number },
): ModelV2Body {
  const prices = deployments.flatMap((deployment) => {
    const schedule = priceInForce(deployment, nowMs)
    return schedule ? [withDefaults(schedule.base)] : []
  })
  const dearest = (kind: keyof UnitPrices) => {
    const most = prices.reduce((highest, price) => (price[kind] > highest ? price[kind] : highest), 0n)
    // attoUsd for a token are picoUsd for a million.
    return formatPicoUsd(ceilDivide(most * (basisPointsPerWhole + BigInt(markupBasisPoints)), basisPointsPerWhole))
  }
  return {
    id: eu ? euPrefix + model.id : model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    kind: model.kind,
    capabilities: [...capabilities],
    limits: {
      context_tokens: model.contextTokens,
      max_output_tokens: model.maxOutputTokens,
      dimensions: model.dimensions,
    },
    prices: {
      input_usd_per_million: dearest('input'),
      output_usd_per_million: dearest('output'),
      cache_read_usd_per_million: dearest('cacheRead'),
      cache_write_usd_per_million: dearest('cacheWrite'),
    },
  }
}
