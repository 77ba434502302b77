import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Readable } from 'node:stream'
import { type BodyReader, type LongBody, usualBytes } from '../bodies/index.ts'
import { loopTurn } from '../kernel/index.ts'

/** Bytes that are copied in one turn of the event loop: 1 to 2 ms, most of it new memory. */
const joinedBytesPerTurn = 2 * 1024 * 1024

/** A body that arrives in chunks. One of the usual form is read meanwhile, if its reader can (`startLong`). */
export class ArrivingBody<Body = unknown> {
  bytes = 0
  #chunks: Buffer[] = []
  #long: LongBody<Body> | undefined
  readonly #reader: BodyReader<Body> | undefined

  constructor(reader: BodyReader<Body> | undefined) {
    this.#reader = reader
  }

  /** The bytes must not change afterwards. */
  push(chunk: Buffer): void {
    this.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#long) this.#long.push(chunk)
    else if (this.bytes > usualBytes && this.#reader?.startLong) {
      this.#long = this.#reader.startLong()
      for (const arrived of this.#chunks) this.#long.push(arrived)
    }
  }

  /** What was read of a long body; undefined: its bytes must be read. */
  finish(): Body | undefined {
    const body = this.#long?.finish()
    this.#long = undefined
    if (body !== undefined) this.#chunks = []
    return body
  }

  /** All bytes, in memory that is not shared. Copies a large body in turns of the event loop, because new pages take 0.5 ms a megabyte. */
  join(): Buffer | Promise<Buffer> {
    const chunks = this.#chunks
    this.#chunks = []
    if (this.bytes <= joinedBytesPerTurn) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.bytes)
    return joinInTurns(chunks, this.bytes)
  }

  forget(): void {
    this.#chunks = []
    this.#long = undefined
  }
}

/** Smaller bodies arrive in a few chunks. */
const sharedBytes = 256 * 1024

/**
 * Called after each chunk: a large body continues in the next turn of its organisation. The system has so much of it ready that one turn of the
 * event loop would otherwise read megabytes from each connection.
 */
export function shareReading(source: Readable, { bytes }: ArrivingBody, owner: string): void {
  const turn = bytes > sharedBytes ? loopTurn(owner) : undefined
  if (!turn) return
  source.pause()
  void turn.then(() => source.resume())
}

async function joinInTurns(chunks: Buffer[], bytes: number): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  let nextTurnAt = joinedBytesPerTurn
  // From the end, so that each chunk is free once it is copied.
  chunks.reverse()
  for (let chunk = chunks.pop(); chunk; chunk = chunks.pop()) {
    at += chunk.copy(joined, at)
    if (at < nextTurnAt) continue
    nextTurnAt = at + joinedBytesPerTurn
    await nextTurn()
  }
  return joined
}
