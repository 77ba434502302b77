import { textOf } from '../../../platform/bodies/index.ts'
import { AppError, createTimeSlices } from '../../../platform/kernel/index.ts'
import type { Passage } from '../../../documents/retrieval/index.ts'
import { textOfContent } from '../../../gateway/conversation/index.ts'
import type { ProviderMessage } from '../../../gateway/providers/index.ts'
import { estimateTokens, type TokenCounting } from '../../../gateway/tokens/index.ts'
import { type Count, packPassages, type PackedPassages } from './pack-passages.ts'
import { fenceTokens } from './prompt.ts'

/** The context window of a Space's model: instructions, question, passages, earlier turns and the answer share it. */
export interface ContextWindow {
  /** Reserves room for a text that will be sent. */
  add(text: string): Promise<void>
  /** Drops the oldest turns until the others fit alongside the passages; reserves room for those. */
  keepRecent<Turn extends ProviderMessage>(turns: readonly Turn[]): Promise<Turn[]>
  /** The passages of the chunks that fit, the best first; reserves room for them. `firstNumber`: source number of the first one. */
  pack(chunks: readonly Passage[], firstNumber: number): Promise<PackedPassages>
  /** The passages of all these chunks; null, and nothing is reserved, where they have more tokens than `wholeTokens` or do not fit. */
  packAll(chunks: readonly Passage[]): Promise<PackedPassages | null>
  /** Most tokens of the passages of the next search. */
  passageRoom(): number
  /** The output limit to send, at most the remaining room; undefined where the provider's default fits. */
  outputCap(): number | undefined
}

export interface ContextLimits {
  contextTokens: number
  maxOutputTokens: number
  /** The Space's limit of an answer; null where it has none. */
  answerTokens: number | null
  /** The Space's limit of the passages of one search. */
  passageTokens: number
  /** The Space's limit of files that are given whole. */
  wholeTokens: number
}

/** What is in the window from its beginning. */
interface WindowContent {
  system: string
  turns: readonly ProviderMessage[]
  /** Turns before these that the client sent and nobody reads. */
  omitted?: number
  /** The organisation whose turns the counts take. */
  owner: string
}

/** The upper bound of a text is rarely more than this many times its tokens: about twice for prose, more for text that is not ASCII. */
export const boundFactor = 4
/** Tokens that are kept free for an answer without a limit. */
const defaultAnswerTokens = 4_000
/** Largest share of a window that is kept free for the answer, without and with a limit of the Space. */
const answerShare = 0.25
const cappedAnswerShare = 0.5
/** Tokens for the role and the separators of one message, as the gateway counts them. */
const messageTokens = 12
/** Other tokenizers make more tokens from the same text than the one used here. */
const tokenizerMargin = 1.15
/** A text whose estimate is this many times the room is too long; an exact count is not needed. */
const maximumEstimateFactor = 8

/**
 * Opens the window for a system prompt and a question. Throws `context_length_exceeded` with the limit where the question does not fit,
 * and `upstream_error` where the instructions alone do not. Texts are counted by a cheap upper bound where all of them fit by it,
 * otherwise exactly.
 */
export async function openContextWindow(
  tokens: TokenCounting,
  limits: ContextLimits,
  { system, turns, omitted = 0, owner }: WindowContent,
): Promise<ContextWindow> {
  const windowTokens = limits.contextTokens - answerReserve(limits)
  const question = turns.at(-1)!
  const texts = [system, ...[question, ...turns.slice(0, -1)].map((turn) => textOf(textOfContent(turn.content)))]
  const exact = !(await fitsByBound(texts, windowTokens - 2 * boundFactor * passageReserve(limits)))
  const count = createCounter(tokens, exact, owner)

  const systemTokens = await count(system, windowTokens)
  const room = windowTokens - systemTokens - fenceTokens
  if (room <= 0) {
    throw new AppError(
      'upstream_error',
      `The instructions of the Space take ${systemTokens} tokens; its model has room for ${windowTokens} alongside an answer. Shorten them, or use a model with a larger context.`,
    )
  }
  const questionTokens = await count(textOf(textOfContent(question.content)), room)
  if (questionTokens > room) {
    throw new AppError(
      'context_length_exceeded',
      `The last message has about ${questionTokens} tokens. This assistant accepts at most ${room}. Shorten the message.`,
      { param: `messages.${omitted + turns.length - 1}.content` },
    )
  }
  return createContextWindow({ limits, windowTokens, exact, count, usedTokens: systemTokens + questionTokens })
}

