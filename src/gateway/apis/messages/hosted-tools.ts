import type { PromptBody } from '../../../contract/gateway-v2-messages.ts'
import { type HostedToolKind, isObject } from '../../../platform/kernel/index.ts'
import type { HostedTool, HostedToolLimits } from '../../providers/index.ts'
import {
  containersPerAnswer,
  type FieldPath,
  invalid,
  isPresent,
  readName,
  readServer,
  readText,
  unsupported,
} from '../limits.ts'
import { searchForms, type WebSearch } from '../web-search.ts'

type ToolBody = NonNullable<PromptBody['tools']>[number]

/** Types of tools that Anthropic runs, without their dates. */
const kinds: Readonly<Record<string, HostedToolKind>> = {
  web_search: 'web_search',
  web_fetch: 'web_fetch',
  code_execution: 'code_execution',
  tool_search_tool_regex: 'tool_search',
  tool_search_tool_bm25: 'tool_search',
  mcp_toolset: 'mcp',
}

/** Tools whose uses a request can limit with `max_uses`, and the limit that is sent if the client has none. */
const limitedKinds: readonly HostedToolKind[] = ['web_search', 'web_fetch']
const usualUses = 5
const maximumUses = 100
/**
 * How often the model reads the prompt in one answer, at most: the API then ends it with `pause_turn`.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools
 */
const roundsPerAnswer = 10
const maximumServers = 20

export function hostedKindOf(type: string): HostedToolKind | undefined {
  const plain = type.replace(/_\d{8}$/, '')
  return Object.hasOwn(kinds, plain) ? kinds[plain] : undefined
}

export interface ReadHosted {
  hostedTools: HostedTool[]
  hostedLimits: HostedToolLimits
}

/**
 * The tools of a body that Anthropic runs, with what bounds their cost; undefined without any. Sets `max_uses` where the client has none, and
 * names it in `adjusted`.
 */
export function readHosted(
  { tools = [], mcp_servers: servers = [] }: Pick<PromptBody, 'tools' | 'mcp_servers'>,
  adjusted: Set<string>,
): ReadHosted | undefined {
  const hostedTools: HostedTool[] = []
  const uses: HostedToolLimits['uses'][number][] = []
  const add = (
    kind: HostedToolKind,
    type: string,
    definition: Record<string, unknown>,
    server?: HostedTool['server'],
  ) => hostedTools.push({ family: 'anthropic', kind, type, definition, ...(server && { server }) })
  for (const [index, tool] of tools.entries()) {
    const kind = tool.type && hostedKindOf(tool.type)
    if (!tool.type || !kind) continue
    add(kind, tool.type, tool)
    if (limitedKinds.includes(kind)) uses.push({ kinds: [kind], most: limitUses(tool, ['tools', index], adjusted) })
    else if (kind === 'code_execution') uses.push({ kinds: [kind], most: containersPerAnswer })
  }
  if (servers.length > maximumServers) throw invalid(['mcp_servers'], `must have at most ${maximumServers} entries`)
  for (const [index, server] of servers.entries()) {
    add('mcp', 'mcp', server, readAddress(server, ['mcp_servers', index]))
  }
  if (hostedTools.length === 0) return undefined
  const [tool] = hostedTools
  // Other families have one limit for all tools.
  if (hostedTools.length === 1 && isPlainSearch(tool!.definition)) {
    const most = uses[0]!.most
    hostedTools[0] = { ...tool!, ...searchForms('anthropic', searchOf(tool!.definition, most)) }
    return {
      hostedTools,
      hostedLimits: { uses, unlimited: [], rounds: Math.max(roundsPerAnswer, most + 1), maxToolCalls: most },
    }
  }
  const unlimited = hostedTools.map(({ kind }) => kind).filter((kind) => kind === 'tool_search' || kind === 'mcp')
  return { hostedTools, hostedLimits: { uses, unlimited, rounds: roundsPerAnswer } }
}

/** The members of a search that other families have too, or that change no answer. */
const searchMembers = [
  'type',
  'name',
  'max_uses',
  'allowed_domains',
  'blocked_domains',
  'user_location',
  'cache_control',
]

/** A web search that hosts of other families can serve. */
export function isPlainSearch(tool: Record<string, unknown>): boolean {
  return (
    /^web_search_\d{8}$/.test(String(tool.type)) &&
    Object.keys(tool).every((name) => searchMembers.includes(name) || !isPresent(tool[name]))
  )
}

function searchOf(tool: Record<string, unknown>, uses: number): WebSearch {
  const { allowed_domains: allowedDomains, blocked_domains: blockedDomains, user_location: location } = tool
  return {
    ...(isPresent(allowedDomains) && { allowedDomains }),
    ...(isPresent(blockedDomains) && { blockedDomains }),
    ...(isObject(location) && { location }),
    uses,
  }
}

function limitUses(tool: ToolBody, path: FieldPath, adjusted: Set<string>): number {
  const limited = tool as { max_uses?: unknown }
  const { max_uses: wanted } = limited
  if (wanted === undefined || wanted === null) {
    limited.max_uses = usualUses
    adjusted.add('tools.max_uses')
    return usualUses
  }
  if (!Number.isInteger(wanted) || (wanted as number) < 1 || (wanted as number) > maximumUses)
    throw invalid([...path, 'max_uses'], `must be a whole number from 1 to ${maximumUses}`)
  return wanted as number
}

/** The provider connects to the server, so it must be reachable from there. */
function readAddress(server: Record<string, unknown>, path: FieldPath): HostedTool['server'] {
  const type = readText(server.type, [...path, 'type'])
  if (type !== 'url') throw unsupported([...path, 'type'], 'must be `url`')
  readName(server.name, [...path, 'name'])
  return readServer(server.url, [...path, 'url'])
}
