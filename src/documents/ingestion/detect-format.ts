import path from 'node:path'
import { unmarkedUnicode } from './extractors/encoding/unmarked-unicode.ts'
import { type DocumentsVersion, documentTypes } from '../../contract/documents.ts'
import type { DocumentFormat } from './extraction.ts'

/** How much of a file's beginning `detectFormat` wants to see; less is enough where the file is shorter. */
export const detectionHeadBytes = 64 * 1024

interface FileType {
  format: DocumentFormat
  extension: string
  mimeType: string
}

const typesOf = (version: DocumentsVersion): readonly FileType[] =>
  documentTypes.filter(({ since }) => since <= version)

export type FormatDetection =
  | { supported: true; format: DocumentFormat; mimeType: string }
  /** A sentence for the client: the format of the file, and the accepted ones. */
  | { supported: false; reason: string }

/**
 * What a file is, by its name's extension and its content together. Not supported (a 415) is a name with another extension, and
 * a content that clearly does not match its name. What has the right kind of content but is broken, encrypted or
 * empty is accepted: reading it gives the reason, which is stored with the document. The declared type counts only for a
 * name without any extension, and only where the content agrees.
 */
export function detectFormat(
  file: { fileName: string; head: Uint8Array; declaredType?: string },
  version: DocumentsVersion = 1,
): FormatDetection {
  const supportedTypes = typesOf(version)
  const list = supportedTypes.map(({ extension }) => extension).join(', ')
  const extension = path.extname(file.fileName.trim()).toLowerCase()
  const named =
    supportedTypes.find((type) => type.extension === extension) ??
    (extension === '' ? byContent(supportedTypes, file.head, file.declaredType) : undefined)
  if (!named)
    return {
      supported: false,
      reason: `${extension === '' ? 'A file without a known type' : `A ${extension} file`} is not supported. Upload one of ${list}.`,
    }
  const content = contradiction(named.format, file.head)
  if (content)
    return {
      supported: false,
      reason: `The file is named ${named.extension} but its content is ${content}. Upload one of ${list}.`,
    }
  return { supported: true, format: named.format, mimeType: named.mimeType }
}

function byContent(supportedTypes: readonly FileType[], head: Uint8Array, declaredType: string | undefined) {
  const declared = declaredType?.split(';')[0]?.trim().toLowerCase()
  const signature = signatureOf(head)
  if (signature === 'a pdf') return supportedTypes.find(({ format }) => format === 'pdf')
  if (signature === 'a zip archive') {
    const kind = zipKind(head)
    return supportedTypes.find(({ format }) => kind === packageNames[format])
  }
  return signature === null
    ? supportedTypes.find(({ mimeType }) => mimeType === declared && mimeType.startsWith('text/'))
    : undefined
}

/** The actual type of content that cannot be of the named format; null where it can. An empty file can be of any format. */
function contradiction(format: DocumentFormat, head: Uint8Array): string | null {
  if (head.length === 0) return null
  const signature = signatureOf(head)
  switch (format) {
    case 'pdf':
      return signature === null || signature === 'a pdf' ? null : signature
    case 'image':
      return signature === null || readImages.has(signature) ? null : signature
    case 'docx':
    case 'xlsx':
    case 'pptx':
      if (signature === 'a zip archive') return zipContradiction(format, head)
      // An OLE container under this name is an encrypted file, or one of the format before: reading it shows which.
      return signature === null || signature === 'an Office file' ? null : signature
    default:
      if (isBinary(head)) return signature ?? 'binary data'
      return signature !== null && !readsAsText.has(signature) ? signature : null
  }
}

const signatures: readonly { name: string; hex: string; offset?: number }[] = [
  { name: 'a zip archive', hex: '504b0304' },
  { name: 'a zip archive', hex: '504b0506' },
  { name: 'an Office file', hex: 'd0cf11e0a1b11ae1' },
  { name: 'a PNG image', hex: '89504e470d0a1a0a' },
  { name: 'a JPEG image', hex: 'ffd8ff' },
  { name: 'a GIF image', hex: '47494638' },
  { name: 'a TIFF image', hex: '49492a00' },
  { name: 'a TIFF image', hex: '4d4d002a' },
  { name: 'a WebP image or a WAV or AVI file', hex: '52494646' },
  { name: 'an audio file', hex: '494433' },
  { name: 'an audio file', hex: '4f676753' },
  { name: 'an audio file', hex: '664c6143' },
  { name: 'a video', hex: '66747970', offset: 4 },
  { name: 'a video', hex: '1a45dfa3' },
  { name: 'a gzip archive', hex: '1f8b08' },
  { name: 'a bzip2 archive', hex: '425a6839' },
  { name: 'an xz archive', hex: 'fd377a585a00' },
  { name: 'a zstd archive', hex: '28b52ffd' },
  { name: 'a 7z archive', hex: '377abcaf271c' },
  { name: 'a RAR archive', hex: '526172211a07' },
  { name: 'a tar archive', hex: '7573746172', offset: 257 },
  { name: 'a program', hex: '7f454c46' },
  { name: 'a program', hex: 'cffaedfe' },
  { name: 'a program', hex: 'cafebabe' },
  { name: 'a program', hex: '0061736d' },
  { name: 'a PostScript file', hex: '252150532d41646f6265' },
  { name: 'an RTF document', hex: '7b5c72746631' },
  { name: 'a SQLite database', hex: '53514c69746520666f726d617420' },
]

