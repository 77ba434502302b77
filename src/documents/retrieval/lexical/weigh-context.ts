import { analyseQuery, type QuerySpace, type QueryWord } from './analyse-text.ts'

/** A text around a query, such as an earlier turn of its conversation. */
export interface ContextText {
  text: string
  /** Weight of each of its words, 0..1, where a word of the query weighs 1. Words of a long text weigh less. */
  weight: number
}

/**
 * Words of a context text that have its full weight. The words of a longer text share the weight of this many, so that a long
 * answer does not outweigh a short question. Chosen on two sets of conversations: docs/decisions/0058-weighted-conversation-queries.md.
 */
const wordsOfFullWeight = 8

/**
 * The words of a query and, with their weights, those of the texts around it. A word of several context texts has its highest
 * weight; a word that is in the query as well adds that weight to its own. Each text is read in its own language. Without
 * context the result is that of `analyseQuery`.
 */
export async function analyseWithContext(
  spaceId: string,
  query: string,
  context: readonly ContextText[],
  space: QuerySpace,
): Promise<QueryWord[]> {
  const added = new Map<string, QueryWord>()
  for (const { text, weight } of context) {
    const words = await analyseQuery(spaceId, text, space, { contentOnly: true })
    for (const word of weigh(words, weight)) {
      const known = added.get(word.word)
      if (!known || known.weight < word.weight) added.set(word.word, word)
    }
  }
  if (added.size === 0) return analyseQuery(spaceId, query, space)
  const merged = new Map<string, QueryWord>()
  // "And what about that?" alone is searched by its function words; next to a context they would only add noise.
  for (const own of await analyseQuery(spaceId, query, space, { contentOnly: true })) {
    const around = added.get(own.word)
    merged.set(own.word, around ? join(own, around) : own)
  }
  for (const [word, around] of added) if (!merged.has(word)) merged.set(word, around)
  return [...merged.values()]
}

/** Repeats within a context text do not count: a long answer repeats its topic. */
function weigh(words: readonly QueryWord[], weight: number): QueryWord[] {
  const shares = words.map((word) => Math.min(1, word.weight))
  const total = shares.reduce((sum, share) => sum + share, 0)
  const scale = weight * Math.min(1, wordsOfFullWeight / Math.max(total, 1))
  return words.map((word, index) => ({ ...word, weight: shares[index]! * scale }))
}

function join(own: QueryWord, around: QueryWord): QueryWord {
  const variants = [...new Set([...own.variants, ...around.variants])]
  return { word: own.word, variants, weight: own.weight + around.weight }
}
