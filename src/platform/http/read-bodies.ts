import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import {
  AppError,
  assertReadsCsv,
  assertStorableTexts,
  type BodyFormat,
  type BodyReader,
  loopTurn,
  readBody,
  readJson,
} from '../kernel/index.ts'
import { ArrivingBody, shareReading } from './arriving-body.ts'
import type { BodyBudget } from './body-budget.ts'
import type { BodyThread } from './body-thread.ts'
import type { SlowBodies } from './slow-bodies.ts'

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

export type Bodies = ReturnType<typeof createBodies>

/**
 * Reads JSON and CSV bodies. Their size, the sum of all in flight and their structure are checked before values are built. None of it
 * blocks the event loop for more than some milliseconds.
 */
export function createBodies({
  budget,
  slowBodies,
  threads,
}: {
  budget: BodyBudget
  slowBodies: SlowBodies
  threads: { large: BodyThread; huge: BodyThread }
}) {
  const read = (bytes: Buffer, reader: BodyReader, format: BodyFormat, owner: string, signal: AbortSignal) => {
    if (bytes.length <= inlineBytes) return readBody(bytes, reader, format)
    const thread = bytes.length > hugeBytes ? threads.huge : threads.large
    return thread.read({ bytes, format }, reader, owner, signal)
  }
  const readFor = (request: FastifyRequest, bytes: Buffer, reader: BodyReader, format: BodyFormat) =>
    read(bytes, reader, format, ownerOf(request), request.clientSignal)
  return {
    /** A complete body: small ones at once, large ones in a thread, fairly between owners. Throws AppError. Changes `bytes`. */
    read,
    /** The parser of `application/json`. */
    async parseJson(request: FastifyRequest, payload: Readable): Promise<unknown> {
      const { config, schema } = request.routeOptions
      const arrived = await receive(request, payload, config.body, { budget, slowBodies })
      await loopTurn(ownerOf(request))
      const body = arrived.finish()
      if (body !== undefined) return body
      const bytes = await arrived.join()
      if (bytes.length === 0) {
        // Some clients send a content-type without a body, for example with DELETE.
        if (!schema?.body) return undefined
        throw new AppError('invalid_request', 'The body is empty, a JSON object is expected.')
      }
      return config.body ? readFor(request, bytes, config.body, 'json') : readJson(bytes, plainReader)
    },
    /** The parser of `text/csv`, for the routes whose reader takes it. */
    async parseCsv(request: FastifyRequest, payload: Readable): Promise<unknown> {
      const { body: reader } = request.routeOptions.config
      assertReadsCsv(reader)
      const arrived = await receive(request, payload, undefined, { budget, slowBodies })
      await loopTurn(ownerOf(request))
      return readFor(request, await arrived.join(), reader, 'csv')
    },
  }
}

const ownerOf = ({ organisation }: FastifyRequest) => organisation?.id ?? 'operator'

async function receive(
  request: FastifyRequest,
  payload: Readable,
  reader: BodyReader | undefined,
  { budget, slowBodies }: { budget: BodyBudget; slowBodies: SlowBodies },
): Promise<ArrivingBody> {
  const maximumBytes = request.routeOptions.bodyLimit
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maximumBytes) throw tooLarge(maximumBytes)
  const account = budget.open(ownerOf(request))
  request.bodyAccount = account
  account.assertRoom(declared)
  const arriving = new ArrivingBody(reader)
  return new Promise((resolve, reject) => {
    let isSettled = false
    const fail = (error: unknown) => {
      isSettled = true
      slowBodies.unwatch(request.raw)
      payload.off('data', take)
      arriving.forget()
      reject(error as Error)
    }
    const take = (chunk: Buffer) => {
      try {
        if (arriving.bytes + chunk.length > maximumBytes) throw tooLarge(maximumBytes)
        account.take(chunk.length)
        arriving.push(chunk)
        shareReading(payload, arriving, ownerOf(request))
      } catch (error) {
        fail(error)
      }
    }
    payload.on('data', take)
    slowBodies.watch(request.raw, ownerOf(request), fail)
    payload.once('end', () => {
      isSettled = true
      slowBodies.unwatch(request.raw)
      resolve(arriving)
    })
    payload.once('error', fail)
    payload.once('close', () => {
      // Nearly every body has ended. The error alone, with its stack, would take as long as parsing the body.
      if (!isSettled) fail(new AppError('client_closed', 'The request was interrupted.'))
    })
  })
}

function tooLarge(maximumBytes: number): AppError {
  return new AppError('request_too_large', `The request body must have at most ${maximumBytes} bytes.`)
}
