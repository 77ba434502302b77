/** The rule by which the offline model chose its quotes before, as baseline: words without marks, cut to a rough stem. */
/** One sentence of a passage, with the passage's number. */
interface RankedSentence {
  id: number
  text: string
}

/** Sentences in one answer: enough for a fact and its context. */
const maximumSentences = 3
/** A sentence with a lower share of the best score is omitted. */
const worthwhileShare = 0.6
/** Longest quoted sentence, in UTF-16 units; a table or list without full stops is one sentence. */
const maximumSentenceUnits = 400

/** Function words: they occur in every question. English, German, French, Spanish and Italian. */
const commonWords: ReadonlySet<string> = new Set(
  (
    'a about an and are as at be been by can could did do does for from had has have how i in into is it its me my of on or our ' +
    'please should that the their them then there these they this to us was we were what when where which who whom whose why ' +
    'will with would you your ' +
    'aber auf aus bei das dem den der des die ein eine einem einen einer es für hat ich im ist mit nach sie sind und von war was wer ' +
    'wie wird wo zu zum zur ' +
    'au aux avec ce dans de du elle en est et il la le les ou par pas pour qu que qui sur un une ' +
    'como con cuando cual del donde el ella los las por qué quien se su una y che chi come cosa dove gli lo per quale sono'
  ).split(' '),
)

/**
 * The sentences that share most with the question, best first: each shared word counts once, weighted by its rarity among all sentences;
 * the passage's rank breaks ties. Empty if no word is shared.
 */
export function formerQuotes(question: string, passages: readonly { id: number; text: string }[]): RankedSentence[] {
  const wanted = new Set(wordsOf(question).filter((word) => !commonWords.has(word)))
  const sentences = passages.flatMap(({ id, text }) => readSentences(text).map((sentence) => ({ id, ...sentence })))
  const containing = new Map<string, number>()
  for (const { words } of sentences) {
    for (const word of words) if (wanted.has(word)) containing.set(word, (containing.get(word) ?? 0) + 1)
  }
  const weight = new Map<string, number>()
  for (const [word, count] of containing) weight.set(word, Math.log(1 + sentences.length / count))
  const scored = sentences
    .map(({ id, text, words }) => ({ sentence: { id, text }, score: scoreOf(words, weight) }))
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

/** Long sentences contain more words by chance, so the sum is damped by their length. */
function scoreOf(words: ReadonlySet<string>, weight: ReadonlyMap<string, number>): number {
  let score = 0
  for (const word of words) score += weight.get(word) ?? 0
  return score / (1 + Math.log1p(words.size) / 8)
}

// An evaluation asks many questions of the same passages.
const known = new Map<string, { text: string; words: ReadonlySet<string> }[]>()

function readSentences(text: string) {
  const sentences = known.get(text) ?? splitSentences(text).map((one) => ({ text: one, words: new Set(wordsOf(one)) }))
  known.set(text, sentences)
  return sentences
}

/** Line ends end a sentence too. */
function splitSentences(text: string): string[] {
  const sentences: string[] = []
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)) {
    const sentence = segment.trim()
    if (/[\p{L}\p{N}]/u.test(sentence)) sentences.push(wellFormedStart(sentence, maximumSentenceUnits))
  }
  return sentences
}

/** Lower case without accents, cut to a rough stem: `prices` and `price`, `holidays` and `holiday` are equal. */
function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  // Han, Kana and Thai have no spaces: each character counts as a word.
  const words =
    folded.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => (word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, '') : word))
}

/** The first units of a text, without splitting a surrogate pair. */
function wellFormedStart(text: string, units: number): string {
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}
