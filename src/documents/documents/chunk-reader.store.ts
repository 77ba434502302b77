import type { ChunkBody } from '../../contract/document-progress.ts'
import type { Database } from '../../platform/database/index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'

/** Reads the chunks of documents for display. */
export function createChunkReader(database: Database) {
  return {
    async findOrganisation(documentId: string): Promise<string | undefined> {
      const [document] = await database
        .for(sharedOwner)
        .query<{ organisationId: string }>(
          `select organisation_id as "organisationId" from documents where coalesce(public_id, id) = $1 and is_current`,
          [documentId],
        )
      return document?.organisationId
    },
    /** Names of documents of an organisation that still exist, by id. */
    async loadNames(organisationId: string, documentIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await database.for(organisationId).query<{ id: string; name: string }>(
        `select coalesce(public_id, id) as id, name from documents
          where coalesce(public_id, id) = any($2::uuid[]) and organisation_id = $1 and is_current`,
        [organisationId, documentIds],
      )
      return new Map(rows.map(({ id, name }) => [id, name]))
    },
    /** A page of a document's chunks in order; empty until the document is ready. Undefined: there is no such document. */
    async loadChunks(
      { organisationId, documentId }: { organisationId: string; documentId: string },
      page: { limit: number; offset: number },
    ) {
      const own = database.for(organisationId)
      const [document] = await own.query<{ rowId: string; chunks: number; searchable: boolean | null }>(
        `select d.id as "rowId", coalesce(i.chunk_count, 0) as chunks, i.searchable
         from documents d left join indexed_documents i on i.document_id = d.id
         where coalesce(d.public_id, d.id) = $1 and d.is_current`,
        [documentId],
      )
      if (!document) return undefined
      if (document.searchable !== true) return { total: 0, items: [] }
      const items = await own.query<ChunkBody>(
        `select chunk_index as index, content as text, heading_path as "headingPath", table_header as "tableHeader", tokens,
           page_from as "pageFrom", page_to as "pageTo", character_from as "characterFrom", character_to as "characterTo",
           row_from as "rowFrom", row_to as "rowTo"
         from chunks where document_id = $1 order by chunk_index limit $2 offset $3`,
        [document.rowId, page.limit, page.offset],
      )
      return { total: document.chunks, items }
    },
  }
}

export type ChunkReader = ReturnType<typeof createChunkReader>
