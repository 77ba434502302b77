import { decodeBytes } from './headers.ts'
import { filePart, type MailPart } from './parts.ts'

/** What a winmail.dat holds. */
interface TnefContent {
  /** The text of the message; null where it has none in plain text or html. */
  text: MailPart | null
  /** It has a text in Outlook's own form (compressed RTF), which is not read. */
  hasRichText: boolean
  files: MailPart[]
  /** It ends within an attribute. */
  isCut: boolean
}

const signature = 0x223e9f78
const defaultCodepage = 1252
/** Outlook attaches hundreds at most. */
const maximumFiles = 1_000
const maximumProperties = 10_000

/** Ids of attributes: [MS-OXTNEF] 2.1.3.2. */
const attributeIds = {
  codepage: 0x00069007,
  body: 0x0002800c,
  messageProperties: 0x00069003,
  attachmentBegins: 0x00069002,
  attachmentTitle: 0x00018010,
  attachmentData: 0x0006800f,
  attachmentProperties: 0x00069005,
} as const

/** Ids of properties: [MS-OXPROPS] 2. */
const propertyIds = {
  body: 0x1000,
  richText: 0x1009,
  html: 0x1013,
  displayName: 0x3001,
  data: 0x3701,
  fileName: 0x3704,
  longFileName: 0x3707,
} as const

/** Bytes of the values of types with a fixed size: [MS-OXCDATA] 2.11.1. Shorter ones are padded to 4. */
const fixedSizes: Readonly<Record<number, number>> = {
  0x02: 4,
  0x03: 4,
  0x04: 4,
  0x05: 8,
  0x06: 8,
  0x07: 8,
  0x0a: 4,
  0x0b: 4,
  0x14: 8,
  0x40: 8,
  0x48: 16,
}
const objectType = 0x0d
const wideTextType = 0x1f
/** An object begins with the id of its interface. */
const interfaceBytes = 16

interface Attachment {
  title: string
  names: Map<number, string>
  content: Buffer
}

/** Reads the form in which Outlook sends text and files to other programs ([MS-OXTNEF]); null for bytes of another form. */
export function readTnef(bytes: Buffer): TnefContent | null {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== signature) return null
  const attachments: Attachment[] = []
  const texts = new Map<number, Buffer>()
  let hasRichText = false
  let codepage = defaultCodepage
  let isCut = false
  try {
    for (const { id, data } of attributesOf(bytes)) {
      const current = attachments.at(-1)
      if (id === attributeIds.codepage) codepage = data.readUInt32LE(0)
      else if (id === attributeIds.body) texts.set(propertyIds.body, Buffer.from(textOf(data, codepage)))
      else if (id === attributeIds.attachmentBegins) {
        if (attachments.length === maximumFiles) isCut = true
        else attachments.push({ title: '', names: new Map(), content: Buffer.alloc(0) })
      } else if (id === attributeIds.messageProperties) {
        for (const property of propertiesOf(data)) {
          if (property.id === propertyIds.richText) hasRichText = true
          else if (property.id === propertyIds.html) texts.set(property.id, property.value)
          else if (property.id === propertyIds.body)
            texts.set(property.id, Buffer.from(textOfProperty(property, codepage)))
        }
      } else if (!current) continue
      else if (id === attributeIds.attachmentTitle) current.title = textOf(data, codepage)
      else if (id === attributeIds.attachmentData) current.content = data
      else if (id === attributeIds.attachmentProperties) readAttachmentProperties(current, data, codepage)
    }
  } catch (error) {
    // The file ends within an attribute.
    if (!(error instanceof RangeError)) throw error
    isCut = true
  }
  return { text: textPart(texts), hasRichText, files: attachments.map(toFile), isCut }
}

/** Each attribute: its level, its id, its length, its data and a checksum. Throws RangeError where the bytes end within one. */
function* attributesOf(bytes: Buffer): Generator<{ id: number; data: Buffer }> {
  for (let at = 6; at < bytes.length;) {
    const id = bytes.readUInt32LE(at + 1)
    const from = at + 9
    const to = from + bytes.readUInt32LE(at + 5)
    if (to > bytes.length) throw new RangeError('an attribute is cut short')
    yield { id, data: bytes.subarray(from, to) }
    at = to + 2
  }
}

interface Property {
  id: number
  type: number
  /** The first of its values. */
  value: Buffer
}

/** [MS-OXTNEF] 2.1.3.4. */
function* propertiesOf(data: Buffer): Generator<Property> {
  const count = Math.min(data.readUInt32LE(0), maximumProperties)
  let at = 4
  const long = () => data.readUInt32LE((at += 4) - 4)
  for (let index = 0; index < count; index += 1) {
    const [type, id] = [data.readUInt16LE(at), data.readUInt16LE(at + 2)]
    at += 4
    // A property with a name has it before its values: a number, or a text.
    if (id >= 0x8000) {
      at += interfaceBytes
      const nameBytes = long() === 1 ? padded(long()) : 4
      at += nameBytes
    }
    const size = fixedSizes[type & 0xfff]
    const values = size === undefined || (type & 0x1000) !== 0 ? long() : 1
    for (let value = 0; value < values && at < data.length; value += 1) {
      const length = size ?? long()
      if (value === 0) yield { id, type, value: data.subarray(at, at + length) }
      at += padded(length)
    }
  }
}

function padded(length: number): number {
  return Math.ceil(length / 4) * 4
}

function readAttachmentProperties(attachment: Attachment, data: Buffer, codepage: number) {
  for (const property of propertiesOf(data)) {
    const { id, type, value } = property
    if (id === propertyIds.data) attachment.content = type === objectType ? value.subarray(interfaceBytes) : value
    else if (id === propertyIds.longFileName || id === propertyIds.fileName || id === propertyIds.displayName)
      attachment.names.set(id, textOfProperty(property, codepage))
  }
}

function textOfProperty({ type, value }: Property, codepage: number): string {
  return type === wideTextType ? value.toString('utf16le').replace(/\0.*$/s, '') : textOf(value, codepage)
}

function textOf(bytes: Buffer, codepage: number): string {
  const end = bytes.indexOf(0)
  return decodeBytes(end === -1 ? bytes : bytes.subarray(0, end), codepage === 65_001 ? 'utf-8' : `cp${codepage}`)
}

/** The text in html with its plain form, or in one of the two. */
function textPart(texts: ReadonlyMap<number, Buffer>): MailPart | null {
  const plain = texts.get(propertyIds.body)
  const html = texts.get(propertyIds.html)
  const plainForm = plain && { ...filePart('', plain, 'text/plain'), charset: 'utf-8' }
  return html ? { ...filePart('', html, 'text/html'), plainForm } : (plainForm ?? null)
}

function toFile({ title, names, content }: Attachment): MailPart {
  const name = names.get(propertyIds.longFileName) ?? names.get(propertyIds.fileName) ?? title
  const isMessage = content.length >= 4 && content.readUInt32LE(0) === signature
  if (!isMessage) return filePart(name, content)
  return filePart(names.get(propertyIds.displayName) ?? name, content, 'application/ms-tnef')
}
