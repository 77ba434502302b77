import type { ToolDefinition } from './port.ts'
import type { JsonObject } from './wire-json.ts'

/** Tools in OpenAI's form, which Cohere and Ollama accept too. */
export function toFunctionTools(tools: readonly ToolDefinition[], { keepsStrict = false } = {}): JsonObject[] {
  return tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: { name, description, parameters, ...(strict !== undefined && keepsStrict && { strict }) },
  }))
}
