import type { Clock, RequestId } from '../../platform/kernel/index.ts'
import { assertSubscription, type Organisation } from '../../tenants/organisations/index.ts'
import type { Catalogue } from '../models/index.ts'
import type { ProviderRequest } from '../providers/index.ts'
import type { Router } from '../routing/index.ts'
import type { TokenCounting, TokenEstimate } from '../tokens/index.ts'
import { deploymentsFor } from './capable-deployments.ts'
import { modelNotFound } from './model-not-found.ts'
import { countPrompt } from './count-prompt.ts'
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
  signal: AbortSignal
}

/** Counts the tokens of a prompt without an answer and without cost. */
export interface TokenCounts {
  count(call: TokenCountCall): Promise<number>
}

export interface TokenCountsDependencies {
  catalogue: Catalogue
  router: Router
  tokens: TokenCounting
  clock: Clock
}

/** The provider's count where one of the model's deployments has one, else an own count, which may differ from the bill. Throws AppError. */
export function createTokenCounts({ catalogue, router, tokens, clock }: TokenCountsDependencies): TokenCounts {
  return {
    async count(call) {
      const now = clock.now()
      const resolved = catalogue.resolve(call.organisation, call.model, now)
      if (!resolved || resolved.model.kind !== 'chat') throw modelNotFound(call.model, 2)
      assertSubscription(call.organisation, now)
      const candidates = deploymentsFor({ catalogue, clock }, call, resolved).filter(
        (deployment) => catalogue.provider(deployment).countTokens !== undefined,
      )
      if (candidates.length === 0) return (await countPrompt(call.request, tokens)) ?? call.promptEstimate.estimate
      const { request, requestId, organisation, signal } = call
      try {
        const counted = await router.run({ candidates, signal, streamed: false }, (deployment, attemptSignal) =>
          catalogue.provider(deployment).countTokens!({
            model: deployment.wire,
            request,
            signal: attemptSignal,
            tenant: organisation.id,
            deployment: deployment.id,
            requestId,
          }),
        )
        return counted.value
      } catch (error) {
        throw toAppError(error, signal)
      }
    },
  }
}
