import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../kernel/index.ts'
import type { Passage } from '../../retrieval/index.ts'
import type { ProviderMessage } from '../../providers/index.ts'
import { estimateTokens, type TokenCounting } from '../../tokens/index.ts'
import { fenceTokens, formatSource } from './prompt.ts'

/** What the context window of a Space's model has room for: instructions, question, passages, earlier turns and the answer. */
export interface ContextWindow {
  /** Takes room for a text that will be sent. */
  add(text: string): Promise<void>
  /** The longest tail of the earlier turns that fits next to the passages, oldest turns left out first. */
  keepRecent<Turn extends ProviderMessage>(turns: readonly Turn[]): Promise<Turn[]>
  /** Passages in order of rank, as many as fit, and takes room for them. */
  pack(passages: readonly Passage[], firstNumber: number): Promise<Passage[]>
  /** The output cap to send: never more than is left; undefined where the provider's default fits. */
  outputCap(): number | undefined
}

export interface ContextLimits {
  contextTokens: number
  maxOutputTokens: number
  /** The Space's own cap of an answer. */
  answerTokens: number | null
}

/** Room for passages where the window is large: about 6,000 tokens of English, in UTF-8 bytes and in tokens. */
export const maximumPassageBytes = 24_000
const maximumPassageTokens = 6_000
/** Kept free for an answer without a cap, tokens. */
const defaultAnswerTokens = 4_000
/** Share of a small window that is kept free for the answer, without and with a cap of the Space. */
const answerShare = 0.25
const cappedAnswerShare = 0.5
/** Role and separators of one message, as the gateway's bound counts them. */
const messageTokens = 12
/** Other tokenizers make more tokens of the same text than the one that counts here. */
const tokenizerMargin = 1.15
/** A text whose estimate is this many times the room is too long without an exact count. */
const hopelessFactor = 8
/** UTF-16 units that are counted in one turn of the event loop, about 10 ms. */
const unitsPerTurn = 20_000

/**
 * Opens the window for a system prompt and a question. Throws `context_length_exceeded` with the limit where the question does not fit,
 * and `upstream_error` where not even the instructions do. Texts are counted by a cheap bound where all of them fit by it,
 * otherwise exactly.
 */
export async function openContextWindow(
  tokens: TokenCounting,
  limits: ContextLimits,
  { system, turns }: { system: string; turns: readonly ProviderMessage[] },
): Promise<ContextWindow> {
  const answer = answerReserve(limits)
  const window = limits.contextTokens - answer
  const question = turns.at(-1)!
  const earlier = turns.slice(0, -1)
  const exact = !fitsByBound([system, question.content, ...earlier.map((turn) => turn.content)], window)
  let used = 0
  let unitsInTurn = 0

  async function count(text: string, room: number): Promise<number> {
    unitsInTurn += text.length
    if (unitsInTurn > unitsPerTurn) {
      await nextTurn()
      unitsInTurn = 0
    }
    const { bound, estimate } = estimateTokens(text)
    if (!exact) return bound + messageTokens
    if (estimate > room * hopelessFactor) return estimate
    return Math.ceil((await tokens.count([text])) * tokenizerMargin) + messageTokens
  }

  used += await count(system, window)
  const room = window - used - fenceTokens
  if (room <= 0) {
    throw new AppError('upstream_error', 'This assistant is not configured correctly.', {
      internal: `the instructions of the Space take ${used} tokens, its model has room for ${window} next to an answer`,
    })
  }
  const questionTokens = await count(question.content, room)
  if (questionTokens > room) {
    throw new AppError(
      'context_length_exceeded',
      `The last message has about ${questionTokens} tokens. This assistant accepts at most ${room}. Shorten the message.`,
      { param: `messages.${turns.length - 1}.content` },
    )
  }
  used += questionTokens

  return {
    async add(text) {
      used += await count(text, window)
    },
    async keepRecent(given) {
      // Passages and earlier turns share what is left, the turns get what passages cannot use.
      const room =
        window -
        used -
        fenceTokens -
        (exact ? Math.min(maximumPassageTokens, (window - used - fenceTokens) / 2) : maximumPassageBytes)
      const kept: { turn: (typeof given)[number]; size: number }[] = []
      let left = room
      for (const turn of given.toReversed()) {
        const size = await count(turn.content, room)
        if (size > left) break
        kept.push({ turn, size })
        left -= size
      }
      kept.reverse()
      // What is left after a cut begins with a question.
      const first = kept.length < given.length ? kept.findIndex(({ turn }) => turn.role === 'user') : 0
      const recent = first === -1 ? [] : kept.slice(first)
      for (const { size } of recent) used += size
      return recent.map(({ turn }) => turn)
    },
    async pack(passages, firstNumber) {
      const packed: Passage[] = []
      used += fenceTokens
      let tokensLeft = exact ? Math.min(maximumPassageTokens, window - used) : window - used
      let bytesLeft = maximumPassageBytes
      for (const passage of passages) {
        const text = formatSource(passage, firstNumber + packed.length)
        const bytes = Buffer.byteLength(text)
        if (bytes > bytesLeft && packed.length > 0) break
        const size = await count(text, tokensLeft)
        // A passage that is too long for a small window leaves room for shorter ones.
        if (size > tokensLeft) continue
        packed.push(passage)
        tokensLeft -= size
        bytesLeft -= bytes
        used += size
      }
      return packed
    },
    outputCap() {
      const wanted = limits.answerTokens ?? limits.maxOutputTokens
      const left = Math.max(1, Math.floor(limits.contextTokens - used))
      if (wanted > left) return left
      return limits.answerTokens ?? undefined
    },
  }
}

function answerReserve({ contextTokens, maxOutputTokens, answerTokens }: ContextLimits): number {
  return answerTokens === null
    ? Math.min(maxOutputTokens, defaultAnswerTokens, Math.floor(contextTokens * answerShare))
    : Math.min(answerTokens, Math.floor(contextTokens * cappedAnswerShare))
}

/** Whether all texts and a full set of passages fit, by the bound; stops counting where they do not. */
function fitsByBound(texts: readonly string[], window: number): boolean {
  let left = window - 2 * maximumPassageBytes
  for (const text of texts) {
    left -= estimateTokens(text).bound + messageTokens
    if (left < 0) return false
  }
  return true
}
