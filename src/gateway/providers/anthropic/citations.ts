import type { UrlCitation } from '../port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'

/** Upper bound on the sources of one answer. */
export const maximumCitations = 100

/** A web source; null for places in the client's own documents, which have no address. */
export function readCitation(wire: unknown, startIndex: number, endIndex: number): UrlCitation | null {
  const { url, title } = asObject(wire)
  const address = asString(url)
  if (!/^https?:\/\//i.test(address)) return null
  return { url: address, title: asString(title) || address, startIndex, endIndex }
}

/** Each text block supports what it states with its own sources. */
export function readCitations(blocks: readonly JsonObject[]): UrlCitation[] {
  const citations: UrlCitation[] = []
  let length = 0
  for (const block of blocks) {
    if (block.type !== 'text') continue
    const start = length
    length += asString(block.text).length
    for (const wire of asObjects(block.citations)) {
      const found = readCitation(wire, start, length)
      if (found && citations.length < maximumCitations) citations.push(found)
    }
  }
  return citations
}
