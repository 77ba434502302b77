import type { BuiltCatalogue } from './build-catalogue.ts'
import { type Deployment, euPrefix } from './catalogue.ts'
import { priceInForce } from './create-catalogue.ts'

/** A model of the catalogue that makes vectors, on one side. */
export interface EmbeddingModel {
  /** With `eu/` for the EU side. */
  id: string
  providers: string[]
  hostings: string[]
  dimensions: number
  /** attoUsd per token, of its most expensive deployment. */
  input: bigint
}

/** The embedding models that can be called now in some organisation, the cheapest first. */
export function listEmbeddingModels({ models }: BuiltCatalogue, nowMs: number): EmbeddingModel[] {
  const found = [...models.values()].flatMap((model) => {
    const { id, kind, enabled, dimensions, retiresAt, sides } = model
    if (kind !== 'embedding' || !enabled || dimensions === null || (retiresAt !== null && retiresAt <= nowMs)) return []
    return [
      describeSide(id, dimensions, sides.other, nowMs),
      describeSide(euPrefix + id, dimensions, sides.eu, nowMs),
    ].flat()
  })
  return found.toSorted((left, right) => Number(left.input - right.input))
}

function describeSide(
  id: string,
  dimensions: number,
  deployments: readonly Deployment[],
  nowMs: number,
): EmbeddingModel[] {
  const priced = deployments.flatMap((deployment) => {
    const schedule = priceInForce(deployment, nowMs)
    return schedule ? [{ ...deployment, input: schedule.base.input }] : []
  })
  if (priced.length === 0) return []
  const input = priced.reduce((most, one) => (one.input > most ? one.input : most), 0n)
  const different = (values: string[]) => [...new Set(values)]
  const providers = different(priced.map(({ providerId }) => providerId))
  return [{ id, providers, hostings: different(priced.map(({ hosting }) => hosting)), dimensions, input }]
}
