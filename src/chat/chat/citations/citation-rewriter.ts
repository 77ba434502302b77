import { setImmediate as nextTurn } from 'node:timers/promises'
import { type EvidenceText, prepareSupport } from '../../../platform/evidence/index.ts'
import { createTimeSlices } from '../../../platform/kernel/index.ts'
import { Attributor } from './attributor.ts'
import { type CitationCheck, type CitationCounts, createCitationCheck } from './citation-check.ts'
import { createCodeSpans, type PlainToken } from './line-head.ts'
import { type DecideRow, MarkerRows, type MarkerRules, Scanner } from './scanner.ts'
import { type CitedSentence, createSentenceTracker } from './select-quote.ts'

/**
 * Rewrites the citation markers of a model, whatever their form. The prompt numbers passages; readers see documents, numbered from 1
 * in order of first use. A marker with a number that the model did not receive is text. Text in brackets and code stay as they are.
 */

export interface CitedSource {
  documentId: string
  title: string
  url: string | null
}

export interface Citation {
  source: CitedSource
  /** Its markers in the order of the text, once for each passage that they name. */
  markers: CitedMarker[]
}

export interface CitedMarker {
  /** The number of the passage in the prompt. */
  sourceNumber: number
  /** Which `[n]` of the text it is, from 1. */
  occurrence: number
  /** The model wrote no marker here. */
  isAttributed: boolean
  /** Call it after the end of the answer. */
  cited: () => CitedSentence
}

export interface CitationRewriter {
  /** Returns the part of the text so far that is decided; a marker that may be incomplete is held back. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** Cited documents in order of first use; the marker's number is the index + 1. */
  cited(): Citation[]
}

export interface RewriterOptions {
  /** Off: every marker is removed. */
  inline: boolean
  /** Decides which markers stay; without it all do. */
  check?: Pick<CitationCheck, 'push' | 'decide'>
  /** The number of the passage that supports a sentence without a marker; absent: none is added. */
  attribute?: (sentence: string) => number | null
}

/** `sources[n - 1]` is the document of the passage with number n in the prompt; the array may grow. */
export function createCitationRewriter(
  sources: readonly CitedSource[],
  { inline, check, attribute }: RewriterOptions,
): CitationRewriter {
  const citations = createCitationList(sources)
  const writer = createNumberingWriter(citations.numberOf)
  const pipeline = createPipeline({
    rules: { resolve: (given, isPlain) => givenOnes(given, isPlain, sources.length), names: createNames(sources) },
    decide: inline
      ? (numbers, rest) => (numbers.length === 0 ? numbers : (check?.decide(numbers, rest) ?? null))
      : eraseAll,
    follow: (text) => void (inline && check?.push(text)),
    write(token) {
      if (inline && token.type === 'text') citations.follow(token.text)
      return writer.take(token)
    },
    ...(inline && attribute && { attributor: (emit) => new Attributor(attribute, emit) }),
    end: writer.end,
  })
  return { ...pipeline, cited: citations.all }
}

const eraseAll: DecideRow = () => []

/** Larger numbers in brackets are years and codes, unless a word or sign makes them markers. */
const maximumPlainNumber = 999

/** The numbers that name a passage; empty for a marker that names none, null for a text that is no marker. */
function givenOnes(numbers: readonly number[], isPlain: boolean, count: number): readonly number[] | null {
  if (isPlain && numbers.some((number) => number > maximumPlainNumber)) return null
  return numbers.filter((number) => number >= 1 && number <= count)
}

/** Most passages of one file that a marker with its name stands for. */
const maximumOfName = 20

/** The passages of each file by its name, in lower case. `sources` may grow. */
function createNames(sources: readonly CitedSource[]): NonNullable<MarkerRules['names']> {
  const known = new Map<string, number[]>()
  let read = 0
  function update() {
    if (read > sources.length) {
      known.clear()
      read = 0
    }
    for (; read < sources.length; read++) {
      const name = sources[read]!.title.toLowerCase()
      const numbers = known.get(name) ?? []
      known.set(name, numbers)
      if (numbers.length < maximumOfName) numbers.push(read + 1)
    }
  }
  return {
    find(name) {
      update()
      return known.get(name.trim().toLowerCase()) ?? []
    },
    mayBegin(begin) {
      update()
      const text = begin.trimStart().toLowerCase()
      for (const name of known.keys()) if (name.startsWith(text)) return true
      return false
    },
  }
}

/** Most markers of an answer whose sentences are kept; of later ones only the first for each passage. */
const maximumMarkers = 1_000

