import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Extract, extract } from 'tar-stream'
import type { z } from 'zod'
import {
  type ArchiveKind,
  type ArchiveSink,
  filesPerSums,
  type ManifestCounts,
  sumLine,
  sumsFolder,
} from './archive.ts'

type Entry = Extract extends AsyncIterable<infer Item> ? Item : never

/** Reads a whole archive and checks every byte of it. Throws the errors of `kind`, also where its end is missing, and those of `sink`. */
export async function readArchive<Header, Manifest extends ManifestCounts>(
  source: Readable,
  kind: ArchiveKind<Header, Manifest>,
  sink: ArchiveSink<Header>,
): Promise<{ header: Header; manifest: Manifest }> {
  const reading = new ArchiveReading(kind, sink)
  const archive = boundHeaders(extract())
  source.on('error', (error) => archive.destroy(error))
  source.pipe(archive as unknown as NodeJS.WritableStream)
  try {
    for await (const entry of archive) await reading.take(entry)
    return reading.end()
  } catch (error) {
    if (
      error instanceof Error &&
      /^(?:Invalid|Unexpected end of data|Header exceeds|Stream was destroyed|Writable stream closed)/.test(
        error.message,
      )
    ) {
      throw kind.toError(`the archive is cut off or is not a tar archive (${error.message})`, { cause: error })
    }
    throw error
  } finally {
    source.destroy()
  }
}

/** Our longest names need some hundred bytes. */
const maximumHeaderBytes = 16 * 1024

/**
 * tar-stream parses an extended header of up to 4 MiB at once, which takes seconds, and copies a global one for each extended header
 * that follows. It has no option for a limit.
 */
function boundHeaders(archive: Extract): Extract {
  const reader = archive as unknown as { _header: { type: string }; _decodeLongHeader(bytes: Uint8Array): void }
  const decode = reader._decodeLongHeader.bind(reader)
  reader._decodeLongHeader = (bytes) => {
    if (reader._header.type === 'pax-global-header') throw new Error('Invalid global header')
    if (bytes.length > maximumHeaderBytes) throw new Error(`Header exceeds ${maximumHeaderBytes} bytes`)
    decode(bytes)
  }
  return archive
}

/** Sums of the most files with the longest names. */
const maximumSumsBytes = 1_100_000

class ArchiveReading<Header, Manifest extends ManifestCounts> {
  private readonly kind: ArchiveKind<Header, Manifest>
  private readonly sink: ArchiveSink<Header>
  private readonly allSums = createHash('sha256')
  private header: Header | undefined
  private manifest: Manifest | undefined
  /** Lines of the files since the last sums. */
  private lines: string[] = []
  private files = 0
  private bytes = 0

  constructor(kind: ArchiveKind<Header, Manifest>, sink: ArchiveSink<Header>) {
    this.kind = kind
    this.sink = sink
  }

  async take(entry: Entry): Promise<void> {
    const { name, type, size = 0 } = entry.header
    const { noun, headerName, manifestName, manifestSchema } = this.kind
    if (this.manifest) throw this.fail(`the archive has the entry ${shown(name)} behind its manifest`)
    if (name === headerName) return this.takeHeader(await this.readText(entry))
    if (!this.header) throw this.fail(`the archive does not begin with ${headerName}: it is not a ${noun} of Portico`)
    if (name === manifestName) {
      this.manifest = parse(this.kind, manifestSchema, await this.readText(entry), name)
      return
    }
    if (name.startsWith(`${sumsFolder}/`)) return this.compareSums(await this.readText(entry, maximumSumsBytes))
    await this.takeContent(name, type, size, entry)
  }

  end() {
    const { header, manifest } = this
    if (!header || !manifest)
      throw this.fail(`the archive has no manifest at its end: the ${this.kind.noun} did not end`)
    if (this.lines.length > 0) throw this.fail(`the archive has no SHA-256 of ${nameOf(this.lines[0]!)}`)
    const { files, bytes } = manifest
    const isEqual = files === this.files && bytes === this.bytes && manifest.sha256 === this.allSums.digest('hex')
    if (!isEqual) throw this.fail('the archive has other files than its manifest states')
    return { header, manifest }
  }

  private async takeHeader(text: string): Promise<void> {
    if (this.header) throw this.fail('the archive has two headers')
    if (this.kind.hashesHeader) this.allSums.update(text)
    this.header = parse(this.kind, this.kind.headerSchema, text, this.kind.headerName)
    await this.sink.header(this.header)
  }

  private async takeContent(name: string, type: string | null | undefined, size: number, entry: Entry): Promise<void> {
    const path = name.replace(/\/$/, '')
    if (!this.kind.isPath(path))
      throw this.fail(`the archive has an entry that no ${this.kind.noun} has: ${shown(name)}`)
    if (type === 'directory') {
      await this.sink.folder(path)
      entry.resume()
      return
    }
    if (type !== 'file') throw this.fail(`the archive has an entry that is neither file nor folder: ${name} (${type})`)
    if (this.lines.length >= filesPerSums) throw this.fail(`the archive has no SHA-256 of ${nameOf(this.lines[0]!)}`)
    const hash = createHash('sha256')
    await this.sink.file(path, size, hashed(entry, hash))
    this.files++
    this.bytes += size
    this.lines.push(sumLine(hash.digest('hex'), path))
  }

  private compareSums(text: string): void {
    if (this.lines.length === 0) throw this.fail('the archive has SHA-256 values of no file')
    const expected = text.split('\n').slice(0, -1)
    for (const [index, line] of this.lines.entries()) {
      if (`${expected[index]}\n` !== line)
        throw this.fail(`${nameOf(line)} differs from what was written: its SHA-256 is another one`)
    }
    if (expected.length !== this.lines.length)
      throw this.fail('the archive has the SHA-256 of a file that it does not have')
    this.lines = []
    this.allSums.update(text)
  }

  private async readText(entry: Entry, limit = this.kind.maximumTextBytes): Promise<string> {
    const { name, size = 0 } = entry.header
    if (size > limit) throw this.fail(`${shown(name)} has ${size} bytes; the limit is ${limit}`)
    return text(entry)
  }

  private fail(message: string): Error {
    return this.kind.toError(message)
  }
}

async function* hashed(entry: Entry, hash: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for await (const chunk of entry as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    yield chunk
  }
}

function parse<Schema extends z.ZodType>(
  { noun, toError }: Pick<ArchiveKind<never, never>, 'noun' | 'toError'>,
  schema: Schema,
  text: string,
  name: string,
): z.output<Schema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw toError(`${name} of the archive is not JSON`, { cause })
  }
  const { format } = (value ?? {}) as { format?: unknown }
  if (typeof format === 'number' && format > 1) {
    throw toError(`the ${noun} has format ${format}, which this version of Portico cannot read: use the newer version`)
  }
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw toError(`${name} of the archive is not valid: ${describeIssue(parsed.error)}`)
  return parsed.data
}

/** Names of entries may be anything. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200).toWellFormed())
}

function nameOf(line: string): string {
  return line.slice(66).trimEnd()
}

function describeIssue({ issues }: z.ZodError): string {
  const { path, message } = issues[0]!
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}
