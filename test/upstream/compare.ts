import { isDeepStrictEqual } from 'node:util'
import type { ProviderError, TokenUsage } from '../../src/gateway/providers/index.ts'
import type { FoldedAnswer } from './fold-answer.ts'
import type { WireExpectation } from './wire-index.ts'

/** The differences, one line each; empty if all is as expected. */
export type Differences = string[]

export function compareAnswer(expected: WireExpectation, answer: Omit<FoldedAnswer, 'wireFinishReason'>): Differences {
  return [
    ...differ('text', expected.text, answer.text),
    ...differ('reasoning_text', expected.reasoning_text, answer.reasoningText),
    ...differ('refusal', expected.refusal, answer.refusal),
    ...differ('finish_reason', expected.finish_reason, answer.finishReason),
    ...compareUsage(expected.usage, answer.usage),
    ...differ('tool_calls', expected.tool_calls ?? [], answer.toolCalls.map(readCall)),
  ]
}

function readCall({ name, argumentsJson }: { name: string; argumentsJson: string }): {
  name: string
  arguments: unknown
} {
  try {
    return { name, arguments: JSON.parse(argumentsJson) as unknown }
  } catch {
    return { name, arguments: argumentsJson }
  }
}

function compareUsage(expected: WireExpectation['usage'], usage: TokenUsage | null): Differences {
  if (expected === undefined) return []
  if (expected === null || usage === null) return differ('usage', expected, usage)
  const counted: Record<string, number> = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
  }
  return Object.entries(expected).flatMap(([field, count]) =>
    field in counted ? differ(`usage.${field}`, count, counted[field]) : [],
  )
}

export function compareError(expected: WireExpectation, error: ProviderError): Differences {
  const contained = expected.message_contains
  return [
    ...differ('error_class', expected.error_class, error.errorClass),
    ...differ('retryable', expected.retryable, error.retryable),
    ...(contained === undefined || error.message.toLowerCase().includes(contained.toLowerCase())
      ? []
      : [`message: expected to contain ${show(contained)}, got ${show(error.message)}`]),
  ]
}

/** Gemini's list names resources (`models/…`); the id follows the slash. */
export function compareModels(expected: WireExpectation, ids: string[]): Differences {
  return [
    ...differ('count', expected.count, ids.length),
    ...differ('first_id', expected.first_id?.replace(/^models\//, ''), ids[0]),
  ]
}

export function compareEmbeddings(
  expected: WireExpectation,
  answer: { vectors: Float32Array[]; promptTokens: number | null },
): Differences {
  return [
    ...differ('count', expected.count, answer.vectors.length),
    ...answer.vectors.flatMap((vector) => differ('dimensions', expected.dimensions, vector.length)),
    ...differ('usage.prompt_tokens', expected.usage?.prompt_tokens, answer.promptTokens),
  ]
}

/** `expected` undefined: the index has no expectation. */
function differ(what: string, expected: unknown, actual: unknown): Differences {
  if (expected === undefined || isDeepStrictEqual(expected, actual)) return []
  if (typeof expected === 'string' && typeof actual === 'string') return [`${what}: ${describeText(expected, actual)}`]
  return [`${what}: expected ${show(expected)}, got ${show(actual)}`]
}

/** The position where two texts differ, with a little text before it. */
function describeText(expected: string, actual: string): string {
  let at = 0
  while (at < expected.length && expected[at] === actual[at]) at++
  const from = Math.max(0, at - 10)
  return `differs at ${at}: expected ${show(expected.slice(from))}, got ${show(actual.slice(from))}`
}

const maximumShownCharacters = 120

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > maximumShownCharacters ? `${text.slice(0, maximumShownCharacters)}…` : text
}
