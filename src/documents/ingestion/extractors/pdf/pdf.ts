import { readFile } from 'node:fs/promises'
import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { hiddenText } from '../../suspicious/text-flags.ts'
import { corruptFile, createBlockBatch, type Extractor } from '../extractor.ts'
import type { PartReader } from '../attached-files.ts'
import { createAttachedFiles } from './attached-files.ts'
import { PdfCharacters } from './character.ts'
import type { PdfPage, PdfReader } from './document.ts'
import { withInitials } from './initials.ts'
import { readSegments } from './lines.ts'
import { findLosses } from './losses.ts'
import { createPageRecognition } from './page-recognition.ts'
import { createDocumentSense, pageBlocks, type PdfDocumentSense } from './paragraphs.ts'
import { findGutter, readingOrder } from './reading-order.ts'
import type { Segment } from './segment.ts'
import { turnRules } from './tables/drawn-rules.ts'
import { createRunningLineFilter, withoutLineNumbers, type BodyLines, type PageLines } from './running-lines.ts'
import { createPdfTableReader, type PdfTableReader } from './tables/table-blocks.ts'
import { withTables } from './tables/find-tables.ts'

export interface PdfOptions {
  /** False reads the rows of tables as lines of text; for measurements. Default true. */
  findsTables?: boolean
}

/** A pdf, page by page. A page that cannot be read becomes a warning; the others are read. */
export function createPdfExtractor(
  reader: PdfReader,
  readPart: PartReader,
  { findsTables = true }: PdfOptions = {},
): Extractor {
  return async function* extractPdf(input) {
    const { filePath, content, limits, report } = input
    const bytes = content ?? (await readFile(filePath))
    const document = reader.open(bytes)
    try {
      const { pageCount } = document
      if (pageCount <= 0) throw corruptFile('The pdf is damaged: it has no pages.')
      if (pageCount > limits.maximumPages)
        throw new ExtractionError(
          'too_many_pages',
          `The pdf claims ${pageCount} pages; at most ${limits.maximumPages} are read. Split it into smaller files.`,
        )
      report.progress(0, pageCount)
      const batch = createBlockBatch()
      const sense = createDocumentSense()
      const tables = createPdfTableReader(sense.keepsHyphen)
      const running = createRunningLineFilter()
      const recognition = createPageRecognition(input)
      const notes = new Map<number, ExtractedBlock[]>()
      const finish = (pages: Iterable<BodyLines>) => {
        for (const page of pages) {
          for (const block of bodyBlocks(page, sense, tables)) batch.add(block)
          for (const block of notes.get(page.page) ?? []) batch.add({ ...block, page: page.page })
          notes.delete(page.page)
        }
      }
      let broken = 0
      let hasBlocks = false
      let hasPictures = false
      const withoutText: number[] = []
      if (document.hasDynamicForm) report.warn(dynamicForm)
      const attached = createAttachedFiles(document.attachments, bytes, input, readPart)
      for (let index = 0; index < pageCount; index += 1) {
        try {
          const page = document.readPage(index, (open) => readPage(open, index + 1, findsTables, recognition))
          const recognised = page.kept ?? (page.image && (await recognition.read(page.image, page.number)))
          hasPictures ||= page.hasPictures
          if (recognised && recognised.length > 0) page.lines = { page: page.number, lines: recognised, asides: [] }
          else {
            if (page.isWithoutText) withoutText.push(page.number)
            for (const loss of page.losses) report.warn({ ...loss, pages: [page.number] })
          }
          if (page.notes.length > 0) notes.set(page.number, page.notes)
          attached.add(page.files, page.number)
          sense.learn(page.lines.lines)
          finish(running.push(page.lines))
        } catch (error) {
          if (isAbort(error)) throw abortedError(error)
          if (error instanceof ExtractionError) throw error
          broken += 1
          report.warn({ code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [index + 1] })
        }
        if (index === pageCount - 1) finish(running.end())
        report.progress(index + 1, pageCount)
        // Hand on each page: positions, progress and the time limit work page by page.
        const blocks = batch.take()
        hasBlocks ||= blocks.length > 0
        if (blocks.length > 0) yield blocks
      }
      for await (const blocks of attached.read()) {
        hasBlocks = true
        yield blocks
      }
      if (hasBlocks && withoutText.length > 0) report.warn({ ...picturePages, pages: withoutText })
      if (!hasBlocks && claimsMorePages(bytes, pageCount))
        throw corruptFile('The pdf is damaged: it claims more pages than it holds, and those hold no text.')
      if (broken === pageCount) throw corruptFile('The pdf is damaged: none of its pages can be read.')
      if (!hasBlocks) throw noText(bytes, { broken, hasPictures, wasRecognised: recognition.isOn() })
    } finally {
      document.close()
    }
  }
}

