import type { OwnedDatabase, Queryable } from '../../../platform/database/index.ts'
import { createUuid, type SpaceId } from '../../../platform/kernel/index.ts'
import { analyseInSlices, termsVersion } from '../lexical/analyse-text.ts'
import { type IndexedChunk, searchableText } from './chunks.ts'

/** A stored chunk whose terms are rebuilt. */
type StoredText = Pick<IndexedChunk, 'text' | 'headingPath' | 'tableHeader'> & { id: string; index: number }

interface StoredDocument {
  documentId: string
  spaceId: SpaceId
  name: string
}

/** Chunks of one transaction: about 15 ms on the embedded engine. */
const chunksPerStep = 25
const outdatedPerPage = 100

const storedTextColumns =
  'id, chunk_index as index, content as text, heading_path as "headingPath", table_header as "tableHeader"'

/**
 * Rebuilds the terms of the next chunks of a renamed document under its present name. Done when none is left, or when the
 * document is gone or not searchable yet; `renamed` is its Space when its last terms were replaced. Vectors keep the name that
 * they were made with. Resumable: each chunk stores the name of its terms.
 */
export function renameStep(
  database: OwnedDatabase,
  documentId: string,
  signal: AbortSignal,
): Promise<{ isDone: boolean; renamed?: SpaceId }> {
  return database.transaction(
    async (transaction) => {
      // Locked, so that two renames of one document run one after the other; each reads the name that is valid then.
      const [document] = await transaction.query<StoredDocument>(
        `select i.document_id as "documentId", i.space_id as "spaceId", d.name
         from indexed_documents i join documents d on d.id = i.document_id
         where i.document_id = $1 and i.searchable for no key update of i`,
        [documentId],
      )
      if (!document) return { isDone: true }
      const chunks = await transaction.query<StoredText>(
        `select ${storedTextColumns} from chunks
         where document_id = $1 and document_name <> $2 order by chunk_index limit ${chunksPerStep}`,
        [documentId, document.name],
      )
      if (chunks.length === 0) {
        await startNewRun(transaction, documentId)
        return { isDone: true, renamed: document.spaceId }
      }
      await replaceTerms(transaction, document, chunks)
      await transaction.execute('update chunks set document_name = $3 where space_id = $1 and id = any($2::uuid[])', [
        document.spaceId,
        chunks.map(({ id }) => id),
        document.name,
      ])
      return { isDone: false }
    },
    { signal, background: true },
  )
}

/** Searchable documents whose terms an older version of text analysis made; at most `outdatedPerPage`. */
export function loadOutdatedDocuments(
  database: OwnedDatabase,
  signal: AbortSignal,
): Promise<{ documentId: string; spaceId: SpaceId }[]> {
  return database.query(
    `select document_id as "documentId", space_id as "spaceId" from indexed_documents
     where searchable and terms_version < $1 order by document_id limit ${outdatedPerPage}`,
    [termsVersion],
    { signal, background: true },
  )
}

/** Rebuilds the terms of the document's next chunks. Returns the index of the last one; null: nothing is left to do. */
export function updateTermsStep(
  database: OwnedDatabase,
  documentId: string,
  after: number,
  signal: AbortSignal,
): Promise<number | null> {
  return database.transaction(
    async (transaction) => {
      // Locked, so that a rename and this run one after the other.
      const [document] = await transaction.query<{ spaceId: SpaceId }>(
        `select space_id as "spaceId" from indexed_documents
         where document_id = $1 and searchable and terms_version < $2 for no key update`,
        [documentId, termsVersion],
      )
      if (!document) return null
      const chunks = await transaction.query<StoredText & { name: string }>(
        `select ${storedTextColumns}, document_name as name from chunks
         where document_id = $1 and chunk_index > $2 order by chunk_index limit ${chunksPerStep}`,
        [documentId, after],
      )
      // A rename may have reached half of a document: each part keeps its own name.
      for (const [name, part] of Map.groupBy(chunks, (chunk) => chunk.name)) {
        await replaceTerms(transaction, { documentId, spaceId: document.spaceId, name }, part)
      }
      if (chunks.length === chunksPerStep) return chunks.at(-1)!.index
      await startNewRun(transaction, documentId, termsVersion)
      return null
    },
    { signal, background: true },
  )
}

/**
 * Gives the document another run id, which makes copies of its chunks in memory out of date, and takes it out of the segments that have
 * a copy of its terms.
 */
async function startNewRun(transaction: Queryable, documentId: string, version: number | null = null): Promise<void> {
  await transaction.execute(
    `update indexed_documents set run_id = $2, terms_version = coalesce($3::int, terms_version), updated_at = now(),
       vector_segments = array(
         select own.id from unnest(vector_segments) own (id)
         where not exists (select from vector_segments s where s.id = own.id and s.storage is not null))
     where document_id = $1`,
    [documentId, createUuid(), version],
  )
}

/** Replaces the terms of stored chunks of one document, and counts them in its row. */
async function replaceTerms(
  transaction: Queryable,
  { documentId, spaceId, name }: StoredDocument,
  chunks: readonly StoredText[],
): Promise<void> {
  const analysed = await analyseInSlices(
    spaceId,
    chunks.map((chunk) => searchableText(name, chunk)),
  )
  const ids = chunks.map(({ id }) => id)
  const values = chunks.map((_, index) => `($${2 * index + 2}::uuid, $${2 * index + 3}::int[])`).join(', ')
  const [difference] = await transaction.query<{ terms: bigint }>(
    `with former as (
       select c.chunk_id, cardinality(c.terms) as count from chunk_terms c
       where c.space_id = $1 and c.chunk_id = any($${2 * chunks.length + 2}::uuid[])
     ), changed as (
       update chunk_terms c set terms = n.terms from (values ${values}) n (chunk_id, terms)
       where c.space_id = $1 and c.chunk_id = n.chunk_id returning c.chunk_id, cardinality(c.terms) as count
     )
     select coalesce(sum(changed.count - former.count), 0)::bigint as terms from changed join former using (chunk_id)`,
    [spaceId, ...chunks.flatMap(({ id }, index) => [id, analysed[index]!.terms]), ids],
  )
  await transaction.execute(
    `update indexed_documents set term_count = term_count + $2,
       languages = array(select distinct language from unnest(languages || $3::text[]) language order by language)
     where document_id = $1`,
    [documentId, difference!.terms, [...new Set(analysed.flatMap((chunk) => chunk.languages))]],
  )
}
