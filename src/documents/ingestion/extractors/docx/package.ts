import { open as openFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { open as openZip, type Entry, type ZipFile } from 'yauzl'
import { ExtractionError } from '../../extraction.ts'
import { corruptFile, type OutputLimits } from '../extractor.ts'

/** More parts than any word processor writes; a central directory of millions is an attack on memory. */
const maximumParts = 20_000

/** The zip container of a docx: parts by name, read as text streams, with bounds on their unpacked size. */
export interface DocxPackage {
  has(name: string): boolean
  /** The part's text in pieces; an absent part is an empty one. */
  read(name: string): AsyncGenerator<string>
  close(): void
}

/** Opens the container. Throws ExtractionError for encrypted, foreign, broken and oversized ones. */
export async function openDocxPackage(filePath: string, limits: OutputLimits): Promise<DocxPackage> {
  await refuseOleContainer(filePath)
  const zip = await openZipFile(filePath)
  let entries: Map<string, Entry>
  try {
    entries = await listEntries(zip)
  } catch (error) {
    zip.close()
    throw error
  }
  let unpackedBytes = 0

  async function* read(name: string): AsyncGenerator<string> {
    const entry = entries.get(partKey(name))
    if (!entry) return
    if (entry.isEncrypted()) throw encryptedDocx()
    if (unpackedBytes + entry.uncompressedSize > limits.maximumUnpackedBytes) throw tooLarge(limits)
    let decoder: InstanceType<typeof TextDecoder> | undefined
    try {
      for await (const piece of await openEntry(zip, entry)) {
        const bytes = piece as Buffer
        unpackedBytes += bytes.length
        if (unpackedBytes > limits.maximumUnpackedBytes) throw tooLarge(limits)
        decoder ??= new TextDecoder(xmlEncoding(bytes))
        yield decoder.decode(bytes, { stream: true })
      }
    } catch (error) {
      if (error instanceof ExtractionError) throw error
      throw corruptFile('The docx file is damaged: one of its parts cannot be unpacked.', error)
    }
    const rest = decoder?.decode()
    if (rest) yield rest
  }

  return { has: (name) => entries.has(partKey(name)), read, close: () => zip.close() }
}

/** Part names are compared without their case and leading slash, as the packaging standard requires. */
function partKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()
}

/** Word's password protection, and the old .doc format, put an OLE container in place of the zip. */
async function refuseOleContainer(filePath: string) {
  await using file = await openFile(filePath, 'r')
  const head = Buffer.alloc(8)
  await file.read(head, 0, 8, 0)
  if (head.toString('hex') !== 'd0cf11e0a1b11ae1') return
  const name = Buffer.from('EncryptedPackage', 'utf16le')
  const bytes = Buffer.alloc(1024 * 1024)
  let offset = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    if (bytes.subarray(0, bytesRead).includes(name)) throw encryptedDocx()
    if (bytesRead < bytes.length) break
    // Windows overlap by the name's length, so that it is found across their border.
    offset += bytesRead - name.length
  }
  throw new ExtractionError(
    'unsupported_content',
    'The file is an old Word document (.doc) with the ending of a new one. Save it as .docx and upload it again.',
  )
}

function encryptedDocx(): ExtractionError {
  return new ExtractionError(
    'encrypted_docx',
    'The document is protected by a password. Remove the password in Word and upload it again.',
  )
}

function tooLarge(limits: OutputLimits): ExtractionError {
  return new ExtractionError(
    'too_large_when_unpacked',
    `The document unpacks to more than ${Math.round(limits.maximumUnpackedBytes / 1024 / 1024)} MiB. Split it into smaller documents.`,
  )
}

function openZipFile(filePath: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    openZip(filePath, { lazyEntries: true, autoClose: false, validateEntrySizes: true }, (error, zip) => {
      if (error) reject(corruptFile('The docx file is damaged or cut short.', error))
      else resolve(zip)
    })
  })
}

function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > maximumParts) throw tooManyParts()
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>()
    zip.on('entry', (entry: Entry) => {
      entries.set(partKey(entry.fileName), entry)
      if (entries.size > maximumParts) reject(tooManyParts())
      else zip.readEntry()
    })
    zip.on('end', () => resolve(entries))
    zip.on('error', (error) =>
      reject(corruptFile('The docx file is damaged: its list of parts cannot be read.', error)),
    )
    zip.readEntry()
  })
}

function tooManyParts(): ExtractionError {
  return new ExtractionError(
    'too_complex',
    `The document holds more than ${maximumParts} parts. Split it into smaller documents.`,
  )
}

function openEntry(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(corruptFile('The docx file is damaged: one of its parts cannot be read.', error))
      else resolve(stream)
    })
  })
}

/** XML parts are UTF-8 or UTF-16; the first bytes show which. */
function xmlEncoding(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le'
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be'
  return 'utf-8'
}
