import { type Database, type SqlValue, toJsonPath } from '../../../platform/database/index.ts'
import type { DocumentId } from '../../../platform/kernel/index.ts'
import type { ReadScope, SpaceScope } from '../engine.ts'
import type { MetadataFilter } from '../../../contract/metadata-filter.ts'
import type { DocumentFormat, DocumentsVersion } from '../../../contract/documents.ts'

/** A chunk of a searchable document. */
export interface StoredPassage {
  chunkId: string
  documentId: DocumentId
  documentName: string
  /** The document's metadata.url where it has one. */
  url: string | null
  text: string
  headingPath: string[]
  tableHeader: string | null
  chunkIndex: number
  pageFrom: number | null
  pageTo: number | null
  /** Where each page after `pageFrom` begins in the extracted text; null if that is not known. */
  pageStarts: number[] | null
  /** Range in the extracted text, in Unicode code points. */
  characterFrom: number
  characterTo: number
  rowFrom: number | null
  rowTo: number | null
}

/** Of the tables `chunks c` and `documents d`. */
export const passageColumns = `c.id as "chunkId", coalesce(d.public_id, d.id) as "documentId", d.name as "documentName",
  d.source_url as url, c.content as text, c.heading_path as "headingPath", c.table_header as "tableHeader",
  c.chunk_index as "chunkIndex", c.page_from as "pageFrom", c.page_to as "pageTo", c.page_starts as "pageStarts",
  c.character_from as "characterFrom", c.character_to as "characterTo", c.row_from as "rowFrom", c.row_to as "rowTo"`

/** A stretch of the extracted text. Chunks with some columns of a wide table are not: they repeat cells, and are shorter than the range of their rows. */
export const isStretch = 'char_length(c.content) = c.character_to - c.character_from'

/** The document of `chunks c`, looked up by its key: for a plain join, a planner that expects many chunks reads all documents. */
export const joinDocument = 'cross join lateral (select * from documents where id = c.document_id offset 0) d'
/** Its document is searchable; looked up by its key as well. */
export const isOfSearchable = '(select i.searchable from indexed_documents i where i.document_id = c.document_id)'

/** The chunks of these ids in no order, without those that were deleted, are not searchable or do not match. */
export function loadPassages(
  database: Database,
  scope: ReadScope,
  chunkIds: readonly string[],
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const values: SqlValue[] = [scope.spaceId, scope.organisationId, [...chunkIds]]
  const matches = andMatches(scope, values)
  return database.for(scope.organisationId).query(
    `select ${passageColumns}
     from chunks c ${joinDocument}
     where c.space_id = $1 and c.organisation_id = $2 and c.id = any($3::uuid[]) and ${isOfSearchable} ${matches}`,
    values,
    { signal, prepared: true },
  )
}

export interface Passage extends StoredPassage {
  /** Fused score, higher is better; comparable within one search only. */
  score: number
  /** Where the reranker has compared it with the question: it decides the order then. */
  rerankScore?: number
}

/**
 * A condition on the row `d` of a document, as SQL; null without a filter. Adds its parameter to `values`. The index has all fields of a document under
 * its Space, so that the documents of other Spaces cost nothing.
 */
export function filterCondition(
  { spaceId }: SpaceScope,
  filter: MetadataFilter | null,
  values: SqlValue[],
): string | null {
  if (filter === null) return null
  values.push(toJsonPath(spaceId, filter))
  return `d.filter_fields @@ $${values.length}::text::jsonpath`
}

/** `and` with the condition of the scope's filter on the row `d` of a document; empty without a filter. Adds its parameter to `values`. */
export function andMatches(scope: ReadScope, values: SqlValue[]): string {
  const condition = filterCondition(scope, scope.filter, values)
  return condition === null ? '' : `and ${condition}`
}

/** The same for a column with the id of a document's row. */
export function andMatching(scope: ReadScope, values: SqlValue[]): (column: string) => string {
  const condition = filterCondition(scope, scope.filter, values)
  if (condition === null) return () => ''
  return (column) => `and ${column} in (select d.id from documents d where ${condition})`
}

/** A searchable document of a Space. */
export interface SpaceDocument {
  id: DocumentId
  name: string
  format: DocumentFormat
  pages: number | null
  chunks: number
  sizeBytes: number
  /** With the charset that the upload declared. */
  mimeType: string
  /** Of the interface that received the file. */
  apiVersion: DocumentsVersion
  /** The hash of the file. */
  version: string
  blobKey: string
  /** The document's metadata.url where it has one. */
  url: string | null
  /** Length of the extracted text, in Unicode code points. */
  characters: number
  metadata: Record<string, unknown> | null
}

interface DocumentSelection {
  /** Part of the name, without regard to case. */
  name?: string | undefined
  /** Fields at the top level of the metadata, and their values as text. */
  metadata?: Readonly<Record<string, string>> | undefined
  id?: string | undefined
  limit: number
  offset?: number
}

/** Where reading a document begins; pages and rows count from 1. */
type Place = { page: number } | { row: number } | { heading: string } | { chunk: number }

