import { createSentenceTracker, type CitedSentence } from './cited-sentence.ts'
import { createCodeSpans } from './code-spans.ts'
import { createNumberingWriter, ErasingWriter, type MarkerWriter } from './marker-writers.ts'
import { Scanner } from './scanner.ts'

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
 */
export function createCitationRewriter(
  sources: readonly CitedSource[],
  { inline }: { inline: boolean },
): CitationRewriter {
  const citations = createCitationList(sources)
  const writer = inline ? citations.follow(createNumberingWriter(citations.numberOf)) : new ErasingWriter()
  const pipeline = createPipeline(writer, (given) => given.every((sourceNumber) => sourceNumber <= sources.length))
  return { ...pipeline, cited: citations.all }
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
    /** The writer, with its text followed. */
    follow: (writer: MarkerWriter): MarkerWriter => ({
      take(token) {
        if (token.type === 'text') sentences.push(token.text)
        return writer.take(token)
      },
      end: () => writer.end(),
    }),
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
  const pipeline = createPipeline(new ErasingWriter(), (numbers) => {
    let next = highest
    for (const number of numbers) {
      if (number > next + 1) return false
      next = Math.max(next, number)
    }
    highest = next
    return true
  })
  let output = ''
  for (let at = 0; at < text.length; at += unitsPerTurn) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
    output += pipeline.push(text.slice(at, at + unitsPerTurn))
  }
  return output + pipeline.end()
}

/** Scanner, code spans and writer: text in, decided text out. */
function createPipeline(writer: MarkerWriter, accepts: (numbers: readonly number[]) => boolean) {
  let output = ''
  const codeSpans = createCodeSpans((token) => {
    output += writer.take(token)
  })
  const scanner = new Scanner(accepts, codeSpans.push)
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
      output += writer.end()
      return take()
    },
  }
}
