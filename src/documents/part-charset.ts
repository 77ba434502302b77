import type { Readable } from 'node:stream'
import { Dicer } from '@fastify/busboy'

/** The header of the file part is searched within these first bytes; the parts before it are small. */
const maximumSearchedBytes = 1024 * 1024

/**
 * Finds the `charset` of the part `field` in a multipart body, because the main parser does not report it. The returned function
 * returns it as soon as that part has begun.
 */
export function watchPartCharset(body: Readable, contentType: string, field: string): () => string | undefined {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  let charset: string | undefined
  if (!boundary) return () => charset
  const parser = new Dicer({ boundary: (boundary[1] ?? boundary[2])! })
  let searchedBytes = 0
  const stop = () => body.off('data', search)
  const search = (bytes: Buffer) => {
    searchedBytes += bytes.length
    parser.write(bytes)
    if (searchedBytes > maximumSearchedBytes) stop()
  }
  parser.on('error', stop)
  parser.on('part', (part) => {
    part.on('error', stop)
    part.on('header', (header: Record<string, string[] | undefined>) => {
      if (!new RegExp(`;\\s*name="?${field}"?(?:;|\\s|$)`, 'i').test(header['content-disposition']?.[0] ?? '')) return
      charset = /;\s*charset=\s*"?([\w.:+-]{1,40})"?/i.exec(header['content-type']?.[0] ?? '')?.[1]?.toLowerCase()
      stop()
    })
    part.resume()
  })
  body.on('data', search)
  return () => charset
}
