import { Dicer } from '@fastify/busboy'

/** The header of the file part is searched within these first bytes; the parts before it are small. */
const maximumSearchedBytes = 1024 * 1024

/** Finds the `charset` of the part `field` in a multipart body, because the main parser does not report it. */
export function createPartCharset(contentType: string, field: string) {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType)
  const isPart = new RegExp(`;\\s*name="?${field}"?(?:;|\\s|$)`, 'i')
  let charset: string | undefined
  let isSearching = boundary !== null
  const parser = new Dicer({ boundary: boundary?.[1] ?? boundary?.[2] ?? '-' })
  let searchedBytes = 0
  const stop = () => void (isSearching = false)
  parser.on('error', stop)
  parser.on('part', (part) => {
    part.on('error', stop)
    part.on('header', (header: Record<string, string[] | undefined>) => {
      if (!isPart.test(header['content-disposition']?.[0] ?? '')) return
      charset = /;\s*charset=\s*"?([\w.:+-]{1,40})"?/i.exec(header['content-type']?.[0] ?? '')?.[1]?.toLowerCase()
      stop()
    })
    part.resume()
  })
  return {
    push(bytes: Uint8Array): void {
      if (!isSearching) return
      searchedBytes += bytes.length
      parser.write(bytes)
      if (searchedBytes > maximumSearchedBytes) stop()
    },
    /** As soon as that part has begun. */
    charset: () => charset,
  }
}
