import { anySignal, type Clock, type EndSignal, type RequestId } from '../../platform/kernel/index.ts'
import { assertSubscription, type Organisation } from '../../tenants/organisations/index.ts'
import type { Catalogue, Deployment } from '../models/index.ts'
import { estimateMedia, type Provider, type ProviderRequest } from '../providers/index.ts'
import type { TokenCounting, TokenEstimate } from '../tokens/index.ts'
import { deploymentsFor, modelNotFound } from './find-deployments.ts'
import { countPrompt } from './prompt-size.ts'
import { toAppError } from './opened-call.ts'
import type { CallNeeds } from './port.ts'

export interface TokenCountCall {
  requestId: RequestId
  organisation: Organisation
  /** As the client sent it. */
  model: string
  request: ProviderRequest
  promptEstimate: TokenEstimate
  needs?: CallNeeds
  signal: EndSignal
}

export interface CountedPrompt {
  tokens: number
  /** Who counted. */
  by: 'provider' | 'portico'
}

/** Counts the tokens of a prompt without an answer and without cost. */
export interface TokenCounts {
  count(call: TokenCountCall): Promise<CountedPrompt>
}

/** Deployments that are asked for a count. */
const maximumAttempts = 2
const timeoutMs = 10_000

export interface TokenCountsDependencies {
  catalogue: Catalogue
  tokens: TokenCounting
  clock: Clock
}

/**
 * The provider's count where one of the model's deployments has one, else an own count, which may differ from the bill. Providers count for
 * some of their models only. Throws AppError.
 */
export function createTokenCounts({ catalogue, tokens, clock }: TokenCountsDependencies): TokenCounts {
  return {
    async count(call) {
      const now = clock.now()
      const resolved = catalogue.resolve(call.organisation, call.model, now)
      if (!resolved || resolved.model.kind !== 'chat') throw modelNotFound(call.model, 2)
      assertSubscription(call.organisation, now)
      const deployments = deploymentsFor({ catalogue, clock }, call, resolved)
      const candidates = deployments.filter((deployment) => catalogue.provider(deployment).countTokens !== undefined)
      for (const deployment of candidates.slice(0, maximumAttempts)) {
        const counted = await countThere(catalogue.provider(deployment), deployment, call)
        if (counted !== null) return { tokens: counted, by: 'provider' }
      }
      return countHere(call, resolved.model.contextTokens, deployments)
    },
  }

  async function countHere(
    { organisation, request, promptEstimate }: TokenCountCall,
    contextTokens: number,
    deployments: readonly Deployment[],
  ): Promise<CountedPrompt> {
    const media = deployments.map(({ wire }) => estimateMedia(request.messages, wire, contextTokens).estimate)
    const texts = (await countPrompt(request, tokens, organisation.id)) ?? promptEstimate.estimate
    return { tokens: texts + Math.max(0, ...media), by: 'portico' }
  }
}

/** Null if the provider has no count of this model or prompt. The router hears nothing of it: the deployment can still answer. */
async function countThere(
  { countTokens }: Provider,
  { id, wire }: Deployment,
  { request, requestId, organisation, signal }: TokenCountCall,
): Promise<number | null> {
  try {
    return await countTokens!({
      model: wire,
      request,
      signal: anySignal(signal, AbortSignal.timeout(timeoutMs)),
      tenant: organisation.id,
      deployment: id,
      requestId,
    })
  } catch (error) {
    if (signal.aborted) throw toAppError(error, signal)
    return null
  }
}
