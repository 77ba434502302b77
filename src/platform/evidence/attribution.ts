import type { Claims } from './claims.ts'
import { type Comparison, concludeSupport } from './support.ts'
import { hasPairs } from './words.ts'

/** Least share of the content words that one part of the passage and its neighbours have, together with its title and headings. */
const leastTogether = 0.75
const leastTogetherWithFacts = 0.6
/** Of scripts without spaces, whose words are pairs of characters. */
const leastPairsTogether = 0.6
/** Content words without which a sentence is a common phrase; with figures, names or quotes fewer. */
const leastWords = 3
const leastWordsWithFacts = 2
/** Of so few words all must be there. */
const fewWords = 4

/**
 * The share of its words with which a passage certainly supports a sentence that names no source; null where it is not certain. Stricter
 * than `concludeSupport`, which judges a source that the author named: everything must be in one place, and in the same language.
 */
export function concludeAttribution(claims: Claims, comparison: Comparison): number | null {
  const { languages, wordsTogether } = comparison
  const facts = claims.figures.length + claims.names.length + claims.quotes.length
  if (claims.words.length < (facts > 0 ? leastWordsWithFacts : leastWords)) return null
  if (languages === 'different' || (languages === 'unknown' && facts === 0)) return null
  const share = Math.min(claims.words.length, wordsTogether.ofPart + wordsTogether.ofHead) / claims.words.length
  const least = hasPairs(claims.language) ? leastPairsTogether : facts > 0 ? leastTogetherWithFacts : leastTogether
  if (share < (claims.words.length <= fewWords ? 1 : least) || wordsTogether.ofPart * 2 < claims.words.length)
    return null
  if (concludeSupport(claims, [comparison]).verdict !== 'supported') return null
  return comparison.sharesDenials() ? share : null
}
