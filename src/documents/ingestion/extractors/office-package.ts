import { open as openFile } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { type Entry, fromBufferPromise, fromRandomAccessReaderPromise, openPromise, type ZipFile } from 'yauzl'
import { ExtractionError } from '../extraction.ts'
import { FileReader, findZipSize } from './zip-end.ts'
import { corruptFile, type ExtractorInput, type OutputLimits } from './extractor.ts'
import { type OfficeKind, readWholeXml } from './office-xml.ts'

/** More parts than any office program writes; a central directory of millions is an attack on memory. */
const maximumParts = 20_000

/** The zip container of a docx, xlsx or pptx: parts by name, read as text streams, with bounds on their unpacked size. */
export interface OfficePackage {
  kind: OfficeKind
  has(name: string): boolean
  /** The part's text in pieces; an absent part is an empty one. */
  read(name: string): AsyncGenerator<string>
  /** A file of another format; null where it is absent, damaged, or has more than `maximumBytes`. The caller bounds the bytes of all. */
  readBytes(name: string, maximumBytes: number): Promise<Buffer | null>
  close(): void
}

/** Opens the container. Throws ExtractionError for encrypted, foreign, broken and oversized ones. */
export async function openOfficePackage(input: ExtractorInput, kind: OfficeKind): Promise<OfficePackage> {
  const { limits } = input
  await refuseOleContainer(input, kind)
  const zip = await openZipFile(input, kind)
  let entries: Map<string, Entry>
  try {
    entries = await listEntries(zip, kind)
  } catch (error) {
    zip.close()
    throw error
  }
  const unpacked = new Map<Entry, number>()
  let unpackedBytes = 0

  async function* readPieces(name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(partKey(name))
    if (!entry) return
    if (entry.isEncrypted()) throw encryptedFile(kind)
    // A part that is read twice counts once.
    const counted = unpacked.get(entry) ?? 0
    let bytesOfPart = 0
    if (unpackedBytes - counted + entry.uncompressedSize > limits.maximumUnpackedBytes) throw tooLarge(limits, kind)
    try {
      for await (const piece of await openEntry(zip, entry, kind)) {
        const bytes = piece as Buffer
        bytesOfPart += bytes.length
        if (bytesOfPart > counted) {
          unpackedBytes += Math.min(bytes.length, bytesOfPart - counted)
          unpacked.set(entry, bytesOfPart)
        }
        if (unpackedBytes > limits.maximumUnpackedBytes) throw tooLarge(limits, kind)
        yield bytes
      }
    } catch (error) {
      if (error instanceof ExtractionError) throw error
      throw corruptFile(`The ${kind.format} file is damaged: one of its parts cannot be unpacked.`, error)
    }
  }

  async function* read(name: string): AsyncGenerator<string> {
    let decoder: InstanceType<typeof TextDecoder> | undefined
    for await (const bytes of readPieces(name)) {
      decoder ??= new TextDecoder(xmlEncoding(bytes))
      yield decoder.decode(bytes, { stream: true })
    }
    const rest = decoder?.decode()
    if (rest) yield rest
  }

  return {
    kind,
    has: (name) => entries.has(partKey(name)),
    read,
    async readBytes(name, maximumBytes) {
      const entry = entries.get(partKey(name))
      if (!entry || entry.isEncrypted() || entry.uncompressedSize > maximumBytes) return null
      // Throws where the entry has more bytes than it states.
      const pieces = await openEntry(zip, entry, kind)
        .then((stream) => Array.fromAsync(stream))
        .catch(() => null)
      return pieces && Buffer.concat(pieces as Buffer[])
    },
    close: () => zip.close(),
  }
}

/** Part names are compared without their case and leading slash, as the packaging standard requires. */
function partKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()
}

/** Password protection, and the former formats such as .doc, put an OLE container in place of the zip. */
async function refuseOleContainer({ filePath, content }: ExtractorInput, kind: OfficeKind) {
  await using file = content ? openBytes(content) : await openFile(filePath, 'r')
  const head = Buffer.alloc(8)
  await file.read(head, 0, 8, 0)
  if (head.toString('hex') !== 'd0cf11e0a1b11ae1') return
  const name = Buffer.from('EncryptedPackage', 'utf16le')
  const bytes = Buffer.alloc(1024 * 1024)
  let offset = 0
  for (;;) {
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
    if (bytes.subarray(0, bytesRead).includes(name)) throw encryptedFile(kind)
    if (bytesRead < bytes.length) break
    // Windows overlap by the name's length, so that it is found across their border.
    offset += bytesRead - name.length
  }
  throw new ExtractionError(
    'unsupported_content',
    `The file is an old ${kind.program} ${kind.what} (${kind.formerExtension}) with the ending of a new one. Save it as .${kind.format} and upload it again.`,
  )
}

