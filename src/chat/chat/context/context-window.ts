import { textOf } from '../../../platform/bodies/index.ts'
import { AppError, createTimeSlices } from '../../../platform/kernel/index.ts'
import type { Passage } from '../../../documents/retrieval/index.ts'
import { textOfContent } from '../../../gateway/conversation/index.ts'
import type { ProviderMessage } from '../../../gateway/providers/index.ts'
import { estimateTokens, type TokenCounting } from '../../../gateway/tokens/index.ts'
import { continues, fenceTokens, formatSource, type GivenPassage, joinChunks, repeatedUnits } from './prompt.ts'

/** The context window of a Space's model: instructions, question, passages, earlier turns and the answer share it. */
export type ContextWindow = ReturnType<typeof createContextWindow>

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
) {
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

function createContextWindow({ limits, windowTokens, exact, count, usedTokens }: OpenWindow) {
  let used = usedTokens
  return {
    /** Reserves room for a text that will be sent. */
    async add(text: string): Promise<void> {
      used += await count(text, windowTokens)
    },
    /** Drops the oldest turns until the others fit alongside the passages; reserves room for those. */
    async keepRecent<Turn extends ProviderMessage>(turns: readonly Turn[]): Promise<Turn[]> {
      // Passages and earlier turns share the remaining room; the turns get what passages cannot use.
      const left = windowTokens - used - fenceTokens
      const room = left - (exact ? Math.min(passageReserve(limits), left / 2) : boundFactor * passageReserve(limits))
      const recent = await findRecent(turns, room, count)
      for (const { size } of recent) used += size
      return recent.map(({ turn }) => turn)
    },
    /** The passages of the chunks that fit, the best first; reserves room for them. `firstNumber`: source number of the first one. */
    async pack(chunks: readonly Passage[], firstNumber: number): Promise<PackedPassages> {
      used += fenceTokens
      const { tokens, ...packed } = await packPassages(chunks, firstNumber, {
        room: windowTokens - used,
        limit: limits.passageTokens,
        count,
      })
      used += tokens
      return packed
    },
    /** The passages of all these chunks; null, and nothing is reserved, where they have more tokens than `wholeTokens` or do not fit. */
    async packAll(chunks: readonly Passage[]): Promise<PackedPassages | null> {
      const room = windowTokens - used - fenceTokens
      const given = { room, limit: limits.wholeTokens, count, isStrict: true }
      const { tokens, ...packed } = await packPassages(chunks, 1, given)
      if ([...packed.omitted.values()].some((reason) => reason !== 'repeat')) return null
      used += fenceTokens + tokens
      return packed
    },
    /** Most tokens of the passages of the next search. */
    passageRoom: (): number => Math.min(limits.passageTokens, windowTokens - used - fenceTokens),
    /** The output limit to send, at most the remaining room; undefined where the provider's default fits. */
    outputCap(): number | undefined {
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

export interface PackedPassages {
  passages: GivenPassage[]
  /** Why the other chunks are not in them, by `chunkId`. */
  omitted: Map<string, Omission>
}

/** `repeat`: the text is there already. `token_limit`: no room in the tokens of passages. `context_limit`: none in the context of the model. */
type Omission = 'repeat' | 'token_limit' | 'context_limit'

/** Tokens of a message with this text. The result is only exact up to `room`; a far longer text gets a rough count. */
type Count = (text: string, room: number) => Promise<number>

interface PassageRoom {
  /** Tokens that are left in the context of the model. */
  room: number
  /** Tokens that passages may have, by an estimate: it is about cost, so an estimate is good enough. */
  limit: number
  count: Count
  /** Also the first chunk must fit into the limit. */
  isStrict?: boolean
}

/**
 * The passages of these chunks that fit, joined where chunks continue each other, in the order of their first chunks. A chunk that is too long
 * leaves room for shorter ones. The first chunk is taken whatever its estimate, where the context has room for it.
 */
export async function packPassages(
  chunks: readonly Passage[],
  firstNumber: number,
  { room, limit, count, isStrict = false }: PassageRoom,
): Promise<PackedPassages & { tokens: number }> {
  const set = createPassageSet()
  const omitted = new Map<string, Omission>()
  let roomLeft = room
  let limitLeft = limit
  for (const chunk of chunks) {
    const planned = set.plan(chunk)
    if (!planned) {
      omitted.set(chunk.chunkId, 'repeat')
      continue
    }
    const isJoined = planned.left !== undefined || planned.right !== undefined
    const text = isJoined ? planned.text : formatSource(chunk, firstNumber + set.size())
    const { estimate } = estimateTokens(text)
    if (estimate > limitLeft && (isStrict || set.size() > 0)) {
      omitted.set(chunk.chunkId, 'token_limit')
      continue
    }
    const size = await count(text, roomLeft)
    if (size > roomLeft) {
      omitted.set(chunk.chunkId, 'context_limit')
      continue
    }
    set.add(planned)
    roomLeft -= size
    limitLeft -= estimate
  }
  return { passages: set.passages(), omitted, tokens: room - roomLeft }
}

/** A chunk that may be added to a set. */
interface PlannedChunk {
  chunk: Passage
  /** What it adds to the prompt: its text, without what a neighbour in the set already has. */
  text: string
  tokens: number
  /** Runs that it continues or begins; both undefined: it becomes a separate passage. */
  left: Run | undefined
  right: Run | undefined
}

/** Chunks of a set that continue each other. */
interface Run {
  chunks: [Passage, ...Passage[]]
  /** Estimated. */
  tokens: number
}

/**
 * Estimated tokens of a joined passage at most: four chunks of the usual size. A marker names a passage, so a passage of a whole document
 * would be vague, and nearly any sentence would find its words in it.
 */
const maximumJoinedTokens = 1_500
/** The same where a chunk ends within a block, such as a long code fence: its lines stay together. */
const maximumTokensOfBlock = 3_000

/** The chunks of a prompt, joined where they continue each other. Repeats of a text are not added. */
export function createPassageSet() {
  const runs = new Set<Run>()
  const runOf = new Map<string, { chunk: Passage; run: Run }>()
  const texts = new Set<string>()

  const placeOf = ({ documentId }: Passage, chunkIndex: number) => runOf.get(`${documentId} ${chunkIndex}`)
  const before = (chunk: Passage) => {
    const found = placeOf(chunk, chunk.chunkIndex - 1)
    return found && continues(chunk, found.chunk) ? found : undefined
  }
  const after = (chunk: Passage) => {
    const found = placeOf(chunk, chunk.chunkIndex + 1)
    return found && continues(found.chunk, chunk) ? found : undefined
  }

  return {
    /** Null where the set already has the text. */
    plan(chunk: Passage): PlannedChunk | null {
      if (texts.has(normalise(chunk.text))) return null
      const last = before(chunk)
      const next = after(chunk)
      const text = last ? chunk.text.slice(repeatedUnits(chunk, last.chunk.characterTo)) : chunk.text
      if (text === '') return null
      const tokens = estimateTokens(text).estimate
      const fits = (run: Run | undefined, more: number, isOneBlock: boolean) =>
        run && run.tokens + more <= (isOneBlock ? maximumTokensOfBlock : maximumJoinedTokens) ? run : undefined
      const left = fits(last?.run, tokens, last !== undefined && divides(last.chunk, chunk))
      const right = fits(next?.run, tokens + (left?.tokens ?? 0), next !== undefined && divides(chunk, next.chunk))
      return { chunk, text, tokens, left, right }
    },

    add({ chunk, tokens, left, right }: PlannedChunk): void {
      const run: Run = left ?? right ?? { chunks: [chunk], tokens: 0 }
      if (left) run.chunks.push(chunk)
      else if (right) run.chunks.unshift(chunk)
      run.tokens += tokens
      if (left && right) {
        left.chunks.push(...right.chunks)
        left.tokens += right.tokens
        // The better rank of both counts.
        if (isBefore(runs, right, left)) replace(runs, right, left)
        else runs.delete(right)
      }
      runs.add(run)
      for (const one of run.chunks) runOf.set(`${one.documentId} ${one.chunkIndex}`, { chunk: one, run })
      texts.add(normalise(chunk.text))
    },

    /** Passages. */
    size: () => runs.size,

    /** In the order in which their first chunk was added. */
    passages(): GivenPassage[] {
      return [...runs].map(({ chunks }) => joinChunks(chunks, before(chunks[0])?.chunk.characterTo))
    },
  }
}

/** Whether the border of two chunks divides a block: a line feed is between blocks, and most other texts overlap. */
function divides(chunk: Passage, next: Passage): boolean {
  return next.characterFrom === chunk.characterTo
}

function isBefore<Item>(items: Iterable<Item>, one: Item, other: Item): boolean {
  for (const item of items) if (item === one || item === other) return item === one
  return false
}

/** Puts `other`, which is in the set too, into the place of `one`. */
function replace<Item>(items: Set<Item>, one: Item, other: Item): void {
  const order = [...items].flatMap((item) => (item === one ? [other] : item === other ? [] : [item]))
  items.clear()
  for (const item of order) items.add(item)
}

const normalise = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
