import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { AppError, assertStorableTexts, readJson } from '../kernel/index.ts'
import type { BodyBudget } from './body-budget.ts'
import type { BodyThread } from './body-thread.ts'

/** Bodies above it are read in a thread. Reading one of this size takes less than 10 ms. */
const inlineBytes = 64 * 1024
/** Bodies above it have a thread to themselves, so that smaller ones do not wait for them. */
const hugeBytes = 2 * 1024 * 1024

/** Values of a body of the operator's API or of a document; large enough for the longest lists that they take. */
const maximumValues = 20_000

/** Bodies of routes that name no reader: small, read in place, and stored, so that their texts must be storable. */
const plainReader = {
  shape: {},
  maximumValues,
  read: (value: unknown) => {
    assertStorableTexts(value)
    return value
  },
}

export interface JsonBodies {
  /** The parser of `application/json`. */
  parse(request: FastifyRequest, payload: Readable): Promise<unknown>
}

/**
 * Reads JSON bodies: bounded in size, in the sum of all that are in flight, and in structure before anything is built. Nothing of
 * it keeps the event loop busy for longer than some milliseconds.
 */
export function createJsonBodies({
  budget,
  threads,
}: {
  budget: BodyBudget
  threads: { large: BodyThread; huge: BodyThread }
}): JsonBodies {
  return {
    async parse(request, payload) {
      const { bodyLimit, config, schema } = request.routeOptions
      const owner = request.organisation?.id ?? 'operator'
      const bytes = await receive(request, payload, { maximumBytes: bodyLimit, budget, owner })
      if (bytes.length === 0) {
        // Clients that name a type without sending a body (DELETE) mean no harm.
        if (!schema?.body) return undefined
        throw new AppError('invalid_request', 'The body is empty, a JSON object is expected.')
      }
      const reader = config.body
      if (!reader) return readJson(bytes, plainReader)
      if (bytes.length <= inlineBytes) return readJson(bytes, reader)
      const thread = bytes.length > hugeBytes ? threads.huge : threads.large
      return thread.read(bytes, reader, owner, request.clientSignal)
    },
  }
}

async function receive(
  request: FastifyRequest,
  payload: Readable,
  { maximumBytes, budget, owner }: { maximumBytes: number; budget: BodyBudget; owner: string },
): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maximumBytes) throw tooLarge(maximumBytes)
  const account = budget.open(owner)
  request.bodyAccount = account
  account.assertRoom(declared)
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      payload.off('data', take)
      reject(error as Error)
    }
    const take = (chunk: Buffer) => {
      length += chunk.length
      try {
        if (length > maximumBytes) throw tooLarge(maximumBytes)
        account.take(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        chunks.length = 0
        fail(error)
      }
    }
    payload.on('data', take)
    payload.once('end', () => resolve(Buffer.concat(chunks, length)))
    payload.once('error', fail)
    payload.once('close', () => fail(new AppError('client_closed', 'The request was interrupted.')))
  })
}

function tooLarge(maximumBytes: number): AppError {
  return new AppError('request_too_large', `The request body must have at most ${maximumBytes} bytes.`)
}
