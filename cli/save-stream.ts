import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Context } from './context.ts'
import { FailedError } from './errors.ts'

/** Writes the stream of the service to a file, and removes the file where it does not end. `noun` names it for the user. */
export async function saveStream(
  { output, process: { signal } }: Context,
  response: Response,
  file: string,
  noun: string,
): Promise<void> {
  let bytes = 0
  async function* counted(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      bytes += chunk.length
      output.progress(`received ${Math.round(bytes / 1_000_000)} MB`)
      yield chunk
    }
  }
  try {
    const body = Readable.fromWeb(response.body as never)
    await pipeline(body, counted, createWriteStream(file, { mode: 0o600, flush: true }), { signal })
  } catch (error) {
    await rm(file, { force: true })
    output.progress('')
    throw downloadError(error, file, noun)
  }
}

function downloadError(error: unknown, file: string, noun: string): FailedError {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new FailedError(`There is no room for the ${noun} in ${path.dirname(file)} (${code}). Nothing was kept.`)
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code)) {
    return new FailedError(`The ${noun} cannot be written to ${file} (${code}). Nothing was kept.`)
  }
  return new FailedError(
    `The service did not send the whole ${noun} (${message}). Nothing was kept. The log of the service has the reason.`,
    {},
    { cause: error },
  )
}
