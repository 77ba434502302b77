import type { Database } from '../../platform/database/index.ts'
import type { OutlinePart } from './suggest-questions.ts'

/** What is read of a Space: a large one costs no more than a small one. */
const maximumDocuments = 20
const passagesPerDocument = 20
const charactersPerPassage = 2_000

/**
 * The beginnings of documents of a Space with their innermost headings, in reading order; `database` is the corpus. The first by name of each format,
 * then the second of each, and so on: many files of one format hide no other.
 */
export async function loadOutline(
  database: Database,
  { organisationId, spaceId }: { organisationId: string; spaceId: string },
): Promise<OutlinePart[]> {
  return database.for(organisationId).query<OutlinePart>(
    `SELECT own.document_id AS "documentId", own.name AS "documentName",
       c.heading_path[cardinality(c.heading_path)] AS heading, left(c.content, $5::int4) AS text
       FROM (SELECT i.document_id, d.name, d.format,
               row_number() OVER (PARTITION BY d.format ORDER BY d.name_key, d.id) AS place
               FROM indexed_documents i JOIN documents d ON d.id = i.document_id
              WHERE i.organisation_id = $1 AND i.space_id = $2 AND i.searchable ORDER BY place, d.format LIMIT $3) own
      CROSS JOIN LATERAL (SELECT heading_path, content, chunk_index FROM chunks c
                           WHERE c.document_id = own.document_id
                           ORDER BY c.chunk_index LIMIT $4) c
      ORDER BY own.place, own.format, c.chunk_index`,
    [organisationId, spaceId, maximumDocuments, passagesPerDocument, charactersPerPassage],
  )
}
