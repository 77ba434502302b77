import { readFile } from 'node:fs/promises'
import type { ExtractedBlock } from '../../extraction.ts'
import { isMessage, maximumDepth, nestingOf, partInput, type PartReader, readAttached } from '../attached-files.ts'
import { cleanLine } from '../clean-text.ts'
import type { Extractor, ExtractorInput } from '../extractor.ts'
import { decodeHeader, type Headers } from './headers.ts'
import { isLargePicture } from '../image/picture-size.ts'
import { createOtherWords } from './other-words.ts'
import { filePart, type MailPart, readMail } from './parts.ts'
import { readTnef } from './tnef.ts'
import { takeUuencoded } from './uuencode.ts'

const shownHeaders = ['From', 'To', 'Cc', 'Date']
/** A picture within the text with fewer dots is a logo. */
const logoDots = 100_000
/** They prove who has sent the message, and hold no text. */
const signatureTypes = /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature)$/

/**
 * An e-mail message: its subject, the headers that a reader sees, its text, and each attachment of a supported type under its name.
 * `extractPart` reads the parts.
 */
export function createEmlExtractor(extractPart: PartReader): Extractor {
  return (input) => new MessageReader(extractPart).read(input)
}

class MessageReader {
  private readonly extractPart: PartReader

  constructor(extractPart: PartReader) {
    this.extractPart = extractPart
  }

  async *read(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
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
    const { depth } = nestingOf(input)
    for (const part of [...mail.attachments, ...files]) {
      if (signatureTypes.test(part.type) || (shown.has(part.contentId) && isLogo(part))) continue
      if (isWinmail(part)) yield* this.readWinmail(part, input, { depth, readsText: !hasText })
      else yield* this.readAttachment(part, input)
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
    yield* this.extractPart(part.type === 'text/html' ? 'html' : 'txt', partInput(input, content, part))
  }

  /** The files that Outlook has packed, and its text where the message has no other. */
  private async *readWinmail(
    part: MailPart,
    input: ExtractorInput,
    { depth, readsText }: { depth: number; readsText: boolean },
  ): AsyncGenerator<ExtractedBlock[]> {
    const packed = depth >= maximumDepth ? null : readTnef(part.content())
    if (!packed || packed.isCut) input.report.warn(winmail)
    if (!packed) return
    const { text, hasRichText, files } = packed
    if (readsText && text) yield* this.readBody(text, text.content(), input)
    else if (readsText && hasRichText) input.report.warn(winmailText)
    for (const file of files) {
      if (!isWinmail(file)) yield* this.readAttachment(file, input)
      else {
        yield [{ kind: 'heading', level: 2, text: cleanLine(file.name) || 'Message' }]
        yield* this.readWinmail(file, input, { depth: depth + 1, readsText: true })
      }
    }
  }

  private readAttachment(part: MailPart, input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
    const name = part.name === '' ? (isMessage(part.type) ? 'Message.eml' : part.type) : part.name
    return readAttached({ ...part, name }, input, this.extractPart)
  }
}

/** True for a picture within the text that is too small to show one. */
function isLogo(part: MailPart): boolean {
  return part.type.startsWith('image/') && !isLargePicture(part.content(), { dots: logoDots })
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