const picturePages = {
  code: 'pages_without_text',
  message:
    'These pages show pictures with little or no text, probably scans. Their content was not read. Run text recognition (OCR) over the pdf and upload the result.',
} as const

const dynamicForm = {
  code: 'form_fields',
  message:
    'The pdf is a dynamic form (XFA) that only its own program can show; its fields were not read. Print it into a new pdf and upload that.',
} as const

/** Text that a scanner or an archive stamps on a page is shorter than this. */
const stampCharacters = 40
/** A picture that covers this share of a page is the page. */
const wholePageShare = 0.7
/** Pictures that cover less of a page together are ornaments. */
const minimumPictureShare = 0.15

const unreadPictures = {
  code: 'embedded_content_skipped',
  message:
    'These pages show large pictures next to their text, which were not read. Where they show text that matters, upload it too.',
} as const

/** True for a page with large pictures that have no text over them, as recognised pages and backgrounds have. */
function hasUnreadPictures({ characters, pictures }: PdfPage): boolean {
  let share = 0
  for (const box of pictures().boxes) {
    let letters = 0
    for (let at = 0; at < characters.length; at += 1) {
      const x = (characters.left(at) + characters.right(at)) / 2
      const y = (characters.bottom(at) + characters.top(at)) / 2
      if (x > box.left && x < box.right && y > box.bottom && y < box.top && characters.code(at) > 0x20) letters += 1
    }
    if (letters < stampCharacters) share += box.share
  }
  return share >= minimumPictureShare
}

/** True for a page that shows something, but not as text. */
function isWithoutText(page: PdfPage): boolean {
  let letters = 0
  for (let at = 0; at < page.characters.length; at += 1) {
    if (/[\p{L}\p{N}]/u.test(String.fromCodePoint(page.characters.code(at)))) letters += 1
    if (letters >= stampCharacters) return false
  }
  const { hasAny, largestShare } = page.pictures()
  return letters === 0 ? hasAny : largestShare >= wholePageShare
}

/** Why no page has text: a damaged file, pictures of text, or empty pages. */
function noText(
  bytes: Buffer,
  { broken, hasPictures, wasRecognised }: { broken: number; hasPictures: boolean; wasRecognised: boolean },
): ExtractionError {
  if (broken > 0) return corruptFile('The pdf is damaged: some pages cannot be read, and the others hold no text.')
  if (hasPictures && wasRecognised)
    return new ExtractionError(
      'no_text',
      'No text was found: the pages are pictures, and text recognition (OCR) found no letters in them.',
    )
  if (hasPictures)
    return new ExtractionError(
      'no_text',
      'No text was found: the pages are pictures, probably scans. Run text recognition (OCR) over the pdf and upload the result.',
    )
  if (!bytes.subarray(-endBytes).includes('%%EOF'))
    return corruptFile('The pdf is damaged or cut short: its pages hold nothing that can be read.')
  return new ExtractionError(
    'no_text',
    'No text was found: the pages of the pdf are empty. If they show text, run text recognition (OCR) over the pdf and upload the result.',
  )
}

/** The end mark of a pdf is in its last bytes. */
const endBytes = 2048

