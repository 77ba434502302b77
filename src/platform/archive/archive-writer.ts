import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { read } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { promisify } from 'node:util'
import { pack as createPack, type Pack } from 'tar-stream'
import { raceSignal } from '../kernel/index.ts'
import { filesPerSums, type ManifestCounts, sumLine, sumsFolder } from './archive.ts'

/** Each read, and what is in memory of a file. */
const chunkBytes = 256 * 1024
const readAt = promisify(read)
const zeros = Buffer.alloc(chunkBytes)

/** Writes the entries of an archive one after the other, as fast as its reader takes them. */
export class ArchiveWriter {
  private readonly pack: Pack = createPack()
  private readonly signal: AbortSignal
  private readonly manifestName: string
  private readonly allSums = createHash('sha256')
  private sums: string[] = []
  private sumsWritten = 0
  private files = 0
  private bytes = 0

  constructor(
    { headerName, manifestName, hashesHeader }: { headerName: string; manifestName: string; hashesHeader: boolean },
    header: object,
    signal: AbortSignal,
  ) {
    this.signal = signal
    this.manifestName = manifestName
    this.pack.on('error', () => {})
    const text = json(header)
    if (hashesHeader) this.allSums.update(text)
    this.writeSmall(headerName, text)
  }

  /** The archive, for one reader. */
  stream(): Readable {
    return Readable.from(this.pack, { objectMode: false })
  }

  destroy(error: Error): void {
    this.pack.destroy(error)
  }

  addFolder(name: string): void {
    this.signal.throwIfAborted()
    this.pack.entry({ name: `${name}/`, type: 'directory', mode: 0o700 })
  }

  async addBytes(name: string, bytes: Uint8Array): Promise<void> {
    await this.addStream(name, bytes.length, [bytes])
  }

  /** A file as long as it is now. One that shrinks is filled with zeros. False: it does not exist (any more). */
  async addFile(name: string, file: string): Promise<boolean> {
    const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!handle) return false
    try {
      await this.addDescriptor(name, handle.fd, (await handle.stat()).size)
      return true
    } finally {
      await handle.close()
    }
  }

  /** The first `bytes` of an open file. */
  addDescriptor(name: string, descriptor: number, bytes: number): Promise<void> {
    return this.addStream(name, bytes, readExactly(descriptor, bytes))
  }

  /** The sums of the last files and the manifest, without which the archive is not complete. */
  async finish<Facts extends object>(
    facts: Facts,
  ): Promise<{ format: 1 } & Facts & { finishedAt: string } & ManifestCounts> {
    await this.writeSums()
    const manifest = {
      format: 1 as const,
      ...facts,
      finishedAt: new Date().toISOString(),
      files: this.files,
      bytes: this.bytes,
      sha256: this.allSums.digest('hex'),
    }
    this.writeSmall(this.manifestName, json(manifest))
    this.pack.finalize()
    return manifest
  }

  /** A file of exactly `size` bytes. Throws if `chunks` have more or fewer. */
  async addStream(name: string, size: number, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    this.signal.throwIfAborted()
    const hash = createHash('sha256')
    const written = Promise.withResolvers<void>()
    const done = (error?: Error | null) => {
      if (error) written.reject(error)
      else written.resolve()
    }
    // Its own types lack `end` without an argument.
    const entry = this.pack.entry({ name, size, mode: 0o600 }, done) as unknown as Writable
    written.promise.catch(() => {})
    let length = 0
    for await (const chunk of chunks) {
      this.signal.throwIfAborted()
      length += chunk.length
      if (length > size) break
      hash.update(chunk)
      if (!entry.write(chunk)) await once(entry, 'drain', { signal: this.signal })
    }
    if (length !== size) throw new Error(`${name} has not the ${size} bytes that were announced`)
    entry.end()
    await raceSignal(written.promise, this.signal)
    this.files++
    this.bytes += size
    this.sums.push(sumLine(hash.digest('hex'), name))
    if (this.sums.length >= filesPerSums) await this.writeSums()
  }

  private async writeSums(): Promise<void> {
    if (this.sums.length === 0) return
    const text = this.sums.join('')
    this.sums = []
    this.allSums.update(text)
    this.writeSmall(`${sumsFolder}/${String(++this.sumsWritten).padStart(6, '0')}`, text)
  }

  private writeSmall(name: string, text: string): void {
    this.pack.entry({ name, mode: 0o600 }, text)
  }
}

async function* readExactly(descriptor: number, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size;) {
    // A new one for each read: the archive keeps chunks until its reader takes them.
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - position))
    const { bytesRead } = await readAt(descriptor, chunk, 0, chunk.length, position)
    yield bytesRead === 0 ? zeros.subarray(0, chunk.length) : chunk.subarray(0, bytesRead)
    position += bytesRead === 0 ? chunk.length : bytesRead
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
