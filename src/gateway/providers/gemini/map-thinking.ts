import { lookUp } from '../../../platform/kernel/index.ts'
import { effortWord } from '../accept-call.ts'
import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderRequest } from '../port.ts'
import type { Adjustments } from '../sampling.ts'
import type { JsonObject } from '../wire-json.ts'

/**
 * Maps `reasoning_effort` to Gemini's thinking: a budget or a level, depending on the model. A value without an equivalent becomes the
 * nearest one and is reported.
 */
export function mapThinking(
  traits: ModelTraits,
  { reasoningEffort: effort, reasoning }: ProviderRequest,
  adjustments: Adjustments,
): JsonObject | undefined {
  const shown = reasoning?.summary !== undefined && reasoning.summary !== 'none' && { includeThoughts: true }
  const { thinkingBudgets } = traits
  const wanted = reasoning?.mode === 'disabled' ? 0 : reasoning?.budgetTokens
  if (wanted !== undefined && thinkingBudgets) return { thinkingBudget: wanted, ...shown }
  const level = effort === undefined ? undefined : toLevel(traits, effort, adjustments)
  if (wanted !== undefined && !level) adjustments.noteName('reasoning')
  return level || shown ? { ...level, ...shown } : undefined
}

function toLevel(traits: ModelTraits, effort: string, adjustments: Adjustments): JsonObject | undefined {
  const { thinkingBudgets } = traits
  if (thinkingBudgets) {
    const budget = lookUp(thinkingBudgets, effort)
    if (budget === undefined) adjustments.note('reasoningEffort')
    return budget === undefined ? undefined : { thinkingBudget: budget }
  }
  const level = effortWord(effort, { efforts: traits.efforts ?? {} })
  if (level !== effort) adjustments.note('reasoningEffort')
  return level === undefined ? undefined : { thinkingLevel: level }
}
