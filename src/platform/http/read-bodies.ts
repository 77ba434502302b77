import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BodyFormat, type BodyReader, type LongBody, readBody, readJson, usualBytes } from '../bodies/index.ts'
import { AppError, assertStorableTexts, loopTurn } from '../kernel/index.ts'
import { type Admit, bodyTooLarge } from './admit.ts'
import type { SlowBodies } from './body-arrival.ts'
import type { BodyThread } from './body-thread.ts'
import type { Visit } from './visit.ts'

/** Larger bodies are parsed in a thread. A body of this size takes less than 10 ms. */
const inlineBytes = 64 * 1024
/** Larger bodies have a separate thread, so that smaller ones do not wait for them. */
const hugeBytes = 2 * 1024 * 1024

/** Most values in a body of the operator API or of a document; enough for the longest lists that they accept. */
const maximumValues = 20_000

/** For routes without a reader. Their bodies are small, parsed in place and stored, so their texts must be storable. */
const plainReader = {
  shape: {},
  maximumValues,
  read: (value: unknown) => {
    assertStorableTexts(value)
    return value
  },
}

/** A body that ends so soon has come with its request, and is read in the same turn: those are no more than one slice of the event loop. */
const arrivalMs = 1

export type Bodies = ReturnType<typeof createBodies>

interface Reading {
  /** Absent: the usual small body of a route. */
  reader: BodyReader | undefined
  format: BodyFormat
  /** Without one, an empty body is undefined: some clients send a content-type without a body, for example with DELETE. */
  isOptional?: boolean
}

/**
 * Reads JSON and CSV bodies. Their size, the sum of all in flight and their structure are checked before values are built. None of it
 * blocks the event loop for more than some milliseconds.
 */
export function createBodies({
  admit,
  slowBodies,
  threads,
}: {
  admit: Admit
  slowBodies: SlowBodies
  threads: { large: BodyThread; huge: BodyThread }
}) {
  return {
    /** A small JSON body that has arrived (`hasArrived`), without a promise. Throws AppError. */
    readArrived(visit: Visit, reader: BodyReader): unknown {
      void admit('body', visit)
      const bytes: Buffer = visit.raw.read()
      visit.account!.take(bytes.length)
      return readBody(bytes, reader, 'json')
    },
    /** Receives and reads a body: small ones in place, large ones in a thread, in turns of their organisations. Throws AppError. */
    read(visit: Visit, source: Readable, reading: Reading): Promise<unknown> {
      return new Promise((resolve, reject) => {
        void admit('body', visit)
        const arriving = new ArrivingBody(reading.format === 'json' ? reading.reader : undefined)
        receive(visit, source, arriving, slowBodies, reject, () => {
          const turn = performance.now() - visit.startedMs < arrivalMs ? undefined : loopTurn(ownerOf(visit))
          resolve(turn ? turn.then(() => readArrived(visit, arriving, reading)) : readArrived(visit, arriving, reading))
        })
      })
    },
  }

  /** A promise where the bytes are many. */
  function readArrived(visit: Visit, arrived: ArrivingBody, reading: Reading): unknown {
    const { chunks } = arrived
    const body = arrived.finish()
    if (body !== undefined) {
      visit.bodyChunks = chunks
      return body
    }
    const bytes = arrived.join()
    return bytes instanceof Promise
      ? bytes.then((joined) => readBytes(visit, joined, reading))
      : readBytes(visit, bytes, reading)
  }

  function readBytes(visit: Visit, bytes: Buffer, { reader, format, isOptional }: Reading): unknown {
    if (bytes.length === 0 && format === 'json') {
      if (isOptional) return undefined
      throw new AppError('invalid_request', 'The body is empty, a JSON object is expected.')
    }
    if (!reader) return readJson(bytes, plainReader)
    if (bytes.length <= inlineBytes) return readBody(bytes, reader, format)
    const thread = bytes.length > hugeBytes ? threads.huge : threads.large
    return thread.read({ bytes, format }, reader, ownerOf(visit), visit.signal)
  }
}

/** Whether a small body of a stated length is there as a whole, and nobody reads it yet: it is when its request has waited for a turn. */
export function hasArrived({ raw, declaredBytes }: Pick<Visit, 'raw' | 'declaredBytes'>): boolean {
  return raw.complete && raw.readableLength === declaredBytes && declaredBytes > 0 && declaredBytes <= usualBytes
}

const ownerOf = ({ organisation }: Visit) => organisation?.id ?? 'operator'

/** Calls `arrived` at the end of the body, or else `failed`; `failed` also where `arrived` throws. */
function receive(
  visit: Visit,
  source: Readable,
  arriving: ArrivingBody,
  slowBodies: SlowBodies,
  failed: (error: unknown) => void,
  arrived: () => void,
): void {
  const { raw, account } = visit
  const { maximumBodyBytes } = visit.route
  const owner = ownerOf(visit)
  let isComplete = false
  const complete = () => {
    isComplete = true
    unwatch()
  }
  const fail = (error: unknown) => {
    complete()
    source.off('data', take)
    arriving.forget()
    // At once: other bodies of the organisation, which are about to exceed its share too, fit now.
    account!.close()
    failed(error)
  }
  const take = (chunk: Buffer) => {
    try {
      if (arriving.bytes + chunk.length > maximumBodyBytes) throw bodyTooLarge(maximumBodyBytes)
      account!.take(chunk.length)
      arriving.push(chunk)
      shareReading(source, arriving, owner)
    } catch (error) {
      fail(error)
    }
  }
  source.on('data', take)
  const unwatch = slowBodies.watch(raw, owner, fail)
  source.once('end', () => {
    if (isComplete) return
    complete()
    try {
      arrived()
    } catch (error) {
      failed(error)
    }
  })
  // Nearly every body has ended. The error alone, with its stack, would take as long as parsing the body.
  const interrupt = () => {
    if (!isComplete) fail(new AppError('client_closed', 'The request was interrupted.'))
  }
  // Node.js reports a lost connection as an error of the request, and closes it after that.
  source.once('error', interrupt)
  source.once('close', interrupt)
}

/** Bytes that are copied in one turn of the event loop: 1 to 2 ms, most of it new memory. */
const joinedBytesPerTurn = 2 * 1024 * 1024

/** A body that arrives in chunks. One of the usual form is read meanwhile, if its reader can (`startLong`). */
export class ArrivingBody<Body = unknown> {
  bytes = 0
  chunks: Buffer[] = []
  #long: LongBody<Body> | undefined
  readonly #reader: BodyReader<Body> | undefined

  constructor(reader: BodyReader<Body> | undefined) {
    this.#reader = reader
  }

  /** The bytes must not change afterwards. */
  push(chunk: Buffer): void {
    this.bytes += chunk.length
    this.chunks.push(chunk)
    if (this.#long) this.#long.push(chunk)
    else if (this.bytes > usualBytes && this.#reader?.startLong) {
      this.#long = this.#reader.startLong()
      for (const arrived of this.chunks) this.#long.push(arrived)
    }
  }

  /** What was read of a long body; undefined: its bytes must be read. */
  finish(): Body | undefined {
    const body = this.#long?.finish()
    this.#long = undefined
    if (body !== undefined) this.chunks = []
    return body
  }

  /** All bytes, in memory that is not shared. Copies a large body in turns of the event loop, because new pages take 0.5 ms a megabyte. */
  join(): Buffer | Promise<Buffer> {
    const chunks = this.chunks
    this.chunks = []
    if (this.bytes <= joinedBytesPerTurn) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.bytes)
    return joinInTurns(chunks, this.bytes)
  }

  forget(): void {
    this.chunks = []
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
