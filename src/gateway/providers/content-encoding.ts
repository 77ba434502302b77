import type { Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { failure } from './wire-failure.ts'

/**
 * Decodes `content-encoding`. We accept none, yet some hosts and proxies send it. The bound counts decoded bytes, so that a decompression
 * bomb fails. Throws ProviderError (`connection`) on an unknown or invalid encoding.
 */
export function decodeBody(
  body: AsyncIterable<Uint8Array[]>,
  encoding: string | undefined,
  maximumBytes: number,
): AsyncIterable<Uint8Array[]> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  return { [Symbol.asyncIterator]: () => decode(body, name, maximumBytes) }
}

async function* decode(
  body: AsyncIterable<Uint8Array[]>,
  encoding: string,
  maximumBytes: number,
): AsyncGenerator<Uint8Array[], void, void> {
  const decoder = createDecoder(encoding)
  if (!decoder) {
    throw failure('connection', 'The provider sent an answer in an unknown encoding.', { afterFirstByte: true })
  }
  const feeding = feed(body, decoder)
  // Its failure is handled at the end of the decoder's output.
  feeding.catch(() => {})
  let totalBytes = 0
  try {
    for await (const bytes of decoder as AsyncIterable<Uint8Array>) {
      totalBytes += bytes.length
      if (totalBytes > maximumBytes) {
        throw failure('connection', `The provider's answer is larger than ${maximumBytes} bytes.`, {
          afterFirstByte: true,
        })
      }
      yield [bytes]
    }
  } catch (error) {
    decoder.destroy()
    // The body's failure is the cause; the decoder's failure follows from it.
    if (isZlibError(error)) {
      throw failure('connection', 'The provider sent an answer that could not be decoded.', {
        afterFirstByte: true,
        cause: error,
      })
    }
    throw error
  } finally {
    decoder.destroy()
  }
  await feeding
}

async function feed(body: AsyncIterable<Uint8Array[]>, decoder: Transform): Promise<void> {
  try {
    for await (const read of body) {
      for (const bytes of read) {
        if (decoder.destroyed) return
        if (!decoder.write(bytes))
          await new Promise<void>((resolve) => decoder.once('drain', resolve).once('close', resolve))
      }
    }
    decoder.end()
  } catch (error) {
    decoder.destroy(error as Error)
    throw error
  }
}

/** Decoders flush after every write: a stream must not wait for its end. */
function createDecoder(encoding: string): Transform | undefined {
  const flush = { flush: constants.Z_SYNC_FLUSH }
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip(flush)
  if (encoding === 'deflate') return createInflate(flush)
  if (encoding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })
  if (encoding === 'zstd') return createZstdDecompress()
  return undefined
}

function isZlibError(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' && /^(Z_|ERR_.*(BROTLI|ZLIB|ZSTD)|ERR__|ZSTD_)/.test(code)
}
