/** One sentence of a passage, with the passage's number. */
export interface RankedSentence {
  id: number
  text: string
}

/** Sentences in one answer: enough for a fact and its surroundings, few enough to read. */
const maximumSentences = 3
/** A sentence that scores less than this share of the best one is left out. */
const worthwhileShare = 0.6
/** Longest sentence that is quoted, characters; tables and lists without full stops come as one. */
const maximumSentenceCharacters = 400

/** Words that every question has; they say nothing about its subject. English, German, French, Spanish and Italian. */
const commonWords: ReadonlySet<string> = new Set(
  (
    'a about an and are as at be been by can could did do does for from had has have how i in into is it its me my of on or our ' +
    'please should tell that the their them then there these they this to us was we were what when where which who whom whose why ' +
    'will with would you your ' +
    'aber auf aus bei das dem den der des die ein eine einem einen einer es für hat ich im ist mit nach sie sind und von war was wer ' +
    'wie wird wo zu zum zur ' +
    'au aux avec ce dans de du elle en est et il la le les ou par pas pour qu que qui sur un une ' +
    'como con cuando cual del donde el ella los las por qué quien se su una y che chi come cosa dove gli lo per quale sono'
  ).split(' '),
)

/**
 * The sentences that share most with the question, best first: each of its words counts once, by its rarity among all sentences, and a
 * passage's rank breaks ties. Empty where no word is shared.
 */
export function rankSentences(question: string, passages: readonly { id: number; text: string }[]): RankedSentence[] {
  const wanted = new Set(wordsOf(question).filter((word) => !commonWords.has(word)))
  const sentences = passages.flatMap(({ id, text }) => splitSentences(text).map((sentence) => ({ id, text: sentence })))
  const known = sentences.map((sentence) => new Set(wordsOf(sentence.text)))
  const weight = new Map<string, number>()
  for (const word of wanted) {
    const containing = known.filter((words) => words.has(word)).length
    if (containing > 0) weight.set(word, Math.log(1 + sentences.length / containing))
  }
  const scored = sentences
    .map((sentence, index) => ({ sentence, score: scoreOf(known[index]!, weight) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
  const best = scored[0]?.score ?? 0
  const chosen: RankedSentence[] = []
  for (const { sentence, score } of scored) {
    if (chosen.length === maximumSentences || score < best * worthwhileShare) break
    if (!chosen.some((other) => other.text === sentence.text)) chosen.push(sentence)
  }
  return chosen
}

/** Long sentences contain more by chance, so the sum is damped by their length. */
function scoreOf(words: ReadonlySet<string>, weight: ReadonlyMap<string, number>): number {
  let score = 0
  for (const [word, value] of weight) if (words.has(word)) score += value
  return score / (1 + Math.log1p(words.size) / 8)
}

function splitSentences(text: string): string[] {
  const sentences: string[] = []
  for (const line of text.split(/\n+/)) {
    for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(line)) {
      const sentence = segment.trim()
      if (/[\p{L}\p{N}]/u.test(sentence)) sentences.push([...sentence].slice(0, maximumSentenceCharacters).join(''))
    }
  }
  return sentences
}

/** Folded to lower case without accents, cut to a stem of sorts: `prices` and `price`, `holidays` and `holiday` are one. */
function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  // Han, Kana and Thai have no spaces: each character counts as a word.
  const words =
    folded.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => (word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, '') : word))
}
