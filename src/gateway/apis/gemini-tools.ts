import type { HostedToolKind } from '../../platform/kernel/index.ts'
import type { HostedTool, HostedToolLimits } from '../providers/index.ts'
import { containersPerAnswer, usualToolCalls } from './hosted-limits.ts'
import { type FieldPath, invalid, readSchema } from './limits.ts'

/** Tools that Google runs, by the names of its API and of its Python SDK; clients of the compatible API send them so. */
const tools: Readonly<Record<string, { kind: HostedToolKind; name: string }>> = {
  googleSearch: { kind: 'web_search', name: 'googleSearch' },
  google_search: { kind: 'web_search', name: 'googleSearch' },
  urlContext: { kind: 'web_fetch', name: 'urlContext' },
  url_context: { kind: 'web_fetch', name: 'urlContext' },
  codeExecution: { kind: 'code_execution', name: 'codeExecution' },
  code_execution: { kind: 'code_execution', name: 'codeExecution' },
}

/** `{"google_search": {}}`; undefined for other tools. Throws AppError. */
export function readGeminiTool(tool: Record<string, unknown>, path: FieldPath): HostedTool | undefined {
  if (tool.type !== undefined) return undefined
  const names = Object.keys(tool)
  const known = names.find((name) => Object.hasOwn(tools, name))
  if (known === undefined) return undefined
  if (names.length > 1) throw invalid(path, 'must have one tool')
  const { kind, name } = tools[known]!
  return { family: 'gemini', kind, type: name, definition: { [name]: readSchema(tool[known], [...path, known]) } }
}

/** Pages that one request may read: https://ai.google.dev/gemini-api/docs/url-context#limitations */
const pagesPerAnswer = 20

/** What bounds the cost of such tools. Google has no field for it: uses beyond the limit are not billed. */
export function limitsOfGemini(kinds: readonly HostedToolKind[]): HostedToolLimits {
  const most: Partial<Record<HostedToolKind, number>> = {
    web_search: usualToolCalls,
    web_fetch: pagesPerAnswer,
    code_execution: containersPerAnswer,
  }
  const uses = [...new Set(kinds)].map((kind) => ({ kinds: [kind], most: most[kind]! }))
  return { uses, unlimited: [], rounds: usualToolCalls }
}