/** What a page holds, and its picture where that has to be read, or the lines that were read from it before. */
function readPage(
  page: PdfPage,
  number: number,
  findsTables: boolean,
  recognition: ReturnType<typeof createPageRecognition>,
) {
  const { lines, segments } = readLines(page, number, findsTables)
  const { losses, isUsable } = findLosses(page, segments)
  for (const segment of segments) dropCharacters(segment)
  if (page.hasHiddenText()) losses.push(hiddenText)
  const hasNone = isWithoutText(page)
  if (!hasNone && hasUnreadPictures(page)) losses.push(unreadPictures)
  const needsRecognition = recognition.isOn() && (hasNone || !isUsable)
  const kept = needsRecognition ? recognition.readKept(number) : undefined
  const image = needsRecognition && !kept ? page.render() : null
  const { notes, files } = page
  return {
    number,
    lines,
    notes,
    files,
    losses,
    isWithoutText: hasNone,
    hasPictures: page.pictures().hasAny,
    image,
    kept,
  }
}

/** Pages wait for those behind them, which needs their lines only; the letters of a page take ten times as much memory. */
function dropCharacters(segment: Segment) {
  segment.characters = PdfCharacters.none
  for (const cell of segment.table?.rows.flat(2) ?? []) cell.characters = PdfCharacters.none
  for (const part of segment.table?.segments ?? []) part.characters = PdfCharacters.none
}

function readLines(page: PdfPage, pageNumber: number, findsTables: boolean) {
  const { main, turns, turned } = readSegments(page)
  const whole = withInitials(main)
  const text = withoutLineNumbers(whole)
  const gutter = findGutter(text)
  const content = findsTables ? withTables(text, turnRules(page.rules(), turns), gutter) : text
  const lines = content === text ? readingOrder(text, gutter) : readingOrder(content)
  const asides = turned.map((segment) => {
    const { left, right, bottom, top, size } = segment
    return { segments: [segment], left, right, bottom, top, size }
  })
  const kept = text === whole ? null : new Set(text)
  const lineNumbers = kept === null ? [] : whole.filter((segment) => !kept.has(segment))
  return {
    lines: { page: pageNumber, lines, asides } as PageLines,
    /** What was read, line numbers that are left out on purpose included. */
    segments: [...lines.flatMap((line) => line.segments), ...turned, ...lineNumbers],
  }
}

function bodyBlocks(
  { page, lines, asides, firstSeen }: BodyLines,
  sense: PdfDocumentSense,
  tables: PdfTableReader,
): ExtractedBlock[] {
  const heads = firstSeen.flatMap((line) => pageBlocks([line], page, sense, tables))
  return [
    ...heads.map((block): ExtractedBlock => ({ kind: 'paragraph', text: block.text, page })),
    ...pageBlocks(lines, page, sense, tables),
    ...pageBlocks(asides, page, sense, tables),
  ]
}

/** PDFium gave up in the middle: its memory is not to be trusted afterwards, and the process has to be replaced. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError'
}

function abortedError(error: unknown): ExtractionError {
  const outOfMemory = error instanceof Error && /memory|OOM|allocat/i.test(error.message)
  return outOfMemory
    ? new ExtractionError(
        'out_of_memory',
        'The pdf needs more memory than one file may use. Split it into smaller files.',
        {
          cause: error,
        },
      )
    : corruptFile('The pdf is damaged in a way that stops its reader.', error)
}

/** True when the page tree's own count is far above the pages that are there: a tree that is cut off or forged. */
function claimsMorePages(bytes: Buffer, pageCount: number): boolean {
  const text = bytes.subarray(0, 1024 * 1024).toString('latin1')
  for (const [node] of text.matchAll(/<<[^<>]*\/Type\s*\/Pages[^<>]*>>/g)) {
    const count = /\/Count\s+(\d+)/.exec(node)?.[1]
    if (count && Number(count) > pageCount * 2 + 10) return true
  }
  return false
}
