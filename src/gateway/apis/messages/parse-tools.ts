import type { PromptBody } from '../../../contract/gateway-v2-messages.ts'
import type { ProviderRequest, ToolChoice, ToolDefinition } from '../../providers/index.ts'
import { type FieldPath, invalid, readSchema, unsupported } from '../limits.ts'
import { toCacheMark } from './cache-mark.ts'
import { hostedKindOf, isPlainSearch } from './hosted-tools.ts'
import type { OnlyNative } from './map-blocks.ts'

type ToolBody = NonNullable<PromptBody['tools']>[number]
type CustomTool = Extract<ToolBody, { input_schema: unknown }>

/** Tools that Anthropic defines and the client runs, without their date. */
const clientTools = ['bash', 'text_editor', 'computer', 'memory']

/** `tools` and `tool_choice` in the terms of the port. Throws AppError. */
export function parseTools(
  body: Pick<PromptBody, 'tools' | 'tool_choice'>,
  only: OnlyNative,
): Partial<ProviderRequest> {
  const tools: ToolDefinition[] = []
  const names = new Set<string>()
  for (const [index, tool] of (body.tools ?? []).entries()) {
    const path = ['tools', index]
    if (tool.name !== undefined) {
      if (names.has(tool.name)) throw invalid([...path, 'name'], 'repeats the name of another tool')
      names.add(tool.name)
    }
    if (isCustom(tool)) tools.push(toDefinition(tool, path))
    else {
      assertKnownTool(tool.type, [...path, 'type'])
      if (!isPlainSearch(tool) || isChosen(tool.name, body.tool_choice)) only([...path, `type (${tool.type})`])
    }
  }
  const choice = body.tool_choice
  if (choice?.type === 'tool' && !names.has(choice.name))
    throw invalid(['tool_choice', 'name'], 'must be the name of one of the `tools`')
  const hasTools = (body.tools ?? []).length > 0
  if (choice?.type === 'any' && !hasTools) throw invalid(['tool_choice'], 'needs `tools`')
  if (!hasTools) return {}
  return {
    ...(tools.length > 0 && { tools }),
    ...(choice && { toolChoice: toToolChoice(choice) }),
    ...(choice && choice.type !== 'none' && choice.disable_parallel_tool_use && { parallelToolCalls: false }),
  }
}

/** Only Anthropic lets a client require the call of a tool that the provider runs. */
const isChosen = (name: string | undefined, choice: PromptBody['tool_choice']) =>
  choice?.type === 'any' || (choice?.type === 'tool' && choice.name === name)

const isCustom = (tool: ToolBody): tool is CustomTool => tool.type === undefined || tool.type === 'custom'

function toDefinition(tool: CustomTool, path: FieldPath): ToolDefinition {
  const { name, description, strict, cache_control } = tool
  const cache = toCacheMark(cache_control)
  return {
    name,
    ...(description !== undefined && { description }),
    parameters: readSchema(tool.input_schema, [...path, 'input_schema']),
    ...(strict !== undefined && { strict }),
    ...(cache && { cache }),
  }
}

/** A tool that the client runs, or one that the provider runs and whose cost is bounded. */
function assertKnownTool(type: string, path: FieldPath): void {
  if (clientTools.includes(type.replace(/_\d{8}$/, '')) || hostedKindOf(type)) return
  const offered = clientTools.map((name) => `${name}_DATE`).join(', ')
  throw unsupported(
    path,
    `\`${type}\` is not offered; define it as a custom tool and run it in your client; offered are custom tools, ${offered}, and web_search_DATE, web_fetch_DATE, code_execution_DATE, tool_search_tool_… and mcp_toolset, which the provider runs`,
  )
}

/** Tools of the request that Anthropic defines. */
export function countVendorTools({ tools = [] }: Pick<PromptBody, 'tools'>): number {
  return tools.filter((tool) => !isCustom(tool)).length
}

function toToolChoice(choice: NonNullable<PromptBody['tool_choice']>): ToolChoice {
  switch (choice.type) {
    case 'auto':
      return 'auto'
    case 'none':
      return 'none'
    case 'any':
      return 'required'
    case 'tool':
      return { name: choice.name }
  }
}
