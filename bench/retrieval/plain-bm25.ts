/**
 * The plain baselines, as the shared data states them: BM25 over Unicode words in lower case, Han as pairs of characters, repeated
 * words of a query counted, no stemming. Written apart from src/ on purpose.
 */
export interface PlainSettings {
  k1: number
  b: number
  /** Leave out a short list of English words. */
  stopList: boolean
}

const stopWords = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with what which who how do does did'.split(
    ' ',
  ),
)

/** The settings that a set states, by the words of its `how`. */
export function statedSettings(how: unknown): PlainSettings {
  const text = typeof how === 'string' ? how : ''
  const [, k1 = '0.9', b = '0.4'] = /k1 ([\d.]+), b ([\d.]+)/.exec(text) ?? []
  return { k1: Number(k1), b: Number(b), stopList: !text.includes('no stop list') }
}

export interface PlainBm25 {
  rank(query: string, limit: number): string[]
}

export function createPlainBm25(
  documents: readonly { id: string; text: string }[],
  { k1, b, stopList }: PlainSettings,
): PlainBm25 {
  const postings = new Map<string, Map<number, number>>()
  const lengths = documents.map(({ text }, document) => {
    const words = wordsOf(text, stopList)
    for (const word of words) {
      const posting = postings.get(word) ?? new Map<number, number>()
      posting.set(document, (posting.get(document) ?? 0) + 1)
      postings.set(word, posting)
    }
    return words.length
  })
  const averageLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length)
  return {
    rank(query, limit) {
      const scores = new Map<number, number>()
      for (const word of wordsOf(query, stopList)) {
        const posting = postings.get(word)
        if (!posting) continue
        const weight = Math.log(1 + (documents.length - posting.size + 0.5) / (posting.size + 0.5))
        for (const [document, frequency] of posting) {
          const damped = k1 * (1 - b + (b * lengths[document]!) / averageLength)
          scores.set(document, (scores.get(document) ?? 0) + (weight * frequency * (k1 + 1)) / (frequency + damped))
        }
      }
      return [...scores]
        .sort((left, right) => right[1] - left[1] || left[0] - right[0])
        .slice(0, limit)
        .map(([document]) => documents[document]!.id)
    },
  }
}

function wordsOf(text: string, stopList: boolean): string[] {
  const runs = text.toLowerCase().match(/\p{Script=Han}+|[[\p{L}\p{N}\p{M}]--\p{Script=Han}]+/gv) ?? []
  return runs.flatMap((run) =>
    /\p{Script=Han}/u.test(run) ? pairsOf(run) : stopList && stopWords.has(run) ? [] : [run],
  )
}

function pairsOf(run: string): string[] {
  const characters = [...run]
  return characters.length === 1 ? characters : characters.slice(1).map((next, index) => characters[index]! + next)
}

/** Windows of 200 words without overlap, with their place in the text: the stated baseline of the excerpt sets. */
export function windowsOf(text: string, wordsPerWindow = 200): { start: number; end: number; text: string }[] {
  const words = [...text.matchAll(/\S+/g)]
  const windows = []
  for (let first = 0; first < words.length; first += wordsPerWindow) {
    const start = words[first]!.index
    const last = words[Math.min(first + wordsPerWindow, words.length) - 1]!
    const end = last.index + last[0].length
    windows.push({ start, end, text: text.slice(start, end) })
  }
  return windows
}
