import type { ExtractedBlock, ExtractionWarning } from '../../extraction.ts'
import { type PartReader, readAttached, roomForFile } from '../attached-files.ts'
import type { ExtractorInput } from '../extractor.ts'
import { type AttachmentPlace, createAttachmentReader } from './attachment-reader.ts'
import type { PdfAttachment } from './attachments.ts'

/** Most names of attached files in a warning, and their longest part. */
const shownNames = 8
const shownCharacters = 40

/** The files that are attached to a pdf and to its pages: read behind its text, or only named for version 1 of the interface. */
export function createAttachedFiles(
  ofDocument: readonly PdfAttachment[],
  pdf: Uint8Array,
  input: ExtractorInput,
  readPart: PartReader,
) {
  const { readsEmbedded = false, report } = input
  const files: (PdfAttachment & AttachmentPlace)[] = [...ofDocument]
  if (!readsEmbedded && ofDocument.length > 0) report.warn(unreadFiles(ofDocument.map(({ name }) => name)))

  return {
    /** The files that are attached to a page. */
    add(found: readonly PdfAttachment[], page: number) {
      if (readsEmbedded) for (const file of found) files.push({ ...file, page: page - 1 })
      else if (found.length > 0) report.warn({ ...attachedToPages, pages: [page] })
    },
    async *read(): AsyncGenerator<ExtractedBlock[]> {
      if (!readsEmbedded) return
      const reader = createAttachmentReader(pdf)
      const unread: string[] = []
      for (const file of files) {
        const { name, type } = file
        const content = await reader.read(file, roomForFile(input))
        if (content === null) unread.push(name)
        else yield* readAttached({ name, type, content: () => content }, input, readPart)
      }
      if (unread.length > 0) report.warn(unreadFiles(unread))
    },
  }
}

function unreadFiles(names: readonly string[]): ExtractionWarning {
  const shown = names.slice(0, shownNames).map((name) => name.slice(0, shownCharacters))
  const others = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  return {
    code: 'embedded_content_skipped',
    message: `Files are attached to the pdf and were not read: ${shown.join(', ')}${others}. If they matter, upload them.`,
  }
}

const attachedToPages = {
  code: 'embedded_content_skipped',
  message: 'Files are attached to these pages and were not read. If they matter, upload them.',
} as const