/** Reads bytes as a file is read. */
function openBytes(content: Buffer) {
  return {
    read(target: Buffer, _offset: number, length: number, position: number) {
      return Promise.resolve({ bytesRead: content.copy(target, 0, position, position + length) })
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

function encryptedFile({ encryptedCode, what, program }: OfficeKind): ExtractionError {
  return new ExtractionError(
    encryptedCode,
    `The ${what} is protected by a password. Remove the password in ${program} and upload it again.`,
  )
}

function tooLarge(limits: OutputLimits, { what }: OfficeKind): ExtractionError {
  return new ExtractionError(
    'too_large_when_unpacked',
    `The ${what} unpacks to more than ${Math.round(limits.maximumUnpackedBytes / 1024 / 1024)} MiB. Split it into smaller ${what}s.`,
  )
}

async function openZipFile({ filePath, content }: ExtractorInput, { format }: OfficeKind): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true }
  const damaged = (cause: unknown) => corruptFile(`The ${format} file is damaged or cut short.`, cause)
  try {
    return await (content ? fromBufferPromise(content, options) : openPromise(filePath, options))
  } catch (error) {
    const size = content ? null : await findZipSize(filePath)
    if (size === null) throw damaged(error)
    return await fromRandomAccessReaderPromise(new FileReader(filePath), size, options).catch((cause: unknown) => {
      throw damaged(cause)
    })
  }
}

function listEntries(zip: ZipFile, kind: OfficeKind): Promise<Map<string, Entry>> {
  if (zip.entryCount > maximumParts) throw tooManyParts(kind)
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>()
    zip.on('entry', (entry: Entry) => {
      entries.set(partKey(entry.fileName), entry)
      if (entries.size > maximumParts) reject(tooManyParts(kind))
      else zip.readEntry()
    })
    zip.on('end', () => resolve(entries))
    zip.on('error', (error) =>
      reject(corruptFile(`The ${kind.format} file is damaged: its list of parts cannot be read.`, error)),
    )
    zip.readEntry()
  })
}

function tooManyParts({ what }: OfficeKind): ExtractionError {
  return new ExtractionError(
    'too_complex',
    `The ${what} holds more than ${maximumParts} parts. Split it into smaller ${what}s.`,
  )
}

function openEntry(zip: ZipFile, entry: Entry, { format }: OfficeKind): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(corruptFile(`The ${format} file is damaged: one of its parts cannot be read.`, error))
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

/** A part that another part names. */
export interface Relationship {
  id: string
  /** The last word of its type. */
  type: string
  /** Inside the package; the address, if it is outside. */
  target: string
  isExternal: boolean
}

/** What a part names; the package itself has the empty name. External targets are never followed. */
export async function readRelationships(archive: OfficePackage, part: string): Promise<Relationship[]> {
  const folder = path.posix.dirname(part)
  const found: Relationship[] = []
  await readWholeXml(
    archive.read(part === '' ? '_rels/.rels' : `${folder}/_rels/${path.posix.basename(part)}.rels`),
    {
      open(element, attribute) {
        const target = attribute('Target')
        const type = attribute('Type')?.split('/').at(-1)
        if (element !== 'Relationship' || !type || !target) return
        const isExternal = attribute('TargetMode') === 'External'
        const place = path.posix.join(target.startsWith('/') || part === '' ? '' : folder, target).replace(/^\/+/, '')
        found.push({ id: attribute('Id') ?? '', type, target: isExternal ? target : place, isExternal })
      },
    },
    archive.kind,
  )
  return found
}

/** The addresses of links by the ids of their relationships. */
export function linksOf(relationships: readonly Relationship[]): Map<string, string> {
  const links = relationships.filter(({ type, isExternal }) => type === 'hyperlink' && isExternal)
  return new Map(links.map(({ id, target }) => [id, target]))
}

/** The main part, by its relationship or its usual name. */
export async function findDocumentPart(archive: OfficePackage): Promise<string> {
  const { kind } = archive
  const named = (await readRelationships(archive, '')).find(
    ({ type, isExternal }) => type === 'officeDocument' && !isExternal,
  )
  const part = named?.target ?? kind.usualPart
  if (archive.has(part) && !kind.foreignParts.test(part)) return part
  throw new ExtractionError(
    'unsupported_content',
    `The file is a zip archive but no ${kind.program} ${kind.what}. Upload a .${kind.format} that ${kind.program} or LibreOffice has saved.`,
  )
}
