import { takeUuencoded } from './uuencode.ts'
import { decodeHeader, decodeQuotedPrintable, type Headers, readHeaders, readParameters } from './headers.ts'

/** Deeper than any mail program nests, and most parts that are read. */
const maximumDepth = 20
const maximumParts = 1_000

/** A part of a message that has no parts in it. */
export interface MailPart {
  /** Such as `text/plain`. */
  type: string
  charset: string | undefined
  /** Empty where it has none. */
  name: string
  isAttachment: boolean
  /** By which html shows it within the text, as `cid:…`; empty where it has none or is an attachment on purpose. */
  contentId: string
  /** Of an html text: the part that states it without marks. */
  plainForm?: MailPart | undefined
  content(): Buffer
}

/** A file of a message that is not a part of it. */
export function filePart(name: string, content: Buffer, type = 'application/octet-stream'): MailPart {
  return { type, charset: undefined, name, isAttachment: true, contentId: '', content: () => content }
}

export interface Mail {
  headers: Headers
  /** The text of the message, in its richest form. */
  body: MailPart[]
  attachments: MailPart[]
  /** It has more or deeper parts than are read. */
  isCut: boolean
}

/** Finds the parts of a message. */
export function readMail(bytes: Buffer): Mail {
  const headers = readHeaders(bytes)
  const reading = { count: 0, isCut: false }
  const parts = readPart(bytes, headers, 0, reading)
  return {
    headers,
    body: parts.filter(({ isAttachment }) => !isAttachment),
    attachments: parts.filter(({ isAttachment }) => isAttachment),
    isCut: reading.isCut,
  }
}

function readPart(
  bytes: Buffer,
  headers: Headers,
  depth: number,
  reading: { count: number; isCut: boolean },
): MailPart[] {
  const { value, parameters } = readParameters(headers.get('content-type') || 'text/plain')
  const body = bytes.subarray(headers.bodyAt)
  const boundary = parameters.get('boundary')
  if (!value.startsWith('multipart/') || !boundary) return [toPart(value, parameters, headers, body)]
  if (depth === maximumDepth) {
    reading.isCut = true
    return []
  }
  const parts: MailPart[][] = []
  for (const inner of splitParts(body, boundary)) {
    reading.count += 1
    if (reading.count > maximumParts) {
      reading.isCut = true
      break
    }
    parts.push(readPart(inner, readHeaders(inner), depth + 1, reading))
  }
  return value === 'multipart/alternative' ? chooseAlternative(parts) : parts.flat()
}

/** The richest form of a text is its last one that can be read: html where there is some, with its plain form. */
function chooseAlternative(forms: MailPart[][]): MailPart[] {
  const textOf = (form: MailPart[] | undefined, type: string) =>
    form?.find((part) => part.type === type && !part.isAttachment)
  const html = forms.findLast((form) => textOf(form, 'text/html'))
  const plain = forms.findLast((form) => textOf(form, 'text/plain'))
  const chosen = html ?? plain ?? forms.at(-1) ?? []
  if (html && html !== plain) textOf(html, 'text/html')!.plainForm = textOf(plain, 'text/plain')
  return [...chosen, ...forms.flat().filter((part) => part.isAttachment && !chosen.includes(part))]
}

function toPart(type: string, parameters: Map<string, string>, headers: Headers, body: Buffer): MailPart {
  const disposition = readParameters(headers.get('content-disposition'))
  const name = decodeHeader(disposition.parameters.get('filename') ?? parameters.get('name') ?? '')
  const isText = type === 'text/plain' || type === 'text/html'
  return {
    type,
    charset: parameters.get('charset'),
    name,
    contentId: disposition.value === 'attachment' ? '' : headers.get('content-id').replace(/^\s*<|>\s*$/g, ''),
    isAttachment: disposition.value === 'attachment' || !isText || (name !== '' && disposition.value !== 'inline'),
    content() {
      switch (/^[\w-]*/.exec(headers.get('content-transfer-encoding').trim().toLowerCase())![0]) {
        case 'base64':
          return Buffer.from(body.toString('latin1'), 'base64')
        case 'quoted-printable':
          return decodeQuotedPrintable(body)
        case 'x-uuencode':
        case 'x-uue':
        case 'uuencode':
          return takeUuencoded(body).files[0]?.content ?? body
        default:
          return body
      }
    },
  }
}

/** What is between the lines with the boundary. */
function* splitParts(body: Buffer, boundary: string): Generator<Buffer> {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  let from = -1
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    const after = body.toString('latin1', at + mark.length, at + mark.length + 2)
    if ((at > 0 && body[at - 1] !== 0x0a) || !/^(?:--|[\r\n \t]|$)/.test(after)) continue
    if (from !== -1) yield body.subarray(from, at)
    if (after === '--') return
    const lineEnd = body.indexOf(0x0a, at + mark.length)
    if (lineEnd === -1) return
    from = lineEnd + 1
  }
  // A message that is cut short still has its last part.
  if (from !== -1 && from < body.length) yield body.subarray(from)
}
