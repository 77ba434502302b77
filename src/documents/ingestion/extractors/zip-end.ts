import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { RandomAccessReader } from 'yauzl'

/** Bytes behind a zip that are searched for its end: padding, a signature, a part of the message that it came in. */
const searchedBytes = 1024 * 1024
const endSignature = Buffer.from([0x50, 0x4b, 0x05, 0x06])
/** Without its comment. */
const endBytes = 22

/** The size of the zip in a file that has further bytes behind it; null where no end of a zip is found. */
export async function findZipSize(filePath: string): Promise<number | null> {
  await using file = await open(filePath, 'r')
  const { size } = await file.stat()
  const from = Math.max(0, size - searchedBytes)
  const bytes = Buffer.alloc(size - from)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
  const at = bytes.subarray(0, bytesRead).lastIndexOf(endSignature)
  if (at === -1 || at + endBytes > bytesRead) return null
  const zipSize = from + at + endBytes + bytes.readUInt16LE(at + endBytes - 2)
  return zipSize < size ? zipSize : null
}

/** Reads the beginning of a file as a whole one. */
export class FileReader extends RandomAccessReader {
  private readonly filePath: string

  constructor(filePath: string) {
    super()
    this.filePath = filePath
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return createReadStream(this.filePath, { start, end: end - 1 })
  }
}