function createCounter(tokens: TokenCounting, exact: boolean, owner: string): Count {
  const slice = createTimeSlices()
  return async (text, room) => {
    await slice()
    const { bound, estimate } = estimateTokens(text)
    if (!exact) return bound + messageTokens
    if (estimate > room * maximumEstimateFactor) return estimate
    return Math.ceil((await tokens.count([text], owner)) * tokenizerMargin) + messageTokens
  }
}

interface OpenWindow {
  limits: ContextLimits
  /** The model's context without the room that is kept free for the answer. */
  windowTokens: number
  exact: boolean
  count: Count
  /** Tokens of everything that will be sent. */
  usedTokens: number
}

function createContextWindow({ limits, windowTokens, exact, count, usedTokens }: OpenWindow): ContextWindow {
  let used = usedTokens
  return {
    async add(text) {
      used += await count(text, windowTokens)
    },
    async keepRecent(turns) {
      // Passages and earlier turns share the remaining room; the turns get what passages cannot use.
      const left = windowTokens - used - fenceTokens
      const room = left - (exact ? Math.min(passageReserve(limits), left / 2) : boundFactor * passageReserve(limits))
      const recent = await findRecent(turns, room, count)
      for (const { size } of recent) used += size
      return recent.map(({ turn }) => turn)
    },
    async pack(chunks, firstNumber) {
      used += fenceTokens
      const { tokens, ...packed } = await packPassages(chunks, firstNumber, {
        room: windowTokens - used,
        limit: limits.passageTokens,
        count,
      })
      used += tokens
      return packed
    },
    async packAll(chunks) {
      const room = windowTokens - used - fenceTokens
      const given = { room, limit: limits.wholeTokens, count, isStrict: true }
      const { tokens, ...packed } = await packPassages(chunks, 1, given)
      if ([...packed.omitted.values()].some((reason) => reason !== 'repeat')) return null
      used += fenceTokens + tokens
      return packed
    },
    passageRoom: () => Math.min(limits.passageTokens, windowTokens - used - fenceTokens),
    outputCap() {
      const wanted = limits.answerTokens ?? limits.maxOutputTokens
      const left = Math.max(1, Math.floor(limits.contextTokens - used))
      if (wanted > left) return left
      return limits.answerTokens ?? undefined
    },
  }
}

/** The longest tail of `turns` that fits into `room` tokens. A shortened conversation begins with a question. */
async function findRecent<Turn extends ProviderMessage>(turns: readonly Turn[], room: number, count: Count) {
  const kept: { turn: Turn; size: number }[] = []
  let left = room
  for (const turn of turns.toReversed()) {
    const size = await count(textOf(textOfContent(turn.content)), room)
    if (size > left) break
    kept.push({ turn, size })
    left -= size
  }
  kept.reverse()
  if (kept.length === turns.length) return kept
  const first = kept.findIndex(({ turn }) => turn.role === 'user')
  return first === -1 ? [] : kept.slice(first)
}

/** Tokens that earlier turns leave to passages. */
function passageReserve({ passageTokens, wholeTokens }: ContextLimits): number {
  return Math.max(passageTokens, wholeTokens)
}

function answerReserve({ contextTokens, maxOutputTokens, answerTokens }: ContextLimits): number {
  return answerTokens === null
    ? Math.min(maxOutputTokens, defaultAnswerTokens, Math.floor(contextTokens * answerShare))
    : Math.min(answerTokens, Math.floor(contextTokens * cappedAnswerShare))
}

/** Whether all texts fit by the upper bound; stops counting where they do not. A request may have 33 million characters. */
async function fitsByBound(texts: readonly string[], window: number): Promise<boolean> {
  const slice = createTimeSlices()
  let left = window
  for (const text of texts) {
    await slice()
    left -= estimateTokens(text).bound + messageTokens
    if (left < 0) return false
  }
  return true
}
