import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type Extract, extract } from 'tar-stream'
import type { z } from 'zod'
import {
  type BackupHeader,
  backupHeaderName,
  backupHeaderSchema,
  type BackupManifest,
  backupManifestName,
  backupManifestSchema,
} from '../contract/backup.ts'
import { filesPerSums, isRestorablePath, sumLine, sumsFolder } from './layout.ts'

/** The archive is not a complete backup that this version can restore; the message says why. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BackupError'
  }
}

type Entry = Extract extends AsyncIterable<infer Item> ? Item : never

/** Longest text of a header, of sums and of a manifest. */
const maximumTextBytes = 4 * 1024 * 1024

/** Receives what is in the archive. Names were checked: they are relative, without `..`, and of the layout of a data folder. */
export interface ArchiveSink {
  /** Called first. Throws where the backup cannot be used. */
  header(header: BackupHeader): Promise<void> | void
  folder(name: string): Promise<void>
  file(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>
}

/** Reads a whole archive and checks every byte of it. Throws BackupError, also where its end is missing. */
export async function readArchive(
  source: Readable,
  sink: ArchiveSink,
): Promise<{ header: BackupHeader; manifest: BackupManifest }> {
  const reading = new ArchiveReading(sink)
  const archive = extract()
  source.on('error', (error) => archive.destroy(error))
  source.pipe(archive as unknown as NodeJS.WritableStream)
  try {
    for await (const entry of archive) await reading.take(entry)
    return reading.end()
  } catch (error) {
    if (
      error instanceof Error &&
      /^(?:Invalid|Unexpected end of data|Header exceeds|Stream was destroyed)/.test(error.message)
    ) {
      throw new BackupError(`the archive is cut off or is not a tar archive (${error.message})`, { cause: error })
    }
    throw error
  } finally {
    source.destroy()
  }
}

class ArchiveReading {
  private readonly sink: ArchiveSink
  private readonly allSums = createHash('sha256')
  private header: BackupHeader | undefined
  private manifest: BackupManifest | undefined
  /** Lines of the files since the last sums. */
  private lines: string[] = []
  private files = 0
  private bytes = 0

  constructor(sink: ArchiveSink) {
    this.sink = sink
  }

  async take(entry: Entry): Promise<void> {
    const { name, type, size = 0 } = entry.header
    if (this.manifest) throw new BackupError(`the archive has the entry ${name} behind its manifest`)
    if (name === backupHeaderName) return this.takeHeader(await readText(entry))
    if (!this.header)
      throw new BackupError(`the archive does not begin with ${backupHeaderName}: it is not a backup of Portico`)
    if (name === backupManifestName) {
      this.manifest = parse(backupManifestSchema, await readText(entry), name)
      return
    }
    if (name.startsWith(`${sumsFolder}/`)) return this.compareSums(await readText(entry))
    await this.takeContent(name, type, size, entry)
  }

  end() {
    const { header, manifest } = this
    if (!header || !manifest) throw new BackupError('the archive has no manifest at its end: the backup did not end')
    if (this.lines.length > 0) throw new BackupError(`the archive has no SHA-256 of ${nameOf(this.lines[0]!)}`)
    const { files, bytes } = manifest
    const isEqual = files === this.files && bytes === this.bytes && manifest.sha256 === this.allSums.digest('hex')
    if (!isEqual) throw new BackupError('the archive has other files than its manifest states')
    return { header, manifest }
  }

  private async takeHeader(text: string): Promise<void> {
    if (this.header) throw new BackupError('the archive has two headers')
    this.header = parse(backupHeaderSchema, text, backupHeaderName)
    await this.sink.header(this.header)
  }

  private async takeContent(name: string, type: string | null | undefined, size: number, entry: Entry): Promise<void> {
    const path = name.replace(/\/$/, '')
    if (!isRestorablePath(path))
      throw new BackupError(`the archive has an entry that no backup has: ${JSON.stringify(name)}`)
    if (type === 'directory') {
      await this.sink.folder(path)
      entry.resume()
      return
    }
    if (type !== 'file')
      throw new BackupError(`the archive has an entry that is neither file nor folder: ${name} (${type})`)
    if (this.lines.length >= filesPerSums)
      throw new BackupError(`the archive has no SHA-256 of ${nameOf(this.lines[0]!)}`)
    const hash = createHash('sha256')
    await this.sink.file(path, size, hashed(entry, hash))
    this.files++
    this.bytes += size
    this.lines.push(sumLine(hash.digest('hex'), path))
  }

  private compareSums(text: string): void {
    const expected = text.split('\n').slice(0, -1)
    for (const [index, line] of this.lines.entries()) {
      if (`${expected[index]}\n` !== line)
        throw new BackupError(`${nameOf(line)} differs from the file that was backed up`)
    }
    if (expected.length !== this.lines.length)
      throw new BackupError('the archive has the SHA-256 of a file that it does not have')
    this.lines = []
    this.allSums.update(text)
  }
}

async function* hashed(entry: Entry, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    yield chunk
  }
}

async function readText(entry: Entry): Promise<string> {
  const { name, size = 0 } = entry.header
  if (size > maximumTextBytes) throw new BackupError(`${name} has ${size} bytes; the limit is ${maximumTextBytes}`)
  const chunks: Uint8Array[] = []
  for await (const chunk of entry as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, name: string): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new BackupError(`${name} of the archive is not JSON`, { cause })
  }
  const { format } = (value ?? {}) as { format?: unknown }
  if (typeof format === 'number' && format > 1) {
    throw new BackupError(
      `the backup has format ${format}, which this version of Portico cannot read: use the newer version`,
    )
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw new BackupError(`${name} of the archive is not valid: ${parsed.error.issues[0]!.message}`)
  return parsed.data
}

function nameOf(line: string): string {
  return line.slice(66).trimEnd()
}
