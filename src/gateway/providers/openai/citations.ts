import type { UrlCitation } from '../port.ts'
import { asCount, asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'

/** Upper bound on the sources of one answer. */
const maximumCitations = 100

/**
 * Sources of an answer; null if it cites none. OpenAI and OpenRouter: `annotations` of the message. Perplexity: `search_results` of the
 * answer, in older versions `citations`, a list of addresses; `[1]` in the text is the first.
 */
export function readCitations(answer: JsonObject, message: JsonObject): UrlCitation[] | null {
  const annotated = asObjects(message.annotations).flatMap((annotation) => {
    if (annotation.type !== 'url_citation') return []
    // OpenAI's Responses API has the fields at the top level.
    const cited = annotation.url_citation === undefined ? annotation : asObject(annotation.url_citation)
    return toCitation(cited.url, cited.title, asCount(cited.start_index), asCount(cited.end_index))
  })
  if (annotated.length > 0) return annotated.slice(0, maximumCitations)
  const found = asObjects(answer.search_results).flatMap(({ url, title }) => toCitation(url, title))
  if (found.length > 0) return found.slice(0, maximumCitations)
  const addresses = Array.isArray(answer.citations) ? answer.citations.flatMap((url) => toCitation(url, '')) : []
  return addresses.length > 0 ? addresses.slice(0, maximumCitations) : null
}

/** Only web addresses: clients may show them as links. */
function toCitation(url: unknown, title: unknown, startIndex = 0, endIndex = 0): UrlCitation[] {
  const address = asString(url)
  if (!/^https?:\/\//i.test(address)) return []
  return [{ url: address, title: asString(title) || address, startIndex, endIndex }]
}
