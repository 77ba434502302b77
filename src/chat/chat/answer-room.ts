import type { KeptRoom } from '../../gateway/billing/index.ts'
import type { ProviderRequest } from '../../gateway/providers/index.ts'
import { currentOrganisation } from './current-state.ts'
import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'

/**
 * Money for the last call of an answer. It is set aside before each call that comes earlier, so that rewriting and tools cannot use up
 * the budget that the answer itself needs.
 */
export interface AnswerRoom {
  /**
   * Sets the cost of this request aside, with `furtherPromptTokens` for what is not in it yet. False where the budget does not cover it:
   * the next call has to be the last one. What was set aside before stays then.
   */
  keep(request: ProviderRequest, furtherPromptTokens?: number): Promise<boolean>
  /** For the last call, which uses it up. */
  kept(): KeptRoom | undefined
  release(): void
}

export function createAnswerRoom(
  dependencies: Pick<AnswerDependencies, 'completions' | 'findOrganisation'>,
  call: AnswerCall,
  { model, whenExhausted }: Pick<PreparedAnswer, 'model' | 'whenExhausted'>,
): AnswerRoom {
  let room: KeptRoom | undefined
  return {
    async keep(request, furtherPromptTokens = 0) {
      // The operator pays, whatever the budget has.
      if (whenExhausted === 'write_off') return true
      const next = await dependencies.completions.keepRoom({
        requestId: call.requestId,
        organisation: currentOrganisation(dependencies, call),
        surface: 'space_chat',
        spaceId: call.space.id,
        model,
        request,
        furtherPromptTokens,
        room,
        spending: call.spending,
        signal: call.signal,
      })
      if (next) room = next
      return next !== null
    },
    kept: () => room,
    release: () => room?.release(),
  }
}
