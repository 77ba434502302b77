import { createTimeSlices } from '../kernel/index.ts'
import { type Language, splitSentences } from '../language/index.ts'
import { type AnswerType, answerTypeOf, hasCandidate } from './answer-type.ts'
import { comparedWords, latinLanguageOf, topicWords, weightOfForm } from './words.ts'

/** Longest quoted sentence, UTF-16 units; a table or list without full stops is one sentence. */
const maximumSentenceUnits = 400

export interface ReadQuestion {
  text: string
  language: Language
  type: AnswerType
  /** Compared words that carry a topic, with their weight before rarity. */
  words: ReadonlyMap<string, number>
}

export interface ReadSentence {
  text: string
  /** Its place in the passage's sentences. */
  index: number
  /** The wanted words in it. */
  words: ReadonlySet<string>
  /** All its words. */
  length: number
  /** Whether it has words of the expected kind; null where the question expects none. */
  hasCandidate: boolean | null
}

export interface ReadPassage {
  id: number
  /** Compared words of its title. */
  title: ReadonlySet<string>
  sentences: ReadSentence[]
  /** The wanted words in all its sentences. */
  words: ReadonlySet<string>
}

/** What passages share with a question. */
export interface QuestionEvidence {
  question: ReadQuestion
  passages: ReadPassage[]
  /** Rarity of each wanted word, also of those that no passage has: natural logarithm, above 0. */
  weights: ReadonlyMap<string, number>
}

export interface GivenPassage {
  id: number
  /** The document's title or name; absent where it names nothing. */
  title?: string
  text: string
}

export function readQuestion(text: string): ReadQuestion {
  const language = latinLanguageOf(text)
  const topics = topicWords(text, language)
  const words = new Map(topics.map((word) => [word, weightOfForm(word, language)]))
  return { text, language, type: answerTypeOf(text), words }
}

export interface ReadOptions {
  /** Rarity of a compared word in a whole corpus, above 0. Absent: in the sentences of the passages. */
  rarity?: (word: string) => number
}

/**
 * The passages as sentences, with what they share with the question. Time is linear in question and passages; the event loop runs between
 * sentences.
 */
export async function readPassages(
  questionText: string,
  given: readonly GivenPassage[],
  { rarity }: ReadOptions = {},
): Promise<QuestionEvidence> {
  const question = readQuestion(questionText)
  const reader: SentenceReader = { question, known: new Map(), slice: createTimeSlices() }
  const passages: ReadPassage[] = []
  for (const passage of given) passages.push(await readPassage(reader, passage))
  const sentences = passages.flatMap((passage) => passage.sentences)
  const counts = new Map<string, number>()
  for (const { words } of sentences) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weights = new Map<string, number>()
  for (const [word, base] of question.words) {
    const known = rarity?.(word) ?? Math.log(1 + sentences.length / ((counts.get(word) ?? 0) + unseenCount))
    weights.set(word, known * base)
  }
  return { question, passages, weights }
}

/** Keeps the rarity of a word that no sentence has finite. */
const unseenCount = 0.5

interface SentenceReader {
  question: ReadQuestion
  /** Compared forms of the words read so far. */
  known: Map<string, string>
  slice: () => Promise<void> | void
}

async function readPassage(reader: SentenceReader, { id, title = '', text }: GivenPassage): Promise<ReadPassage> {
  const { question } = reader
  const words = new Set<string>()
  const sentences: ReadSentence[] = []
  for (const { text: whole } of splitSentences(text)) {
    const pause = reader.slice()
    if (pause) await pause
    const sentence = readSentence(reader, whole, sentences.length)
    sentences.push(sentence)
    for (const word of sentence.words) words.add(word)
  }
  return {
    id,
    title: new Set(topicWords(wellFormedStart(title, maximumSentenceUnits), question.language)),
    sentences,
    words,
  }
}

/** A passage in another language shares names and numbers only: its own stemming is of no use. */
function readSentence({ question, known }: SentenceReader, whole: string, index: number): ReadSentence {
  const text = wellFormedStart(whole, maximumSentenceUnits)
  const read = comparedWords(text, question.language, known)
  return {
    text,
    index,
    words: new Set(read.filter((word) => question.words.has(word))),
    length: read.length,
    hasCandidate: hasCandidate(text, question.type, question.text),
  }
}

/** The first units of a text, without splitting a surrogate pair. */
function wellFormedStart(text: string, units: number): string {
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}
