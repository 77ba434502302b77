import type { ModelV2Body } from '../../../contract/gateway-v2-models.ts'
import { basisPointsPerWhole, type UnitPrices, withDefaults } from '../../billing/index.ts'
import { ceilDivide, formatPicoUsd } from '../../../platform/kernel/index.ts'
import { euPrefix, priceInForce, type ResolvedModel } from '../../models/index.ts'

/** An entry of the list. `capabilities`: what at least one of the deployments can do. */
export function renderModel(
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
