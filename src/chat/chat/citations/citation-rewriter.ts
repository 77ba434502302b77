import { createSentenceTracker, type CitedSentence } from './cited-sentence.ts'
import type { CitationCheck } from './citation-check.ts'
import { createCodeSpans, type PlainToken } from './code-spans.ts'
import { type DecideRow, MarkerRows } from './marker-rows.ts'
import { createNumberingWriter } from './numbering-writer.ts'
import { type MarkerRules, Scanner } from './scanner.ts'

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
  /** The passages of the document that markers name, in order of first use: each number in the prompt, and where it is first cited. */
  passages: { sourceNumber: number; sentence: CitedSentence }[]
}

export interface CitationRewriter {
  /** Returns the part of the text so far that is decided; a marker that may be incomplete is held back. */
  push(text: string): string
  /** Returns the text that was held back. */
  end(): string
  /** Cited documents in order of first use; the marker's number is the index + 1. */
  cited(): Citation[]
}

/**
 * `sources[n - 1]` is the document of the passage with number n in the prompt; the array may grow. With `inline` off every marker is removed.
 * `check` decides which markers stay; without it all do.
 */
export function createCitationRewriter(
  sources: readonly CitedSource[],
  { inline, check }: { inline: boolean; check?: Pick<CitationCheck, 'push' | 'decide'> },
): CitationRewriter {
  const citations = createCitationList(sources)
  const writer = createNumberingWriter(citations.numberOf)
  const pipeline = createPipeline({
    rules: { resolve: (given, isPlain) => givenOnes(given, isPlain, sources.length), names: createNames(sources) },
    decide: inline
      ? (numbers, rest) => (numbers.length === 0 ? numbers : (check?.decide(numbers, rest) ?? null))
      : eraseAll,
    follow(text) {
      if (!inline) return
      citations.follow(text)
      check?.push(text)
    },
    write: writer.take,
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

/** Numbers documents in order of first use, and records which of their passages are cited, and by which sentence. */
function createCitationList(sources: readonly CitedSource[]) {
  const numbers = new Map<string, number>()
  const cited: Citation[] = []
  const known = new Set<number>()
  const sentences = createSentenceTracker()
  return {
    numberOf(sourceNumber: number): number {
      const source = sources[sourceNumber - 1]!
      const number = numbers.get(source.documentId) ?? cited.push({ source, passages: [] })
      numbers.set(source.documentId, number)
      if (!known.has(sourceNumber)) {
        known.add(sourceNumber)
        cited[number - 1]!.passages.push({ sourceNumber, sentence: sentences.atMarker() })
      }
      return number
    },
    follow: sentences.push,
    all: () => [...cited],
  }
}

/** UTF-16 units that are processed before the event loop gets a turn: a few milliseconds. */
const unitsPerTurn = 20_000

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
  for (let at = 0; at < text.length; at += unitsPerTurn) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
    output += pipeline.push(text.slice(at, at + unitsPerTurn))
  }
  return output + pipeline.end()
}

interface Stages {
  rules: MarkerRules
  decide: DecideRow
  /** Receives the text before each marker, and the text after it once the marker is decided. */
  follow?: (text: string) => void
  /** Returns the decided text. */
  write: (token: PlainToken) => string
  end?: () => string
}

/** Scanner, code spans, rows of markers and writer: text in, decided text out. */
function createPipeline({ rules, decide, follow, write, end }: Stages) {
  let output = ''
  const rows = new MarkerRows(decide, (token) => {
    if (token.type === 'text') follow?.(token.text)
    output += write(token)
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
      output += end?.() ?? ''
      return take()
    },
  }
}
