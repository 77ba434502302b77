import { type DocumentTextBody, maximumTextWindow } from '../../contract/document-viewer.ts'
import type { Database } from '../../platform/database/index.ts'
import { sharedOwner } from '../../platform/kernel/index.ts'
import type { ChunkReader } from './chunk-reader.store.ts'
import type { DocumentStore } from './documents.store.ts'
import { publicId } from './replacement.store.ts'
import type { DocumentView, StoredFile, Viewer } from './viewer.ts'

interface ViewerStoreDependencies {
  database: Database
  store: Pick<DocumentStore, 'loadProgressOf'>
  chunks: Pick<ChunkReader, 'loadChunks'>
}

/** Chunks with some columns of a wide table are no part of the text; they are shorter than the range of their rows. */
const isText = 'char_length(content) = character_to - character_from'

/** Reads what the viewer shows of a document. */
export function createViewerStore({ database, store, chunks }: ViewerStoreDependencies): Viewer {
  async function loadFile(documentId: string): Promise<StoredFile | undefined> {
    const [row] = await database.for(sharedOwner).query<Omit<StoredFile, 'sizeBytes'> & { sizeBytes: bigint }>(
      `select d.id as "rowId", d.organisation_id as "organisationId", d.space_id as "spaceId", d.name,
         d.blob_key as "blobKey", d.mime_type as "mimeType", d.size_bytes as "sizeBytes",
         encode(d.content_sha256, 'hex') as version, d.metadata, coalesce(i.searchable, false) as "isSearchable"
       from documents d left join indexed_documents i on i.document_id = d.id
       where ${publicId('d')} = $1 and d.is_current`,
      [documentId],
    )
    return row && { ...row, sizeBytes: Number(row.sizeBytes) }
  }

  async function loadText({ rowId, organisationId, isSearchable }: StoredFile, from: number, to: number) {
    if (!isSearchable) return { total: 0, from: 0, to: 0, text: '' }
    const own = database.for(organisationId)
    const [last] = await own.query<{ to: number }>(
      `select character_to as "to" from chunks where document_id = $1 and ${isText} order by character_from desc limit 1`,
      [rowId],
    )
    const total = last?.to ?? 0
    const pieces = await own.query<PlacedText>(
      `select character_from as "from", character_to as "to", content as text from chunks
       where document_id = $1 and ${isText} and character_from < $3 and character_from >= coalesce((
         select character_from from chunks where document_id = $1 and ${isText} and character_from <= $2
         order by character_from desc limit 1), 0)
       order by character_from, chunk_index`,
      [rowId, from, to],
    )
    return { total, ...joinWindow(pieces, from, to) }
  }

  async function loadPageCount({ rowId, organisationId }: StoredFile): Promise<number | null> {
    const [last] = await database
      .for(organisationId)
      .query<{ page: number | null }>(
        'select page_to as page from chunks where document_id = $1 order by chunk_index desc limit 1',
        [rowId],
      )
    return last?.page ?? null
  }

  async function loadPageText(file: StoredFile, page: number): Promise<DocumentTextBody> {
    const chunks = await database.for(file.organisationId).query<PagedChunk>(
      `select page_from as "pageFrom", page_starts as "pageStarts", character_from as "from", character_to as "to" from chunks
       where document_id = $1 and ${isText} and page_from <= $2 and page_to >= $2`,
      [file.rowId, page],
    )
    const { from, to } = rangeOfPage(chunks, page)
    const window = await loadText(file, from, Math.min(to, from + maximumTextWindow))
    const text = window.text.trimEnd()
    // Blanks are single code points.
    return { ...window, text, to: window.to - (window.text.length - text.length) }
  }

  return {
    loadFile,

    loadText: (file, { from, to }) => loadText(file, from, to),

    loadPageText,

    async loadView(documentId, file, { from, to, chunkLimit }): Promise<DocumentView | undefined> {
      const [document] = await store.loadProgressOf(file.organisationId, file.spaceId, [documentId])
      const page = await chunks.loadChunks(
        { organisationId: file.organisationId, documentId },
        { limit: chunkLimit, offset: 0 },
      )
      if (!document || !page) return undefined
      const { metadata, version } = file
      const text = await loadText(file, from, to)
      return { document, metadata, version, pageCount: await loadPageCount(file), text, chunks: page }
    },
  }
}

/** A piece of a text with its range in Unicode code points. */
export interface PlacedText {
  from: number
  to: number
  text: string
}

/**
 * The text from `from` to `to` (code points), from pieces in the order of their starts. Pieces may overlap; a gap between two is a line
 * feed, followed by blanks so that positions stay right. Linear in the pieces.
 */
export function joinWindow(pieces: readonly PlacedText[], from: number, to: number): PlacedText {
  const parts: string[] = []
  let at = from
  for (const piece of pieces) {
    if (piece.to <= at || piece.from >= to) continue
    if (piece.from > at) {
      parts.push(`\n${' '.repeat(piece.from - at - 1)}`)
      at = piece.from
    }
    const end = Math.min(piece.to, to)
    parts.push(sliceCodePoints(piece, at, end))
    at = end
  }
  return { from, to: at, text: parts.join('') }
}

/** The range of a chunk in code points, with the pages that it covers. */
interface PagedChunk {
  pageFrom: number
  /** Where each page after the first begins; null for chunks of an older version. */
  pageStarts: number[] | null
  from: number
  to: number
}

/** The range of a page in code points, from the chunks with a part of it; an empty one if it has no text. */
export function rangeOfPage(chunks: readonly PagedChunk[], page: number): { from: number; to: number } {
  let range: { from: number; to: number } | undefined
  for (const { pageFrom, pageStarts, from, to } of chunks) {
    const starts = pageStarts ?? []
    const begin = page === pageFrom ? from : (starts[page - pageFrom - 1] ?? from)
    const end = starts[page - pageFrom] ?? to
    if (begin >= end) continue
    range = { from: Math.min(range?.from ?? begin, begin), to: Math.max(range?.to ?? end, end) }
  }
  return range ?? { from: 0, to: 0 }
}

/** Code points `from` to `to` of the text that the piece is a part of. */
function sliceCodePoints(piece: PlacedText, from: number, to: number): string {
  const { text } = piece
  if (from === piece.from && to === piece.to) return text
  // Without characters outside of the basic plane, code points are UTF-16 units.
  if (text.length === piece.to - piece.from) return text.slice(from - piece.from, to - piece.from)
  const start = unitAt(text, 0, from - piece.from)
  return text.slice(start, unitAt(text, start, to - from))
}

/** The UTF-16 index `codePoints` behind `start`. */
function unitAt(text: string, start: number, codePoints: number): number {
  let unit = start
  for (let left = codePoints; left > 0 && unit < text.length; left--) {
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  }
  return unit
}
