import type { HostedToolKind, ToolUses } from '../../../platform/kernel/index.ts'
import type { ModelTraits } from '../model-traits/index.ts'
import type { ProviderRequest } from '../port.ts'
import { asObject, asObjects, asString, type JsonObject } from '../wire-json.ts'

/**
 * Counts what Google's tools did in one answer. A search is billed for each query, or once for an answer with older models; empty and repeated
 * queries are not (https://ai.google.dev/gemini-api/docs/google-search#pricing). No field limits the queries, so those beyond the limit
 * of the request, which the hold covers, are not billed.
 */
export function countUses({ hostedTools = [], hostedLimits }: ProviderRequest, { searchUses = 'query' }: ModelTraits) {
  const queries = new Set<string>()
  const pages = new Set<string>()
  let ran = false
  const most = (kind: HostedToolKind) => hostedLimits?.uses.find(({ kinds }) => kinds.includes(kind))?.most ?? Infinity
  const has = (kind: HostedToolKind) => hostedTools.some((tool) => tool.kind === kind)
  return {
    /** A candidate, or a chunk of one. */
    take(candidate: JsonObject | undefined): void {
      if (hostedTools.length === 0 || !candidate) return
      const { webSearchQueries: searched } = asObject(candidate.groundingMetadata)
      for (const query of Array.isArray(searched) ? searched : [])
        if (asString(query) !== '') queries.add(asString(query))
      for (const { retrievedUrl, urlRetrievalStatus } of asObjects(asObject(candidate.urlContextMetadata).urlMetadata))
        if (asString(urlRetrievalStatus).endsWith('_SUCCESS')) pages.add(asString(retrievedUrl))
      ran ||= asObjects(asObject(candidate.content).parts).some(({ executableCode }) => executableCode !== undefined)
    },
    uses(): ToolUses {
      const searches = searchUses === 'answer' ? Math.min(1, queries.size) : queries.size
      return {
        ...(has('web_search') && searches > 0 && { web_search: Math.min(searches, most('web_search')) }),
        ...(has('web_fetch') && pages.size > 0 && { web_fetch: Math.min(pages.size, most('web_fetch')) }),
        ...(has('code_execution') && ran && { code_execution: 1 }),
      }
    },
  }
}
