import { setImmediate } from 'node:timers/promises'
import type { Queryable } from '../../platform/database/index.ts'
import type { Metadata } from './document-metadata.ts'
import { changeMetadata, type MetadataChange } from './metadata-change.ts'
import { publicId } from './replacement.store.ts'

interface MetadataRow {
  id: string
  documentId: string
  json: string | null
}

/**
 * Changes the metadata of documents, also of replacements that are not ready yet. `skipped` counts documents that stay as they are,
 * because their metadata would become too large.
 */
export async function changeMetadataOf(
  transaction: Queryable,
  ids: readonly string[],
  change: MetadataChange,
): Promise<{ skipped: number }> {
  const rows = await transaction.query<MetadataRow>(
    `select id, ${publicId('d')} as "documentId", metadata::text as json from documents d
     where ${publicId('d')} = any($1::uuid[]) order by id for no key update`,
    [[...ids]],
  )
  const skipped = new Set<string>()
  const changed: { id: string; documentId: string; metadata: Metadata }[] = []
  for (const { id, documentId, json } of rows) {
    const result = changeMetadata(json, change)
    if (result.kind === 'too_large') skipped.add(documentId)
    if (result.kind === 'changed') changed.push({ id, documentId, metadata: result.metadata })
    // Metadata of 16 KiB takes about a millisecond; requests are handled in between.
    await setImmediate()
  }
  for (const { id, documentId, metadata } of changed) {
    if (!skipped.has(documentId)) await saveMetadata(transaction, id, metadata)
  }
  return { skipped: skipped.size }
}

export async function saveMetadata(transaction: Queryable, id: string, metadata: Metadata | null): Promise<void> {
  await transaction.execute(
    'update documents set metadata = $2::json, source_url = $3, path = $4, updated_at = now() where id = $1',
    [id, metadata?.json ?? null, metadata?.sourceUrl ?? null, metadata?.path ?? null],
  )
}
