import type { NewTurn } from './turn.ts'

/** A stored turn that a request may continue. */
export interface KnownTurn {
  conversationId: string
  number: number
  /** The number of the newest turn of its conversation. */
  lastNumber: number
  atMs: number
  /** No stored turn continues it. */
  isLast: boolean
}

export interface PlacedTurn {
  turn: NewTurn
  conversationId: string
  number: number
  follows: number | null
  given: { messages: NewTurn['given']; leftOut: number } | null
  /** What is stored of it. */
  bytes: number
}

/**
 * Finds the conversation of each turn. A turn continues the stored turn with the most messages in common. Where several have the same
 * messages (visitors without `user` who began alike), it continues one that nothing continues yet, the newest first. Otherwise it begins
 * a conversation. Pure; `known` is by the digest of the messages.
 */
export function placeTurns(
  turns: readonly NewTurn[],
  known: ReadonlyMap<string, readonly KnownTurn[]>,
  createId: () => string,
): PlacedTurn[] {
  const byChain = new Map([...known].map(([chain, found]) => [chain, found.map((turn) => ({ ...turn }))]))
  const lastNumbers = new Map<string, number>()
  for (const { conversationId, lastNumber } of [...known.values()].flat()) lastNumbers.set(conversationId, lastNumber)

  return turns.map((turn) => {
    const found = findContinued(turn, byChain)
    if (found) found.known.isLast = false
    const conversationId = found?.known.conversationId ?? createId()
    const number = (lastNumbers.get(conversationId) ?? 0) + 1
    lastNumbers.set(conversationId, number)
    const added = { conversationId, number, lastNumber: number, atMs: turn.atMs, isLast: true }
    byChain.set(turn.chain, [...(byChain.get(turn.chain) ?? []), added])
    const follows = found?.known.number ?? null
    const given = givenAfter(turn, found?.length ?? 0)
    const bytes = given ? turn.bytes + Buffer.byteLength(JSON.stringify(given)) : turn.bytes
    return { turn, conversationId, number, follows, given, bytes }
  })
}

function findContinued(turn: NewTurn, byChain: ReadonlyMap<string, KnownTurn[]>) {
  for (const { chain, length } of turn.known.toReversed()) {
    const candidates = byChain.get(chain)?.toSorted((left, right) => right.atMs - left.atMs)
    const known = candidates?.find(({ isLast }) => isLast) ?? candidates?.[0]
    if (known) return { known, length }
  }
  return undefined
}

/** The earlier messages that no stored turn has: those after the first `length`. */
function givenAfter({ given, givenFrom }: NewTurn, length: number): PlacedTurn['given'] {
  const messages = given.slice(Math.max(0, length - givenFrom))
  const leftOut = Math.max(0, givenFrom - length)
  return messages.length + leftOut === 0 ? null : { messages, leftOut }
}
