import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CitedMarker, PassageReference, Reference } from '../../contract/chat.ts'
import type { Passage } from '../../documents/retrieval/index.ts'
import type { Citation } from './citations/citation-rewriter.ts'
import { countCharacters, createQuotes, type Quote, selectQuote } from './citations/select-quote.ts'
import { type GivenPassage, isStretch, type PassagePart, toCitedSource } from './context/prompt.ts'

export type DocumentReference = Reference & { documentId: string }

/** Markers that are described before the event loop gets a turn, about 10 ms. */
const markersPerTurn = 50

/** The references of an answer whose markers name passages. `passages[n - 1]` is the passage with number n in the prompt. */
export async function referencesOfCitations(
  citations: readonly Citation[],
  passages: readonly GivenPassage[],
  withPassages: boolean,
): Promise<DocumentReference[]> {
  const references = citations.map(({ source }, index) => describeReference(source, index))
  if (!withPassages) return references
  const quotes = new Map<number, ReturnType<typeof createQuotes>>()
  let count = 0
  for (const [index, { markers }] of citations.entries()) {
    const described = new Map<string, PassageReference & { markers: CitedMarker[] }>()
    for (const { sourceNumber, occurrence, isAttributed, cited } of markers) {
      if (++count % markersPerTurn === 0) await nextTurn()
      const passage = passages[sourceNumber - 1]!
      const select = quotes.get(sourceNumber) ?? createQuotes(passage.text)
      quotes.set(sourceNumber, select)
      const { id, reference, marker } = describeCited(passage, select(cited()))
      const known = described.get(id) ?? { ...reference, markers: [] }
      described.set(id, known)
      // Several searches may find the same passage.
      if (known.markers.at(-1)?.occurrence !== occurrence)
        known.markers.push({ occurrence, ...marker, ...(isAttributed && { attributed: true as const }) })
    }
    if (markers.every(({ isAttributed }) => isAttributed)) references[index]!.attributed = true
    references[index]!.passages = [...described.values()]
  }
  return references
}

/** The references of an answer without markers: the documents of all passages that the model received. */
export function referencesOfPassages(
  passages: readonly GivenPassage[],
  answerText: string,
  withPassages: boolean,
): DocumentReference[] {
  const byDocument = new Map<string, Map<string, Passage>>()
  for (const { documentId, parts } of passages) {
    const known = byDocument.get(documentId) ?? new Map<string, Passage>()
    byDocument.set(documentId, known)
    for (const { chunk } of parts) known.set(chunk.chunkId, chunk)
  }
  return [...byDocument.values()].map((given, index) => {
    const [first] = given.values()
    const described = () => [...given.values()].map((chunk) => describeChunk(chunk, answerText))
    return { ...describeReference(toCitedSource(first!), index), ...(withPassages && { passages: described() }) }
  })
}

/**
 * The references without documents that were deleted while the answer was made. With markers in the text their entry stays, because
 * each marker has one, but it quotes nothing and leads nowhere.
 */
export function withoutDeleted(
  references: readonly DocumentReference[],
  existing: ReadonlySet<string>,
  { inline }: { inline: boolean },
): DocumentReference[] {
  if (!inline) {
    return references
      .filter(({ documentId }) => existing.has(documentId))
      .map((reference, index) => ({ ...reference, id: index + 1 }))
  }
  return references.map((reference) => {
    const { id, title, documentId, attributed, passages } = reference
    if (existing.has(documentId)) return reference
    return { id, title, documentId, ...(attributed && { attributed }), ...(passages && { passages: [] }) }
  })
}

function describeReference({ title, documentId, url }: Citation['source'], index: number): DocumentReference {
  return { id: index + 1, title, documentId, ...(url === null ? {} : { url }) }
}

interface DescribedQuote {
  /** The same for quotes of the same passage. */
  id: string
  reference: PassageReference
  marker: Omit<CitedMarker, 'occurrence'>
}

/** A joined passage is described by those of its chunks that the quote is from. */
function describeCited(passage: GivenPassage, quote: Quote): DescribedQuote {
  const quoted = partsOf(passage, quote)
  const [first] = quoted
  const chunks = quoted.map(({ chunk }) => chunk)
  const at = quote.at - first.at + first.skippedUnits
  const reference = describe(chunks, { text: quote.text, at })
  const start = first.chunk.characterFrom + countCharacters(first.chunk.text.slice(0, at))
  return {
    id: chunks.map(({ chunkId }) => chunkId).join(),
    reference,
    marker: {
      quote: quote.text,
      ...(reference.page === undefined ? {} : { page: reference.page }),
      ...(chunks.every(isStretch) && { start, end: start + countCharacters(quote.text) }),
    },
  }
}

function partsOf({ parts }: GivenPassage, { text, at }: Quote): [PassagePart, ...PassagePart[]] {
  const first = Math.max(
    0,
    parts.findLastIndex((part) => part.at <= at),
  )
  const others = parts.slice(first + 1).filter((part) => part.at < at + text.length)
  return [parts[first]!, ...others]
}

function describeChunk(chunk: Passage, cited: string): PassageReference {
  return describe([chunk], selectQuote(chunk.text, cited))
}

/** Chunks of one document that follow each other; the quote begins in the first one. */
function describe(chunks: readonly Passage[], quote: Quote): PassageReference {
  const first = chunks[0]!
  const { rowFrom, headingPath, characterFrom } = first
  const { rowTo, characterTo } = chunks.at(-1)!
  const page = pageOf(first, quote.at)
  return {
    ...(page === null ? {} : { page }),
    ...(rowFrom === null ? {} : { rows: { from: rowFrom, to: rowTo ?? rowFrom } }),
    ...(headingPath.length === 0 ? {} : { heading: headingPath.join(' > ') }),
    quote: quote.text,
    start: characterFrom,
    end: characterTo,
  }
}

/** The page at an index of the chunk's text; its first page where the beginnings of pages are not known. */
function pageOf({ text, pageFrom, pageStarts, characterFrom }: Passage, at: number): number | null {
  if (pageFrom === null || pageStarts === null || pageStarts.length === 0) return pageFrom
  const position = characterFrom + countCharacters(text.slice(0, at))
  return pageFrom + pageStarts.filter((start) => start <= position).length
}