/** A chunk of a document as `loadText` returns it. */
interface ChunkText {
  chunkId: string
  text: string
}

/** Reads the searchable documents of a scope. A document of another Space, or one that the filter excludes, does not exist for it. */
export interface DocumentReader {
  /** In the order of names; `total` counts all that match. */
  loadDocuments: (
    scope: ReadScope,
    selection: DocumentSelection,
    signal: AbortSignal,
  ) => Promise<{ total: number; documents: SpaceDocument[] }>
  /** Passages in reading order from a place; empty where the document has no such place. */
  loadPassages: (
    scope: ReadScope,
    documentId: string,
    from: { place: Place; limit: number },
    signal: AbortSignal,
  ) => Promise<StoredPassage[]>
  /** The texts of some passages in reading order, from chunk `from`. */
  loadTexts: (
    scope: ReadScope,
    documentId: string,
    range: { from: number; limit: number },
    signal: AbortSignal,
  ) => Promise<ChunkText[]>
  /** Those of the documents that exist, searchable or not. */
  loadExisting: (scope: ReadScope, documentIds: readonly string[], signal: AbortSignal) => Promise<string[]>
  /** The passages with these ids, in no order. */
  loadByIds: (scope: ReadScope, chunkIds: readonly string[], signal: AbortSignal) => Promise<StoredPassage[]>
  /** The passages right before and after this one in its document, in no order. */
  loadNeighbours: (scope: ReadScope, chunkId: string, signal: AbortSignal) => Promise<StoredPassage[]>
  /** All passages in reading order, the documents by name; empty where the Space is empty or larger than `maximum`. */
  loadSpace: (scope: ReadScope, maximum: SpaceSize, signal: AbortSignal) => Promise<StoredPassage[]>
}

const ofDocument = `from chunks c join indexed_documents i on i.document_id = c.document_id and i.searchable
  join documents d on d.id = c.document_id
  where c.space_id = $1 and c.organisation_id = $2 and coalesce(d.public_id, d.id) = $3 and d.is_current and ${isStretch}`

export function createDocumentReader(database: Database): DocumentReader {
  return {
    async loadDocuments(scope, { name, metadata = {}, id, limit, offset = 0 }, signal) {
      const values: SqlValue[] = [
        scope.spaceId,
        scope.organisationId,
        name ?? null,
        id ?? null,
        Object.keys(metadata),
        Object.values(metadata),
        limit,
        offset,
      ]
      const matches = andMatches(scope, values)
      const rows = await database
        .for(scope.organisationId)
        .query<Omit<SpaceDocument, 'sizeBytes'> & { sizeBytes: bigint; total: number }>(
          `select coalesce(d.public_id, d.id) as id, d.name, d.format, d.page_count as pages, i.chunk_count as chunks,
           d.size_bytes as "sizeBytes", d.mime_type as "mimeType", d.api_version as "apiVersion",
           encode(d.content_sha256, 'hex') as version, d.blob_key as "blobKey", d.metadata, d.source_url as url,
           coalesce((select c.character_to from chunks c where c.document_id = d.id
             order by c.character_from desc limit 1), 0) as characters, (count(*) over ())::int as total
         from documents d join indexed_documents i on i.document_id = d.id and i.searchable
         where d.space_id = $1 and d.organisation_id = $2 and d.is_current
           and ($3::text is null or strpos(d.name_key, lower(normalize($3::text, NFD)) collate "C") > 0)
           and ($4::uuid is null or coalesce(d.public_id, d.id) = $4::uuid)
           and not exists (
             select 1 from unnest($5::text[], $6::text[]) as wanted (field, value)
             where (d.metadata ->> wanted.field) is distinct from wanted.value) ${matches}
         order by d.name_key, d.document_id limit $7 offset $8`,
          values,
          { signal },
        )
      return {
        total: rows[0]?.total ?? 0,
        documents: rows.map(({ total: _total, ...row }) => ({ ...row, sizeBytes: Number(row.sizeBytes) })),
      }
    },

    async loadPassages(scope, documentId, { place, limit }, signal) {
      const { conditions, value } = startOf(place)
      const values: SqlValue[] = [scope.spaceId, scope.organisationId, documentId, value, limit]
      const matches = andMatches(scope, values)
      const starts = conditions.map((condition) => `(select min(c.chunk_index) ${ofDocument} and ${condition})`)
      return database.for(scope.organisationId).query<StoredPassage>(
        `select ${passageColumns} ${ofDocument} ${matches} and c.chunk_index >= coalesce(${starts.join(', ')})
         order by c.chunk_index limit $5`,
        values,
        { signal },
      )
    },

    async loadTexts(scope, documentId, { from, limit }, signal) {
      const values: SqlValue[] = [scope.spaceId, scope.organisationId, documentId, limit, from]
      const matches = andMatches(scope, values)
      return database
        .for(scope.organisationId)
        .query<ChunkText>(
          `select c.id as "chunkId", c.content as text ${ofDocument} ${matches} order by c.chunk_index limit $4 offset $5`,
          values,
          { signal },
        )
    },

    loadExisting: (...given) => loadExisting(database, ...given),
    loadByIds: (scope, chunkIds, signal) => loadPassages(database, scope, chunkIds, signal),
    loadNeighbours: (scope, chunkId, signal) => loadNeighbours(database, scope, chunkId, signal),
    loadSpace: (scope, maximum, signal) => loadWholeSpace(database, scope, maximum, signal),
  }
}

