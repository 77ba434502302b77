import type { HostedToolKind, ToolUses } from '../../../platform/kernel/index.ts'
import { asCount, asObject, type JsonObject } from '../wire-json.ts'

/** Kinds of tools by the name of their calls: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview */
const kinds: Readonly<Record<string, HostedToolKind>> = {
  web_search: 'web_search',
  web_fetch: 'web_fetch',
  code_execution: 'code_execution',
  bash_code_execution: 'code_execution',
  text_editor_code_execution: 'code_execution',
  tool_search_tool_regex: 'tool_search',
  tool_search_tool_bm25: 'tool_search',
}

/** The tool that the provider ran for a block; undefined for other blocks. */
export function hostedKindOf({ type, name }: JsonObject): HostedToolKind | undefined {
  if (type === 'mcp_tool_use') return 'mcp'
  if (type !== 'server_tool_use' || typeof name !== 'string' || !Object.hasOwn(kinds, name)) return undefined
  return kinds[name]
}

/**
 * What the provider bills. It counts searches and fetches, without failed ones; the rest is counted by blocks. The code of one answer runs in
 * one container.
 */
export function readToolUses(usage: JsonObject, blocks: Iterable<HostedToolKind>): { toolUses?: ToolUses } {
  const uses: { -readonly [Kind in keyof ToolUses]: ToolUses[Kind] } = {}
  for (const kind of blocks) uses[kind] = kind === 'code_execution' ? 1 : (uses[kind] ?? 0) + 1
  const counted = asObject(usage.server_tool_use)
  for (const kind of ['web_search', 'web_fetch'] as const) {
    const requests = asCount(counted[`${kind}_requests`])
    if (requests !== undefined) uses[kind] = requests
  }
  for (const kind of Object.keys(uses) as HostedToolKind[]) if (uses[kind] === 0) delete uses[kind]
  return Object.keys(uses).length === 0 ? {} : { toolUses: uses }
}
