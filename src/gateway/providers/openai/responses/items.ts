import type { HostedToolKind, ToolUses } from '../../../../platform/kernel/index.ts'
import type { ReasoningReplay, TokenUsage, UrlCitation } from '../../port.ts'
import { clampedUsage, stateUsage } from '../../stated-usage.ts'
import { asCount, asName, asObject, asObjects, asString, type JsonObject } from '../../wire-json.ts'

/** Items of what the provider ran, by kind: https://platform.openai.com/docs/api-reference/responses/object */
const kinds: Readonly<Record<string, HostedToolKind>> = {
  web_search_call: 'web_search',
  code_interpreter_call: 'code_execution',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcp',
  mcp_approval_request: 'mcp',
}

/** The tool behind an item; undefined for other items. */
export function hostedKindOf({ type }: JsonObject): HostedToolKind | undefined {
  return typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined
}

/** Items that the provider takes back in the next turn. */
export function isReplayed(item: JsonObject): boolean {
  return isReasoning(item) || hostedKindOf(item) !== undefined
}

const isReasoning = ({ type, encrypted_content }: JsonObject) =>
  type === 'reasoning' && asName(encrypted_content) !== null

/** Reasoning with what the provider ran in between, in order; without reasoning nothing is needed. */
export function readReplay(items: readonly JsonObject[]): ReasoningReplay | undefined {
  return items.some(isReasoning) ? { format: 'openai', blocks: items.filter(isReplayed) } : undefined
}

/**
 * The uses that are billed: each search but not the pages that are opened, each container, and each call of a server.
 * https://platform.openai.com/docs/guides/tools-web-search#output-and-citations
 */
export function countUses(items: readonly JsonObject[]): { toolUses?: ToolUses } {
  const uses: { -readonly [Kind in keyof ToolUses]: ToolUses[Kind] } = {}
  const containers = new Set<string>()
  const add = (kind: HostedToolKind) => void (uses[kind] = (uses[kind] ?? 0) + 1)
  for (const item of items) {
    const action = asName(asObject(item.action).type) ?? 'search'
    if (item.type === 'web_search_call' && action === 'search') add('web_search')
    else if (item.type === 'mcp_call') add('mcp')
    else if (item.type === 'code_interpreter_call') containers.add(asString(item.container_id))
  }
  if (containers.size > 0) uses.code_execution = containers.size
  return Object.keys(uses).length === 0 ? {} : { toolUses: uses }
}

/** Null if the response has no usage. */
export function mapUsage(wire: unknown, items: readonly JsonObject[]): TokenUsage | null {
  const usage = asObject(wire)
  const prompt = asCount(usage.input_tokens)
  const completionTokens = asCount(usage.output_tokens)
  if (prompt === undefined || completionTokens === undefined) return null
  const input = asObject(usage.input_tokens_details)
  const counted = clampedUsage({
    prompt,
    completionTokens,
    cached: asCount(input.cached_tokens) ?? 0,
    written: asCount(input.cache_write_tokens) ?? 0,
    reasoning: asCount(asObject(usage.output_tokens_details).reasoning_tokens) ?? 0,
  })
  const uses = countUses(items)
  return stateUsage({ ...counted, ...uses }, { raw: usage, isCorrected: uses.toolUses !== undefined })
}

/** Upper bound on the sources of one answer. */
const maximumCitations = 100

/** Places are those in the texts of all messages together. */
export function readCitations(items: readonly JsonObject[]): UrlCitation[] {
  const citations: UrlCitation[] = []
  let start = 0
  for (const part of items.flatMap((item) => (item.type === 'message' ? asObjects(item.content) : []))) {
    if (part.type !== 'output_text') continue
    for (const { type, url, title, start_index: from, end_index: to } of asObjects(part.annotations)) {
      const address = asString(url)
      if (type !== 'url_citation' || !/^https?:\/\//i.test(address) || citations.length >= maximumCitations) continue
      const [startIndex, endIndex] = [start + (asCount(from) ?? 0), start + (asCount(to) ?? 0)]
      citations.push({ url: address, title: asString(title) || address, startIndex, endIndex })
    }
    start += asString(part.text).length
  }
  return citations
}
