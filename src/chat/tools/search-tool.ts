import type { ToolDefinition } from '../../providers/index.ts'
import { maximumArgumentsLength, parseArguments, type ToolCall } from './tool-call.ts'

/** The one tool of an agentic answer: a search in the Space's own files. The model chooses the query, never the Space. */

const searchToolName = 'search_uploaded_files'

export const searchTool: ToolDefinition = {
  name: searchToolName,
  description:
    'Searches the uploaded files of this Space. Call it when the passages at hand do not answer the question.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to look for, in a few words.' } },
    required: ['query'],
    additionalProperties: false,
  },
}

/** Most rounds of searches after the first search of an agentic answer, and most searches of one round. They bound cost and time. */
export const maximumToolRounds = 4
export const maximumCallsPerRound = 4
/** Longest query, UTF-16 units; a longer one is cut. */
const maximumQueryLength = 1_000

/** The query of a call; `problem` is the reply to the model where the call is not valid. */
export function readToolCall(call: ToolCall): { query: string } | { problem: string } {
  if (call.name !== searchToolName) {
    return { problem: `There is no such tool. The only tool is ${searchToolName}.` }
  }
  if (call.argumentsJson.length > maximumArgumentsLength) {
    return { problem: `The arguments are longer than ${maximumArgumentsLength} characters. Send a short query.` }
  }
  const parsed = parseArguments(call.argumentsJson)
  if (!parsed) return { problem: 'The arguments are not a JSON object. Send {"query": "…"}.' }
  if (typeof parsed.query !== 'string' || parsed.query.trim() === '') {
    return { problem: '`query` must be a text that is not empty.' }
  }
  return { query: parsed.query.slice(0, maximumQueryLength) }
}
