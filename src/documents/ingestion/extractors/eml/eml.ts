import { readFile } from 'node:fs/promises'
import { detectFormat, detectionHeadBytes } from '../../detect-format.ts'
import { ExtractionError, type DocumentFormat, type ExtractedBlock, type ExtractionWarning } from '../../extraction.ts'
import { cleanLine } from '../clean-text.ts'
import { createBlockBatch, type Extractor, type ExtractorInput } from '../extractor.ts'
import { decodeHeader, type Headers } from './headers.ts'
import { readImagePages } from '../image/image-pages.ts'
import { createOtherWords } from './other-words.ts'
import { filePart, type MailPart, readMail } from './parts.ts'
import { readTnef } from './tnef.ts'
import { takeUuencoded } from './uuencode.ts'

/** Messages within messages that are read. */
const maximumMessages = 5
const shownHeaders = ['From', 'To', 'Cc', 'Date']
/** A picture within the text with fewer dots, or bytes where its size is not known, is a logo. */
const logoDots = 100_000
const logoBytes = 20 * 1024
/** Longest part of a name in a warning. */
const maximumShownName = 100
/** The same of all names in one warning. */
const maximumShownNames = 360
/** They prove who has sent the message, and hold no text. */
const signatureTypes = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature)$/

/** Reads a part of a message as a file of its format. */
type PartReader = (format: DocumentFormat, input: ExtractorInput) => ReturnType<Extractor>

/**
 * An e-mail message: its subject, the headers that a reader sees, its text, and each attachment of a supported type under its name.
 * `extractPart` reads the parts.
 */
export function createEmlExtractor(extractPart: PartReader): Extractor {
  return async function* extractEml(input) {
    const reader = new MessageReader(extractPart)
    yield* reader.read(input, 1)
    for (const warning of skippedWarnings(reader.skipped)) input.report.warn(warning)
  }
}

class MessageReader {
  /** Names of attachments of types that are not supported. */
  readonly skipped: string[] = []
  private readonly extractPart: PartReader

  constructor(extractPart: PartReader) {
    this.extractPart = extractPart
  }

  /** `depth`: 1 for the message itself. */
  async *read(input: ExtractorInput, depth: number): AsyncGenerator<ExtractedBlock[]> {
    const mail = readMail(input.content ?? (await readFile(input.filePath)))
    yield headerBlocks(mail.headers)
    if (mail.isCut)
      input.report.warn({
        code: 'truncated',
        message: 'The message has too many or too deeply nested parts; some were not read.',
      })
    const files: MailPart[] = []
    let hasText = false
    for (const part of mail.body) {
      const content = part.content()
      const { text, files: encoded } =
        part.type === 'text/plain' ? takeUuencoded(content) : { text: content, files: [] }
      files.push(...encoded.map(({ name, content: bytes }) => filePart(name, bytes)))
      for await (const blocks of this.readBody(part, text, input)) {
        hasText ||= blocks.length > 0
        yield blocks
      }
    }
    const shown = shownPictures(mail.body)
    for (const part of [...mail.attachments, ...files]) {
      if (signatureTypes.test(part.type) || (shown.has(part.contentId) && isLogo(part))) continue
      if (isWinmail(part)) yield* this.readWinmail(part, input, { depth, readsText: !hasText })
      else yield* this.readAttachment(part, input, depth)
    }
  }

  /** A text, and the paragraphs that only its plain form has. */
  private async *readBody(part: MailPart, content: Buffer, input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
    const { plainForm } = part
    const words = createOtherWords()
    for await (const blocks of this.readText(part, content, input)) {
      if (plainForm) for (const { text } of blocks) words.add(text)
      yield blocks
    }
    if (!plainForm) return
    for await (const blocks of this.readText(plainForm, plainForm.content(), input))
      yield blocks.filter(({ text }) => words.hasOthers(text))
  }

  private async *readText(part: MailPart, content: Buffer, input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
    if (content.length === 0) return
    yield* this.extractPart(part.type === 'text/html' ? 'html' : 'txt', inputOf(input, content, part))
  }

  /** The files that Outlook has packed, and its text where the message has no other. */
  private async *readWinmail(
    part: MailPart,
    input: ExtractorInput,
    { depth, readsText }: { depth: number; readsText: boolean },
  ): AsyncGenerator<ExtractedBlock[]> {
    const packed = depth > maximumMessages ? null : readTnef(part.content())
    if (!packed || packed.isCut) input.report.warn(winmail)
    if (!packed) return
    const { text, hasRichText, files } = packed
    if (readsText && text) yield* this.readBody(text, text.content(), input)
    else if (readsText && hasRichText) input.report.warn(winmailText)
    for (const file of files) {
      if (!isWinmail(file)) yield* this.readAttachment(file, input, depth)
      else {
        yield [{ kind: 'heading', level: 2, text: cleanLine(file.name) || 'Message' }]
        yield* this.readWinmail(file, input, { depth: depth + 1, readsText: true })
      }
    }
  }

  private async *readAttachment(
    part: MailPart,
    input: ExtractorInput,
    depth: number,
  ): AsyncGenerator<ExtractedBlock[]> {
    const content = part.content()
    const name = part.name === '' ? (isMessage(part) ? 'Message.eml' : part.type) : part.name
    const detected = formatOf(part, content)
    if (content.length === 0 || (detected === 'eml' && depth >= maximumMessages) || !detected) {
      this.skipped.push(name)
      return
    }
    const batch = createBlockBatch()
    batch.add({ kind: 'heading', level: 2, text: name })
    yield batch.take()
    const partInput = inputOf(input, content, part, name)
    try {
      const blocks = detected === 'eml' ? this.read(partInput, depth + 1) : this.extractPart(detected, partInput)
      for await (const found of blocks) yield found.map(asPart)
    } catch (error) {
      // The message waits for a worker with more time.
      if (!(error instanceof ExtractionError) || error.code === 'processing_timeout') throw error
      input.report.warn({
        code: 'damaged_parts',
        message: `The attachment ${name.slice(0, maximumShownName)} was not read to its end. ${error.message}`,
      })
    }
  }
}

/** True for a picture within the text that is too small to show one. */
function isLogo(part: MailPart): boolean {
  if (!part.type.startsWith('image/')) return false
  const content = part.content()
  const [picture] = readImagePages(content)
  return picture ? picture.width * picture.height < logoDots : content.length < logoBytes
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

/** `attachment`: its name, which its warnings state; absent for a text of the message. */
function inputOf(input: ExtractorInput, content: Buffer, { charset }: MailPart, attachment?: string): ExtractorInput {
  const prefix = attachment === undefined ? '' : `Attachment ${attachment.slice(0, maximumShownName)}: `
  // Pages and progress of a part are not those of the message.
  const report: ExtractorInput['report'] = {
    progress() {},
    warn: ({ code, message }) => input.report.warn({ code, message: prefix + message }),
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
    'Outlook has packed attachments of the message into winmail.dat, which could not be read to its end. Ask the sender for a message in the format HTML, or upload the files themselves.',
} as const

const winmailText = {
  code: 'embedded_content_skipped',
  message:
    'Outlook has packed the text of the message into winmail.dat as Rich Text, which was not read. Ask the sender for a message in the format HTML, or upload its text.',
} as const

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

/** Warnings that name attachments of other types, several in each: a document has only so many warnings. */
function* skippedWarnings(names: readonly string[]): Generator<ExtractionWarning> {
  let shown: string[] = []
  const warning = (): ExtractionWarning => ({
    code: 'embedded_content_skipped',
    message: `Attachments were not read, because their types are not supported: ${shown.join(', ')}. If they matter, upload their text.`,
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
