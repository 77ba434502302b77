import { createHash } from 'node:crypto'

/** detectFormat of ingestion reads at most this much. */
const headBytes = 64 * 1024

/** Size, hash and first bytes of a file that arrives in chunks. */
export class WatchedFile {
  sizeBytes = 0
  private readonly hash = createHash('sha256')
  private readonly heads: Uint8Array[] = []
  private headLength = 0

  take(chunk: Uint8Array): void {
    this.sizeBytes += chunk.length
    this.hash.update(chunk)
    if (this.headLength === headBytes) return
    const part = chunk.subarray(0, headBytes - this.headLength)
    this.heads.push(part)
    this.headLength += part.length
  }

  /** No `take` may follow. */
  finish(): { sizeBytes: number; sha256: Uint8Array; head: Uint8Array } {
    return {
      sizeBytes: this.sizeBytes,
      sha256: new Uint8Array(this.hash.digest()),
      head: new Uint8Array(Buffer.concat(this.heads)),
    }
  }
}
