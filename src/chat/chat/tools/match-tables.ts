import { tokenize } from '../../../platform/language/index.ts'
import type { Passage, SpaceDocument } from '../../../documents/retrieval/index.ts'
import type { ShownPassage } from '../context/given-passage.ts'
import { describePassages, requestOf } from './table-tools.ts'
import type { DocumentContext } from './tool.ts'

/** Documents whose tables are described before the first call of the model, and bytes of their rows. */
const maximumDocuments = 3
const rowBytes = 6_000
/** After this the answer begins without tables. */
const maximumMs = 5_000
/** Words of a question that choose rows. */
const maximumWords = 60

/**
 * The tables of the first documents of a search that have rows: their columns, and the rows that share most words with the question.
 * A table that fits is there whole. It spares the model a round of calls, and shows it the exact names of columns. Fewer or none where it fails.
 */
export async function matchTables(
  context: DocumentContext,
  found: readonly ShownPassage[],
  question: string,
): Promise<Passage[]> {
  const { dependencies, scope } = context
  const ids = [...new Set(found.filter(hasRows).map(({ documentId }) => documentId))].slice(0, maximumDocuments)
  const words = tokenize(question, { singleCharacters: false }).slice(0, maximumWords)
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(maximumMs)])
  const bounded = { ...context, signal }
  const described: Passage[] = []
  try {
    // One after the other: each Space has one process in the usual case.
    for (const id of ids) {
      const { documents } = await dependencies.documents.loadDocuments(scope, { id, limit: 1 }, signal)
      described.push(...(await describe(bounded, documents, words, Math.floor(rowBytes / ids.length))))
    }
  } catch {
    context.signal.throwIfAborted()
  }
  return described
}

async function describe(
  context: DocumentContext,
  documents: SpaceDocument[],
  words: string[],
  maximumRowBytes: number,
) {
  if (documents.length === 0) return []
  const request = { ...requestOf(context, documents), words, maximumRowBytes }
  const described = await context.dependencies.tables.describe(request)
  return 'problem' in described ? [] : describePassages(described.tables, documents)
}

const hasRows = ({ tableHeader, rowFrom }: ShownPassage) => tableHeader !== null || rowFrom !== null
