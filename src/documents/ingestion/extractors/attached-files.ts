import { detectFormat, detectionHeadBytes } from '../detect-format.ts'
import { ExtractionError, type DocumentFormat, type ExtractedBlock, type ExtractionWarning } from '../extraction.ts'
import type { Extractor, ExtractorInput, Nesting } from './extractor.ts'

/** Files within files that are read; messages one less. */
export const maximumDepth = 5
/** Files in one file and in those that it contains. */
const maximumFiles = 1_000
/** Most bytes of one file, which is in memory as a whole. */
const maximumFileBytes = 64 * 1024 * 1024
/** Longest part of a name in a warning. */
const maximumShownName = 100
/** The same of all names in one warning. */
const maximumShownNames = 360

/** A file that is attached to a message or to a pdf. */
export interface AttachedFile {
  name: string
  /** Such as `text/plain`; empty where it is not stated. */
  type: string
  charset?: string | undefined
  /** Absent: by its name, type and content. */
  format?: DocumentFormat | undefined
  /** Null where it is not in the file, or has more than these bytes. */
  content(maximumBytes: number): Buffer | null | Promise<Buffer | null>
}

/** Reads a part of a file as a file of its format. */
export type PartReader = (format: DocumentFormat, input: ExtractorInput) => ReturnType<Extractor>

export const newNesting = (): Nesting => ({
  depth: 0,
  totals: { files: 0, bytes: 0, recognised: 0, skipped: [], unread: [] },
})

/**
 * Yields the blocks of an attached file of a supported type below its name; the others are named at the end of the extraction, unless there is
 * a `skip`. `isInline`: the file is a part of the text and has no heading.
 */
export async function* readAttached(
  file: AttachedFile,
  input: ExtractorInput,
  readPart: PartReader,
  { isInline = false, skip }: { isInline?: boolean; skip?: () => void } = {},
): AsyncGenerator<ExtractedBlock[]> {
  const { name } = file
  const { depth, totals } = nestingOf(input)
  const leaveOut = (names: string[]) => (skip ? skip() : void names.push(name))
  if (totals.files >= maximumFiles) return leaveOut(totals.skipped)
  const room = roomForFile(input)
  const content = await file.content(room)
  if (content === null || content.length > room) return leaveOut(totals.unread)
  totals.bytes += content.length
  const inner: Nesting = { depth: depth + 1, totals }
  const format = file.format ?? formatOf(file, content)
  const isTooDeep = inner.depth > maximumDepth || (format === 'eml' && inner.depth === maximumDepth)
  if (content.length === 0 || !format || isTooDeep) return leaveOut(totals.skipped)
  totals.files += 1
  if (!isInline) yield [{ kind: 'heading', level: 2, text: name }]
  try {
    for await (const found of readPart(format, { ...partInput(input, content, file, name), nesting: inner }))
      yield found.map((block) => asPart(block, isInline ? 0 : 2))
  } catch (error) {
    // The file waits for a worker with more time.
    if (!(error instanceof ExtractionError) || error.code === 'processing_timeout') throw error
    input.report.warn({
      code: 'damaged_parts',
      message: `The attachment ${name.slice(0, maximumShownName)} was not read to its end. ${error.message}`,
    })
  }
}

export const nestingOf = ({ nesting = newNesting() }: Pick<ExtractorInput, 'nesting'>): Nesting => nesting

/** How many bytes the next file in the file may have. */
export function roomForFile({ limits, nesting }: Pick<ExtractorInput, 'limits' | 'nesting'>): number {
  return Math.min(maximumFileBytes, limits.maximumUnpackedBytes - nestingOf({ nesting }).totals.bytes)
}

/** `attachment`: its name, which its warnings state; absent for a text of a message. */
export function partInput(
  input: ExtractorInput,
  content: Buffer,
  { charset }: Pick<AttachedFile, 'charset'>,
  attachment?: string,
): ExtractorInput {
  const prefix = attachment === undefined ? '' : `Attachment ${attachment.slice(0, maximumShownName)}: `
  // Pages and progress of a part are not those of the file.
  const report: ExtractorInput['report'] = {
    progress() {},
    warn: ({ code, message }) => input.report.warn({ code, message: prefix + message }),
  }
  const recognition = input.recognition && {
    ...input.recognition,
    keptPages: [],
    recognised: () => input.recognition!.recognised(null, false),
  }
  return {
    ...input,
    content,
    sizeBytes: content.length,
    declaredEncoding: charset,
    readsEmbedded: true,
    recognition,
    report,
  }
}

/** RFC 2046 and, for addresses in all scripts, RFC 6532. */
export function isMessage(type: string): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}

function formatOf({ type, name }: AttachedFile, content: Buffer): DocumentFormat | null {
  if (isMessage(type)) return 'eml'
  const head = content.subarray(0, detectionHeadBytes)
  const detected = detectFormat({ fileName: name, head, declaredType: type }, 2)
  return detected.supported ? detected.format : null
}

/** A block of an attachment: below the heading with its name, and without a page, which would count as one of the file. */
function asPart({ page: _page, ...block }: ExtractedBlock, deeper: number): ExtractedBlock {
  return block.kind === 'heading' ? { ...block, level: Math.min(6, (block.level ?? 1) + deeper) } : block
}

/** Warnings that name the attachments that were not read. */
export function* skippedWarnings({ skipped, unread }: Nesting['totals']): Generator<ExtractionWarning> {
  yield* namedIn(skipped, 'their types are not supported', 'upload their text')
  yield* namedIn(unread, 'they are damaged, or too large when they are unpacked', 'upload them')
}

/** Several names in each: a document has only so many warnings. */
function* namedIn(names: readonly string[], reason: string, wayOut: string): Generator<ExtractionWarning> {
  let shown: string[] = []
  const warning = (): ExtractionWarning => ({
    code: 'embedded_content_skipped',
    message: `Attachments were not read, because ${reason}: ${shown.join(', ')}. If they matter, ${wayOut}.`,
  })
  for (const name of names) {
    if (shown.join(', ').length + maximumShownName > maximumShownNames) {
      yield warning()
      shown = []
    }
    shown.push(name.slice(0, maximumShownName))
  }
  if (shown.length > 0) yield warning()
}
