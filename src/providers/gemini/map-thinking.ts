import type { Adjustments } from '../sampling.ts'
import type { JsonObject } from '../wire-json.ts'

/** Budgets in tokens that Google's own OpenAI-compatible endpoint gives the three words for Gemini 2.5. */
const budgets: Readonly<Record<string, number>> = { minimal: 1024, low: 1024, medium: 8192, high: 24_576 }

/**
 * `reasoning_effort` as Gemini's thinking: a level from Gemini 3 on, a budget for 2.5, nothing before. Words that the model
 * has no equal for take the nearest one and are noted.
 */
export function mapThinking(
  baseModel: string,
  effort: string | undefined,
  adjustments: Adjustments,
): JsonObject | undefined {
  if (effort === undefined) return undefined
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(baseModel)?.[1] ?? 0)
  if (version >= 3) return mapLevel(baseModel, effort, adjustments)
  const budget = version >= 2.5 ? budgetOf(baseModel, effort) : undefined
  if (budget === undefined) adjustments.note('reasoningEffort')
  return budget === undefined ? undefined : { thinkingBudget: budget }
}

function mapLevel(baseModel: string, effort: string, adjustments: Adjustments): JsonObject | undefined {
  const levels: Record<string, string> = {
    none: 'low',
    minimal: 'low',
    low: 'low',
    medium: 'medium',
    high: 'high',
    xhigh: 'high',
    max: 'high',
  }
  // Only Flash knows `minimal`, the first Pro of the third generation does not know `medium`.
  if (baseModel.includes('flash')) Object.assign(levels, { none: 'minimal', minimal: 'minimal' })
  if (/gemini-3-pro/.test(baseModel)) levels.medium = 'high'
  const level = levels[effort]
  if (level !== effort) adjustments.note('reasoningEffort')
  return level === undefined ? undefined : { thinkingLevel: level }
}

/** 2.5 Pro cannot be kept from thinking. */
function budgetOf(baseModel: string, effort: string): number | undefined {
  if (effort === 'none') return baseModel.includes('flash') ? 0 : undefined
  return budgets[effort]
}