/** Numbers documents in order of first use, and records which of their passages are cited, and by which sentences. */
function createCitationList(sources: readonly CitedSource[]) {
  const numbers = new Map<string, number>()
  const cited: Citation[] = []
  const known = new Set<number>()
  const sentences = createSentenceTracker()
  const occurrences = createOccurrences()
  let markers = 0
  return {
    /** `row`: the numbers that the row already shows. */
    numberOf(sourceNumber: number, row: ReadonlySet<number>, isAttributed: boolean): number {
      const source = sources[sourceNumber - 1]!
      const number = numbers.get(source.documentId) ?? cited.push({ source, markers: [] })
      numbers.set(source.documentId, number)
      if (!row.has(number)) occurrences.add(number)
      if (!known.has(sourceNumber) || markers < maximumMarkers) {
        known.add(sourceNumber)
        markers++
        const occurrence = occurrences.of(number)
        cited[number - 1]!.markers.push({ sourceNumber, occurrence, isAttributed, cited: sentences.atMarker() })
      }
      return number
    },
    follow(text: string): void {
      occurrences.follow(text)
      sentences.push(text)
    },
    all: () => [...cited],
  }
}

/** Counts how often the text shows each `[n]`, as a marker or as other text such as an index. */
function createOccurrences() {
  const counts = new Map<number, number>()
  /** The end of the text, which may be the beginning of `[n]`. */
  let end = ''
  const add = (number: number) => counts.set(number, (counts.get(number) ?? 0) + 1)
  return {
    add(number: number): void {
      end = ''
      add(number)
    },
    follow(text: string): void {
      const all = end + text
      for (const [, digits] of all.matchAll(/\[([1-9]\d{0,3})\]/g)) add(Number(digits))
      end = /\[\d{0,4}$/.exec(all.slice(-5))?.[0] ?? ''
    },
    of: (number: number) => counts.get(number) ?? 0,
  }
}

/** UTF-16 units that are processed before the event loop gets a turn: a few milliseconds. */
const removedPerTurn = 20_000

/**
 * An earlier answer without the markers of this service. Its passages are no longer known, but its markers count from 1 in order of
 * first use. A bracketed number that breaks this order is text.
 */
export async function removeMarkers(text: string, signal: AbortSignal): Promise<string> {
  if (!/[[［【〔]/.test(text)) return text
  let highest = 0
  const pipeline = createPipeline({
    rules: {
      resolve(numbers) {
        let next = highest
        for (const number of numbers) {
          if (number > next + 1) return null
          next = Math.max(next, number)
        }
        highest = next
        return numbers
      },
    },
    decide: eraseAll,
    write: (token) => (token.type === 'text' ? token.text : ''),
  })
  let output = ''
  for (let at = 0; at < text.length; at += removedPerTurn) {
    if (at > 0) await nextTurn()
    signal.throwIfAborted()
    output += pipeline.push(text.slice(at, at + removedPerTurn))
  }
  return output + pipeline.end()
}

interface Stages {
  rules: MarkerRules
  decide: DecideRow
  /** Receives the text before each marker, and the text after it once the marker is decided. */
  follow?: (text: string) => void
  /** Adds markers; absent: none. */
  attributor?: (emit: (token: PlainToken) => void) => Attributor
  /** Returns the decided text. */
  write: (token: PlainToken) => string
  end?: () => string
}

/** Scanner, code spans, rows of markers, added markers and writer: text in, decided text out. */
function createPipeline({ rules, decide, follow, attributor: createStage, write, end }: Stages) {
  let output = ''
  const emit = (token: PlainToken) => void (output += write(token))
  const attributor = createStage?.(emit)
  const rows = new MarkerRows(decide, (token) => {
    if (token.type === 'text') follow?.(token.text)
    if (attributor) attributor.take(token)
    else if (token.type === 'text' || token.numbers.length > 0) emit(token)
  })
  const codeSpans = createCodeSpans((token) => rows.take(token))
  const scanner = new Scanner(rules, codeSpans.push)
  function take(): string {
    const taken = output
    output = ''
    return taken
  }
  return {
    push(text: string): string {
      scanner.push(text)
      return take()
    },
    end(): string {
      scanner.end()
      codeSpans.end()
      rows.end()
      attributor?.end()
      output += end?.() ?? ''
      return take()
    },
  }
}

/** Writes the text with its markers renumbered. */
interface NumberingWriter {
  /** Returns the decided text; at most `maximumHeldLength` spaces after a marker wait for the following text. */
  take(token: PlainToken): string
  end(): string
}

const maximumHeldLength = 16

/** Writes each marker as `[n]` with the number from `numberOf`; a row of markers shows each number once. `row`: those already shown. */
function createNumberingWriter(
  numberOf: (sourceNumber: number, row: ReadonlySet<number>, isAttributed: boolean) => number,
): NumberingWriter {
  /** Numbers shown in the current row of markers; null outside of a row. */
  let row: Set<number> | null = null
  /** Spaces after a marker; they are dropped where the next marker repeats its number. */
  let gap = ''

  function leaveRow(): string {
    const text = gap
    row = null
    gap = ''
    return text
  }

  return {
    take(token) {
      if (token.type === 'text') {
        if (!row) return token.text
        const spaces = /^ */.exec(token.text)![0]
        if (spaces.length < token.text.length || gap.length + spaces.length > maximumHeldLength) {
          return leaveRow() + token.text
        }
        gap += spaces
        return ''
      }
      row ??= new Set()
      let shown = ''
      for (const sourceNumber of token.numbers) {
        const number = numberOf(sourceNumber, row, token.isAttributed ?? false)
        if (!row.has(number)) shown += `[${number}]`
        row.add(number)
      }
      const text = shown === '' ? '' : gap + shown
      gap = ''
      return text
    },
    end: leaveRow,
  }
}

/** A passage that the model received: where it is from, and its text. */
export type CitablePassage = EvidenceText & { source: CitedSource }

/** The text of one answer on its way to the reader, with checked markers. */
export interface AnswerCitations {
  /** Passages that the model received, in the order of their numbers. */
  addPassages(added: readonly CitablePassage[]): void
  /** Forgets all passages but the first ones: the model has not received the others after all. Add none afterwards. */
  keepPassages(count: number): void
  /** A text without a number that the model received, such as a computed sum: its figures need no passage. */
  addResult(text: string): void
  /** A text of another service that the model received: what it states needs more than a passage that does not contradict it. */
  addForeign(text: string): void
  /** Begins to read new passages, in short turns of the event loop, while the model is not writing yet. */
  startReading(signal: AbortSignal): void
  /** Returns the decided text in pieces; the event loop gets a turn between them. */
  push(text: string, signal: AbortSignal): AsyncGenerator<string, void, void>
  /** Returns the text that was held back. */
  end(): string
  cited(): Citation[]
  counts(): CitationCounts
  /** Comparisons of a statement with a text so far. */
  comparisons(): number
}

/**
 * UTF-16 units that are checked before the event loop gets a turn, and comparisons of statements with passages: every word may have a marker,
 * and the search for a better passage compares up to 200. Where passages are long and sentences deny much, their time ends a turn before.
 */
export const unitsPerTurn = 2_000
export const comparisonsPerTurn = 1_000
/** UTF-16 units between two checks of the number of comparisons: room for seven markers. */
const unitsPerPiece = 50

/**
 * `inline` off: all markers are removed, and nothing is checked. `attributes`: sentences without a marker get one, where a passage supports
 * them.
 */
export function createAnswerCitations({
  inline,
  attributes = false,
}: {
  inline: boolean
  attributes?: boolean
}): AnswerCitations {
  const sources: CitedSource[] = []
  const passages: EvidenceText[] = []
  const computed: string[] = []
  const foreign: string[] = []
  const check = createCitationCheck(passages, { computed, foreign })
  const rewriter = createCitationRewriter(sources, {
    inline,
    check,
    ...(attributes && { attribute: check.attribute }),
  })
  let reading = Promise.resolve()
  return {
    addPassages(added) {
      for (const { source, ...passage } of added) {
        sources.push(source)
        passages.push(passage)
      }
    },
    keepPassages(count) {
      sources.length = count
      passages.length = count
    },
    addResult: (text) => void computed.push(text),
    addForeign: (text) => void foreign.push(text),
    startReading(signal) {
      if (!inline) return
      reading = nextTurn()
        .then(prepareSupport)
        .then(() => check.read(signal))
    },
    async *push(text, signal) {
      await reading
      const slice = createTimeSlices()
      for (let at = 0; at < text.length;) {
        if (at > 0) {
          await nextTurn()
          signal.throwIfAborted()
        }
        const lastUnit = Math.min(text.length, at + unitsPerTurn)
        const lastComparison = check.comparisons() + comparisonsPerTurn
        let decided = ''
        while (at < lastUnit && check.comparisons() < lastComparison) {
          const end = endOfPiece(text, at + unitsPerPiece)
          decided += rewriter.push(text.slice(at, end))
          at = end
          const pause = slice()
          if (pause) await pause
        }
        if (decided !== '') yield decided
      }
    },
    end: rewriter.end,
    cited: rewriter.cited,
    counts: check.counts,
    comparisons: check.comparisons,
  }
}

/** Not inside a surrogate pair. */
function endOfPiece(text: string, end: number): number {
  const unit = text.charCodeAt(end)
  return unit >= 0xdc00 && unit <= 0xdfff ? end + 1 : end
}
