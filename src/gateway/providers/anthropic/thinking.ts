import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderRequest } from '../port.ts'
import type { Adjustments } from '../sampling.ts'
import { answerToolName } from '../structured-answer.ts'
import type { JsonObject } from '../wire-json.ts'

/** The smallest budget that the API accepts. */
const leastBudget = 1_024

/** The client's thinking in the model's form: newer models decide themselves and refuse a budget. */
export function toThinking(
  { reasoning, toolChoice }: ProviderRequest,
  { thinking }: ModelTraits,
  adjustments: Adjustments,
): JsonObject | undefined {
  const { mode, budgetTokens, summary } = reasoning ?? {}
  if (mode === undefined && budgetTokens === undefined) return undefined
  // The API refuses thinking before a forced call.
  if (typeof toolChoice === 'object' && toolChoice.name === answerToolName) {
    if (mode !== 'disabled') adjustments.noteName('reasoning')
    return undefined
  }
  if (mode === 'disabled') return thinking === 'adaptive' ? undefined : { type: 'disabled' }
  const display = summary !== undefined && { display: summary === 'none' ? 'omitted' : 'summarized' }
  if (thinking === 'adaptive' || (mode === 'adaptive' && thinking !== 'budget')) {
    if (budgetTokens !== undefined) adjustments.noteName('reasoning')
    return { type: 'adaptive', ...display }
  }
  if (mode === 'adaptive') adjustments.noteName('reasoning')
  return { type: 'enabled', budget_tokens: Math.max(leastBudget, budgetTokens ?? leastBudget), ...display }
}
