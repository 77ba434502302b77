import type { Reranking } from '../../../gateway/gateway/index.ts'
import { AppError, type OrganisationId } from '../../../platform/kernel/index.ts'
import type { Organisation } from '../../../tenants/organisations/index.ts'
import type { Reranker } from './reranker.ts'

export interface ProviderRerankerOptions {
  /** Of the gateway: every call is routed, held and billed there. */
  reranking: Reranking
  /** The organisation that is billed; undefined where it is gone. */
  organisation(id: OrganisationId): Organisation | undefined
  /** Canonical id of a rerank model of the catalogue. */
  model: string
}

/** The router ends first, in steps of 100 ms, so that a slow provider counts as failed at its circuit breaker. */
const routerMarginMs = 150
const leastTimeoutMs = 100

/** A rerank model of a provider, billed through the gateway to the organisation whose Space is searched. The router retries what is safe. */
export function createProviderReranker({ reranking, organisation, model }: ProviderRerankerOptions): Reranker {
  return {
    id: `provider:${model}`,
    label: `${model} of a provider`,
    async score({ query, documents, organisationId, spaceId, timeoutMs, spending, signal }) {
      const billed = organisation(organisationId)
      if (!billed) throw new AppError('organisation_not_found', 'The organisation of this Space no longer exists.')
      const { scores } = await reranking.rerank({
        organisation: billed,
        spaceId,
        model,
        query,
        documents: [...documents],
        timeoutMs: Math.max(leastTimeoutMs, timeoutMs - routerMarginMs),
        spending,
        signal,
      })
      return scores
    },
    async close() {},
  }
}
