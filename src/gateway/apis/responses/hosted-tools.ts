import { type HostedToolKind, isObject } from '../../../platform/kernel/index.ts'
import type { HostedTool, ProviderRequest } from '../../providers/index.ts'
import {
  type FieldPath,
  invalid,
  isPresent,
  limitsOfCalls,
  readChoice,
  readName,
  readObject,
  readOpaque,
  readServer,
  unsupported,
  usualToolCalls,
} from '../limits.ts'
import { searchForms } from '../web-search.ts'
import type { Reading } from './reading.ts'

/** Tools that OpenAI runs, by type, and their members that are sent on. */
const tools: Readonly<Record<string, { kind: HostedToolKind; members: readonly string[] }>> = {
  web_search: { kind: 'web_search', members: ['filters', 'search_context_size', 'user_location'] },
  web_search_2025_08_26: { kind: 'web_search', members: ['filters', 'search_context_size', 'user_location'] },
  code_interpreter: { kind: 'code_execution', members: ['container'] },
  mcp: {
    kind: 'mcp',
    members: [
      'server_label',
      'server_url',
      'server_description',
      'authorization',
      'headers',
      'allowed_tools',
      'require_approval',
    ],
  },
}

export const hostedToolMembers = [...new Set(Object.values(tools).flatMap(({ members }) => members))]

const instead: Readonly<Record<string, string>> = {
  file_search:
    "vector stores are kept in the provider's account, which all organisations share; send the texts in `input`",
  web_search_preview: 'its price depends on the model; send `web_search`',
}

/** Undefined: no tool that the provider runs. Throws AppError for one that is not offered. */
export function readHostedTool(tool: Record<string, unknown>, type: string, path: FieldPath): HostedTool | undefined {
  if (!Object.hasOwn(tools, type)) return undefined
  const { kind, members } = tools[type]!
  const definition: Record<string, unknown> = { type }
  for (const name of members) if (isPresent(tool[name])) definition[name] = tool[name]
  readOpaque(definition, path)
  if (kind === 'code_execution') assertNewContainer(tool.container, [...path, 'container'])
  return { family: 'openai', kind, type, definition, ...(kind === 'mcp' && { server: readAddress(tool, path) }) }
}

/** The provider would run these tools, in a way whose cost or state is not bounded. */
export function refuseHosted(type: string, path: FieldPath) {
  const why = Object.hasOwn(instead, type)
    ? instead[type]!
    : `the tool \`${type.slice(0, 60)}\` is not offered; send tools of the types function, custom, ${Object.keys(tools).join(', ')}`
  return unsupported(path, why)
}

/** Containers with an id are in the provider's account; larger ones have another price. */
function assertNewContainer(value: unknown, path: FieldPath): void {
  if (!isPresent(value)) throw invalid(path, 'must be `{"type": "auto"}`')
  if (typeof value === 'string')
    throw unsupported(
      path,
      'containers are kept in the provider\'s account, which all organisations share; send `{"type": "auto"}`',
    )
  const container = readObject(value, path)
  readChoice(container.type, [...path, 'type'], ['auto'])
  for (const name of Object.keys(container))
    if (name !== 'type' && isPresent(container[name]) && !(name === 'memory_limit' && container[name] === '1g'))
      throw unsupported([...path, name], 'is not offered; leave it out')
}

/** The provider connects to the server, so it must be reachable from there. */
function readAddress(tool: Record<string, unknown>, path: FieldPath): NonNullable<HostedTool['server']> {
  readName(tool.server_label, [...path, 'server_label'])
  return readServer(tool.server_url, [...path, 'server_url'])
}

/** Parts of an answer that a client can ask for. */
const hostedIncludes = ['web_search_call.action.sources', 'web_search_call.results', 'code_interpreter_call.outputs']

/** The tools with what bounds their cost. A limit that the client has not set is named in `adjusted`. */
export function hostedFields(
  hostedTools: HostedTool[],
  { maxToolCalls, include = [] }: { maxToolCalls: number | undefined; include: readonly string[] | undefined },
  { adjusted }: Reading,
): Pick<ProviderRequest, 'hostedTools' | 'hostedLimits'> {
  if (maxToolCalls === undefined) adjusted.add('max_tool_calls')
  if (maxToolCalls !== undefined && maxToolCalls > maximumToolCalls)
    throw invalid(['max_tool_calls'], `must be at most ${maximumToolCalls}`)
  const kinds = hostedTools.map(({ kind }) => kind)
  const most = maxToolCalls ?? usualToolCalls
  const included = include.filter((value) => hostedIncludes.includes(value))
  return {
    hostedTools: included.length > 0 ? hostedTools : hostedTools.map((tool) => withForms(tool, most)),
    hostedLimits: { ...limitsOfCalls(kinds, most), include: included },
  }
}

/** The search of other providers, whose answers have the sources and no items of the calls. */
function withForms(tool: HostedTool, uses: number): HostedTool {
  if (tool.kind !== 'web_search') return tool
  const { filters, user_location: location } = tool.definition
  const { allowed_domains: allowedDomains, ...others } = isObject(filters) ? filters : {}
  if (Object.keys(others).length > 0) return tool
  const place = isObject(location) ? { type: 'approximate', ...location } : undefined
  return {
    ...tool,
    ...searchForms('openai', {
      ...(place && { location: place }),
      ...(isPresent(allowedDomains) && { allowedDomains }),
      uses,
    }),
  }
}

const maximumToolCalls = 100
