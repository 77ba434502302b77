import type { DocumentFormat, DocumentsVersion, DocumentWarning } from '../../contract/documents.ts'
import { spaceArchiveLimits } from '../../contract/space-archives.ts'
import { type OwnedDatabase, decodeVector } from '../../platform/database/index.ts'
import {
  type EmbeddingVersion,
  type IndexedChunk,
  indexedChunkColumns,
  vectorTable,
} from '../../documents/retrieval/index.ts'

/** A document whose content is served. */
export interface ExportedDocument {
  rowId: string
  /** For clients; golden questions name it. */
  documentId: string
  name: string
  metadataJson: string | null
  format: DocumentFormat
  mimeType: string
  apiVersion: DocumentsVersion
  sizeBytes: number
  sha256: string
  blobKey: string
  warnings: DocumentWarning[] | null
  pageCount: number | null
  /** 0: it has none that can be exported. */
  chunks: number
}

export interface ExportedChunk extends IndexedChunk {
  /** Absent where the embedding version lacks it. */
  vector: Float32Array | null
}

interface Scope {
  organisationId: string
  spaceId: string
}

export type ExportedSpaceStore = ReturnType<typeof createExportedSpaceStore>

const documentsPerPage = 100
const { chunkTextBytes, chunksOfPart, headings, pageStarts } = spaceArchiveLimits

/** Reads a Space for its export, in short statements: on the embedded engine everything else waits for them. */
export function createExportedSpaceStore(database: OwnedDatabase) {
  return {
    /** The version that answers searches. */
    async loadActiveVersion(): Promise<Pick<EmbeddingVersion, 'id' | 'embedderId' | 'dimensions' | 'storage'> | null> {
      const [version] = await database.query<EmbeddingVersion>(
        `select id, embedder_id as "embedderId", dimensions, storage from embedding_generations where state = 'active'`,
      )
      return version ?? null
    },

    /** In the order of their ids, which is that of their uploads. */
    async loadDocuments({ organisationId, spaceId }: Scope, after: string | null): Promise<ExportedDocument[]> {
      const rows = await database.query<Omit<ExportedDocument, 'sizeBytes'> & { sizeBytes: bigint }>(
        `select d.id as "rowId", d.document_id as "documentId", d.name, d.metadata::text as "metadataJson", d.format,
           d.mime_type as "mimeType", d.api_version as "apiVersion", d.size_bytes as "sizeBytes",
           encode(d.content_sha256, 'hex') as sha256, d.blob_key as "blobKey", d.warnings, d.page_count as "pageCount",
           case when d.status = 'ready' then coalesce(i.chunk_count, 0) else 0 end as chunks
         from documents d left join indexed_documents i on i.document_id = d.id and i.searchable
         where d.organisation_id = $1 and d.space_id = $2 and d.is_current and ($3::uuid is null or d.id > $3)
         order by d.id limit ${documentsPerPage}`,
        [organisationId, spaceId, after],
        { background: true },
      )
      return rows.map((row) => ({ ...row, sizeBytes: Number(row.sizeBytes) }))
    },

    /** Whether each chunk is within the limits of an archive and has its vector. */
    async canExportChunks(rowId: string, version: { id: number }): Promise<boolean> {
      const [row] = await database.query<{ refused: boolean }>(
        `select exists (
           select from chunks c where c.document_id = $1 and (octet_length(c.content) > ${chunkTextBytes}
             or octet_length(c.table_header) > ${chunkTextBytes} or cardinality(c.heading_path) > ${headings}
             or octet_length(array_to_string(c.heading_path, '')) > ${chunkTextBytes} or cardinality(c.page_starts) > ${pageStarts}
             or not exists (select from ${vectorTable(version)} e where e.space_id = c.space_id and e.chunk_id = c.id))
         ) as refused`,
        [rowId],
        { background: true },
      )
      return !row!.refused
    },

    /** The next chunks of a document, with the vectors of the table. */
    async loadChunks(rowId: string, version: { id: number }, after: number): Promise<ExportedChunk[]> {
      const rows = await database.query<IndexedChunk & { vectorBytes: Uint8Array | null }>(
        `select ${indexedChunkColumns}, (select vector_send(e.embedding::vector) from ${vectorTable(version)} e
           where e.space_id = c.space_id and e.chunk_id = c.id) as "vectorBytes"
         from chunks c where c.document_id = $1 and c.chunk_index > $2 order by c.chunk_index limit ${chunksOfPart}`,
        [rowId, after],
        { background: true },
      )
      return rows.map(({ vectorBytes, ...chunk }) => ({ ...chunk, vector: vectorBytes && decodeVector(vectorBytes) }))
    },
  }
}
