import { createHash } from 'node:crypto'
import type { DocumentV2Body } from '../../src/contract/documents.ts'
import type { ApiClient } from '../api-client.ts'
import type { Page } from '../paging.ts'
import type { Retries } from '../retries.ts'

/** What push compares of a document. */
export interface SpaceDocument {
  id: string
  name: string
  /** Path of the file that push uploaded, undefined for other documents. */
  sourceFile: string | undefined
  /** `metadata.path` */
  folder: string
  contentSha256: string
  metadataDigest: string
  hasFailed: boolean
}

const pageSize = 100
const maximumReads = 4

/**
 * All documents of a Space, newest first, page by page. Documents that are removed meanwhile shift the pages; then the list is read again,
 * and a document of any reading counts.
 */
export async function loadSpaceDocuments(
  client: ApiClient,
  spaceId: string,
  retries: Retries,
): Promise<SpaceDocument[]> {
  const found = new Map<string, SpaceDocument>()
  for (let reads = 0; reads < maximumReads; reads++) {
    const totals = new Set<number>()
    let count = 0
    for (let offset = 0; ; offset += pageSize) {
      const query = new URLSearchParams({ spaceId, limit: String(pageSize), offset: String(offset) })
      const page = await retries.run(() => client.get<Page<DocumentV2Body>>(`/v2/documents?${query}`))
      totals.add(page.total)
      count += page.items.length
      for (const document of page.items) found.set(document.id, toSpaceDocument(document))
      if (page.items.length < pageSize) break
    }
    if (totals.size === 1 && totals.has(count)) break
  }
  return [...found.values()]
}

function toSpaceDocument({ id, name, metadata, contentSha256, status }: DocumentV2Body): SpaceDocument {
  const { sourceFile, path } = metadata ?? {}
  return {
    id,
    name,
    sourceFile: typeof sourceFile === 'string' ? sourceFile : undefined,
    folder: typeof path === 'string' ? path : '',
    contentSha256,
    metadataDigest: digestMetadata(metadata),
    hasFailed: status === 'failed',
  }
}

/** Equal for equal JSON values, whatever the order of their keys. */
export function digestMetadata(metadata: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(metadata ?? null)))
    .digest('base64url')
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return entries.map(([key, inner]) => [key, sortKeys(inner)])
}
