import { readFile } from 'node:fs/promises'
import { detectFormat, detectionHeadBytes } from '../../detect-format.ts'
import { ExtractionError, type DocumentFormat, type ExtractedBlock } from '../../extraction.ts'
import { createBlockBatch, type Extractor, type ExtractorInput } from '../extractor.ts'
import { decodeHeader, type Headers } from './headers.ts'
import { type MailPart, readMail } from './parts.ts'
import { type EncodedFile, takeUuencoded } from './uuencode.ts'

/** Messages within messages that are read. */
const maximumMessages = 5
const shownHeaders = ['From', 'To', 'Cc', 'Date']

/**
 * An e-mail message: its subject, the headers that a reader sees, its text, and each attachment of a supported type under its name.
 * `extractPart` reads the parts.
 */
export function createEmlExtractor(
  extractPart: (format: DocumentFormat, input: ExtractorInput) => ReturnType<Extractor>,
) {
  async function* extractMessage(input: ExtractorInput, depth: number): AsyncGenerator<ExtractedBlock[]> {
    const mail = readMail(input.content ?? (await readFile(input.filePath)))
    yield headerBlocks(mail.headers)
    if (mail.isCut)
      input.report.warn({
        code: 'truncated',
        message: 'The message has too many or too deeply nested parts; some were not read.',
      })
    const files: MailPart[] = []
    for (const part of mail.body) {
      const content = part.content()
      const { text, files: encoded } =
        part.type === 'text/plain' ? takeUuencoded(content) : { text: content, files: [] }
      files.push(...encoded.map(partOfFile))
      yield* readBody(part, text, input)
    }
    const shown = shownPictures(mail.body)
    for (const part of [...mail.attachments, ...files]) {
      // Pictures within the text are mostly logos.
      if (part.type.startsWith('image/') && shown.has(part.contentId)) continue
      yield* readAttachment(part, input, depth)
    }
  }

  async function* readBody(part: MailPart, content: Buffer, input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
    if (content.length === 0) return
    yield* extractPart(part.type === 'text/html' ? 'html' : 'txt', inputOf(input, content, part))
  }

  async function* readAttachment(
    part: MailPart,
    input: ExtractorInput,
    depth: number,
  ): AsyncGenerator<ExtractedBlock[]> {
    const content = part.content()
    const name = part.name === '' ? (isMessage(part) ? 'Message.eml' : part.type) : part.name
    const detected = formatOf(part, content)
    if (content.length === 0 || (detected === 'eml' && depth >= maximumMessages) || !detected) {
      if (isWinmail(part)) input.report.warn(winmail)
      else reportSkipped(input, name)
      return
    }
    const batch = createBlockBatch()
    batch.add({ kind: 'heading', level: 2, text: name })
    yield batch.take()
    const partInput = inputOf(input, content, part)
    try {
      const blocks = detected === 'eml' ? extractMessage(partInput, depth + 1) : extractPart(detected, partInput)
      for await (const found of blocks) yield found.map(asPart)
    } catch (error) {
      // The message waits for a worker with more time.
      if (!(error instanceof ExtractionError) || error.code === 'processing_timeout') throw error
      input.report.warn({
        code: 'damaged_parts',
        message: `The attachment ${name} was not read to its end. ${error.message}`,
      })
    }
  }

  return (input: ExtractorInput) => extractMessage(input, 1)
}

/** The ids of the pictures that the html text of a message shows. */
function shownPictures(body: readonly MailPart[]): Set<string> {
  const shown = new Set<string>()
  for (const part of body) {
    if (part.type !== 'text/html') continue
    for (const [, id = ''] of part
      .content()
      .toString('latin1')
      .matchAll(/\bcid:([^"'\s<>)]{1,200})/gi))
      shown.add(id.replaceAll('%40', '@'))
  }
  return shown
}

function headerBlocks(headers: Headers): ExtractedBlock[] {
  const subject = decodeHeader(headers.get('subject'))
  const lines = shownHeaders.flatMap((name) => {
    const value = decodeHeader(headers.get(name.toLowerCase()))
    return value === '' ? [] : [`${name}: ${value}`]
  })
  return [
    ...(subject === '' ? [] : [{ kind: 'heading' as const, level: 1, text: subject }]),
    ...(lines.length === 0 ? [] : [{ kind: 'paragraph' as const, text: lines.join('\n') }]),
  ]
}

function inputOf(input: ExtractorInput, content: Buffer, { charset }: MailPart): ExtractorInput {
  // Pages and progress of a part are not those of the message.
  const report: ExtractorInput['report'] = {
    progress() {},
    warn: ({ pages: _pages, ...warning }) => input.report.warn(warning),
  }
  return { ...input, content, sizeBytes: content.length, declaredEncoding: charset, report }
}

/** RFC 2046 and, for addresses in all scripts, RFC 6532. */
function isMessage({ type }: MailPart): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}

function isWinmail({ type, name }: MailPart): boolean {
  return /^application\/(?:vnd\.)?ms-tnef$/.test(type) || name.toLowerCase() === 'winmail.dat'
}

const winmail = {
  code: 'embedded_content_skipped',
  message:
    'Outlook has packed attachments of the message into winmail.dat, which was not read. Ask the sender for a message in the format HTML, or upload the files themselves.',
} as const

function partOfFile({ name, content }: EncodedFile): MailPart {
  return {
    type: 'application/octet-stream',
    charset: undefined,
    name,
    isAttachment: true,
    contentId: '',
    content: () => content,
  }
}

function formatOf(part: MailPart, content: Buffer): DocumentFormat | null {
  if (isMessage(part)) return 'eml'
  const { type, name } = part
  const head = content.subarray(0, detectionHeadBytes)
  const detected = detectFormat({ fileName: name, head, declaredType: type }, 2)
  return detected.supported ? detected.format : null
}

/** A block of an attachment: below the heading with its name, and without a page, which would count as one of the message. */
function asPart({ page: _page, ...block }: ExtractedBlock): ExtractedBlock {
  return block.kind === 'heading' ? { ...block, level: Math.min(6, (block.level ?? 1) + 2) } : block
}

function reportSkipped({ report }: ExtractorInput, name: string) {
  report.warn({
    code: 'embedded_content_skipped',
    message: `The attachment ${name.slice(0, 100)} was not read: its type is not supported. If it matters, upload its text.`,
  })
}
