import type { PassageReference, Reference } from '../contract/chat.ts'
import type { Passage } from '../retrieval/index.ts'
import type { Citation } from './citations/citation-rewriter.ts'
import { countCharacters, selectQuote } from './citations/select-quote.ts'
import { toCitedSource } from './context/prompt.ts'

export type DocumentReference = Reference & { documentId: string }

/** The references of an answer whose markers name passages. `passages[n - 1]` is the passage with number n in the prompt. */
export function referencesOfCitations(
  citations: readonly Citation[],
  passages: readonly Passage[],
  withPassages: boolean,
): DocumentReference[] {
  return citations.map(({ source, passages: cited }, index) => {
    const reference = describeReference(source, index)
    if (!withPassages) return reference
    const described = new Map<string, PassageReference>()
    for (const { sourceNumber, sentence } of cited) {
      const passage = passages[sourceNumber - 1]!
      // Several searches may find the same passage.
      if (!described.has(passage.chunkId)) described.set(passage.chunkId, describePassage(passage, sentence()))
    }
    return { ...reference, passages: [...described.values()] }
  })
}

/** The references of an answer without markers: the documents of all passages that the model received. */
export function referencesOfPassages(
  passages: readonly Passage[],
  answerText: string,
  withPassages: boolean,
): DocumentReference[] {
  const byDocument = new Map<string, Map<string, Passage>>()
  for (const passage of passages) {
    const known = byDocument.get(passage.documentId) ?? new Map<string, Passage>()
    byDocument.set(passage.documentId, known)
    known.set(passage.chunkId, passage)
  }
  return [...byDocument.values()].map((given, index) => {
    const [first] = given.values()
    return {
      ...describeReference(toCitedSource(first!), index),
      ...(withPassages && { passages: [...given.values()].map((passage) => describePassage(passage, answerText)) }),
    }
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
    const { id, title, documentId, passages } = reference
    return existing.has(documentId) ? reference : { id, title, documentId, ...(passages && { passages: [] }) }
  })
}

function describeReference({ title, documentId, url }: Citation['source'], index: number): DocumentReference {
  return { id: index + 1, title, documentId, ...(url === null ? {} : { url }) }
}

/** `cited`: the text that the passage supports. */
function describePassage(passage: Passage, cited: string): PassageReference {
  const { rowFrom, rowTo, headingPath, characterFrom, characterTo } = passage
  const quote = selectQuote(passage.text, cited)
  const page = pageOf(passage, quote.at)
  return {
    ...(page === null ? {} : { page }),
    ...(rowFrom === null ? {} : { rows: { from: rowFrom, to: rowTo ?? rowFrom } }),
    ...(headingPath.length === 0 ? {} : { heading: headingPath.join(' > ') }),
    quote: quote.text,
    start: characterFrom,
    end: characterTo,
  }
}

/** The page at an index of the passage's text; its first page where the beginnings of pages are not known. */
function pageOf({ text, pageFrom, pageStarts, characterFrom }: Passage, at: number): number | null {
  if (pageFrom === null || pageStarts === null || pageStarts.length === 0) return pageFrom
  const position = characterFrom + countCharacters(text.slice(0, at))
  return pageFrom + pageStarts.filter((start) => start <= position).length
}