async function loadExisting(
  database: Database,
  ...[scope, documentIds, signal]: Parameters<DocumentReader['loadExisting']>
): Promise<string[]> {
  const values: SqlValue[] = [scope.spaceId, scope.organisationId, [...documentIds]]
  const matches = andMatches(scope, values)
  const rows = await database.for(scope.organisationId).query<{ id: string }>(
    `select coalesce(d.public_id, d.id) as id from documents d
     where coalesce(d.public_id, d.id) = any($3::uuid[]) and d.is_current and d.space_id = $1 and d.organisation_id = $2 ${matches}`,
    values,
    { signal },
  )
  return rows.map(({ id }) => id)
}

/** Where reading may begin: the first chunk that meets a condition; the second condition counts where no chunk meets the first. */
function startOf(place: Place): { conditions: string[]; value: string | number } {
  if ('page' in place) return { conditions: ['coalesce(c.page_to, c.page_from) >= $4::int'], value: place.page }
  if ('row' in place) return { conditions: ['coalesce(c.row_to, c.row_from) >= $4::int'], value: place.row }
  if ('chunk' in place) return { conditions: ['c.chunk_index >= $4::int'], value: place.chunk }
  return {
    conditions: [
      `strpos(lower(array_to_string(c.heading_path, ' > ')), lower($4::text)) > 0`,
      // Short sections share a chunk, whose text has their headings as lines.
      `strpos(lower(E'\\n' || c.content), lower(E'\\n' || $4::text)) > 0`,
    ],
    value: place.heading,
  }
}

/** The chunks right before and after this one in its document, in no order. */
function loadNeighbours(
  database: Database,
  scope: ReadScope,
  chunkId: string,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const values: SqlValue[] = [scope.spaceId, scope.organisationId, chunkId]
  const matches = andMatches(scope, values)
  return database.for(scope.organisationId).query<StoredPassage>(
    `select ${passageColumns}
     from chunks own join chunks c on c.document_id = own.document_id
         and c.chunk_index in (own.chunk_index - 1, own.chunk_index + 1)
       ${joinDocument}
     where own.space_id = $1 and own.organisation_id = $2 and own.id = $3 and ${isStretch} and ${isOfSearchable} ${matches}`,
    values,
    { signal, prepared: true },
  )
}

/** How large a Space may be whose chunks are all loaded. */
interface SpaceSize {
  documents: number
  /** Of the extracted texts, in Unicode code points. */
  characters: number
}

/** All passages of the scope in reading order, the documents by name; empty where the Space is empty or larger than `maximum`. */
async function loadWholeSpace(
  database: Database,
  scope: ReadScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<StoredPassage[]> {
  const documentIds = await listSmallSpace(database, scope, maximum, signal)
  if (documentIds.length === 0) return []
  const values: SqlValue[] = [scope.organisationId, scope.spaceId, documentIds]
  const matches = andMatches(scope, values)
  // A lateral subquery: for a join, the planner would read all chunks of all Spaces.
  return database.for(scope.organisationId).query<StoredPassage>(
    `select ${passageColumns}
     from indexed_documents i join documents d on d.id = i.document_id
       cross join lateral (select * from chunks c where c.document_id = i.document_id and ${isStretch} offset 0) c
     where i.document_id = any($3::uuid[]) and i.organisation_id = $1 and i.space_id = $2 and i.searchable ${matches}
     order by d.name_key, d.id, c.chunk_index`,
    values,
    { signal, prepared: true },
  )
}

/**
 * The searchable documents of the scope; none where it is larger than `maximum`. Each question asks it, so it reads one row of each document, of
 * no more documents than `maximum`: a large Space costs no more than a small one.
 */
async function listSmallSpace(
  database: Database,
  scope: ReadScope,
  maximum: SpaceSize,
  signal: AbortSignal,
): Promise<string[]> {
  const values: SqlValue[] = [scope.organisationId, scope.spaceId, maximum.documents]
  const matches = andMatching(scope, values)
  const [row] = await database.for(scope.organisationId).query<{ ids: string[] | null; characters: number }>(
    `select array_agg(own.document_id) as ids, coalesce(sum(
         (select l.character_to from chunks l where l.document_id = own.document_id order by l.character_from desc limit 1)
       ), 0)::float8 as characters
     from indexed_documents own
     where own.organisation_id = $1 and own.space_id = $2 and own.searchable ${matches('own.document_id')} and not exists (
       select from indexed_documents more
       where more.organisation_id = $1 and more.space_id = $2 and more.searchable ${matches('more.document_id')} offset $3::int)`,
    values,
    { signal, prepared: true },
  )
  return row!.characters > maximum.characters ? [] : (row!.ids ?? [])
}