const readImages = new Set(['a PNG image', 'a JPEG image', 'a TIFF image', 'a WebP image or a WAV or AVI file'])

/** Types whose mark is made of letters, with which a text may begin as well; there the rest of the content decides. */
const readsAsText = new Set(
  signatures
    .filter(({ hex }) => Buffer.from(hex, 'hex').every((byte) => byte >= 0x20 && byte < 0x7f))
    .map(({ name }) => name)
    .filter((name) => name !== 'an RTF document' && name !== 'a PostScript file'),
)

function signatureOf(head: Uint8Array): string | null {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  // Readers of pdf take its mark anywhere in the first kilobyte, but bytes in front of it must not be another type's mark.
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') return 'a pdf'
  for (const { name, hex, offset = 0 } of signatures)
    if (
      bytes
        .subarray(offset, offset + Math.ceil(hex.length / 2))
        .toString('hex')
        .startsWith(hex)
    )
      return name
  if (bytes.subarray(0, 2).toString('latin1') === 'MZ' && isBinary(head)) return 'a program'
  return bytes.subarray(0, 1024).includes('%PDF-') && isBinary(head) ? 'a pdf' : null
}

/** What a zip of an office format is called. */
const packageNames: Partial<Record<DocumentFormat, string>> = {
  docx: 'a Word document',
  xlsx: 'an Excel workbook',
  pptx: 'a PowerPoint presentation',
}

function zipContradiction(format: DocumentFormat, head: Uint8Array): string | null {
  const kind = zipKind(head)
  if (kind === packageNames[format] || kind === 'unknown') return null
  return kind === 'other' ? `a zip archive without ${packageNames[format]}` : kind
}

/**
 * What a zip holds, by the names of the entries that the head shows. Office packages begin with parts that only they have; where the
 * head shows only those and none of `word/`, reading the file decides.
 */
function zipKind(head: Uint8Array): string {
  const names = localEntryNames(head)
  if (names.some((name) => name.startsWith('word/'))) return 'a Word document'
  if (names.some((name) => name.startsWith('xl/'))) return 'an Excel workbook'
  if (names.some((name) => name.startsWith('ppt/'))) return 'a PowerPoint presentation'
  if (names[0] === 'mimetype') return 'an OpenDocument or e-book file'
  const isPackage = names.some((name) => /^(\[content_types\]\.xml|_rels\/|docprops\/|customxml\/)/.test(name))
  return isPackage || names.length === 0 ? 'unknown' : 'other'
}

function localEntryNames(head: Uint8Array): string[] {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  const names: string[] = []
  for (
    let at = bytes.indexOf('PK\u0003\u0004', 0, 'latin1');
    at !== -1;
    at = bytes.indexOf('PK\u0003\u0004', at + 4, 'latin1')
  ) {
    if (at + 30 > bytes.length) break
    const length = bytes.readUInt16LE(at + 26)
    const name = bytes.subarray(at + 30, at + 30 + length).toString('latin1')
    names.push(name.toLowerCase().replaceAll('\\', '/').replace(/^\/+/, ''))
  }
  return names
}

/** Text has few control characters; UTF-16 and UTF-32 are recognised by their mark or by the place of their NULs. */
function isBinary(head: Uint8Array): boolean {
  if (head.length >= 2) {
    const mark = (head[0]! << 8) | head[1]!
    if (mark === 0xfffe || mark === 0xfeff) return false
    if (head.length >= 4 && mark === 0 && head[2] === 0xfe && head[3] === 0xff) return false
  }
  if (unmarkedUnicode(head)) return false
  let controls = 0
  for (const byte of head) {
    // Backspace to the shifts of ISO-2022-KR, and escape (ISO-2022 and terminal logs), occur in text.
    if ((byte < 0x20 && !(byte >= 0x08 && byte <= 0x0f) && byte !== 0x1b) || byte === 0x7f) controls += 1
  }
  return controls > Math.max(1, head.length * 0.02)
}
