/** A call of a tool as the model wrote it. */
export interface ToolCall {
  id: string
  name: string
  argumentsJson: string
}

/** Longest arguments of a call, UTF-16 units. */
export const maximumArgumentsLength = 4_000

/** The arguments of a call; null where they are not a JSON object. */
export function parseArguments(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** The call as it is sent back to the model: providers reject unusual tool names, and arguments that are not a JSON object. */
export function toSentCall(call: ToolCall): ToolCall {
  const { id, name, argumentsJson } = call
  const isValid = argumentsJson.length <= maximumArgumentsLength && parseArguments(argumentsJson) !== null
  return {
    id,
    name: /^[a-zA-Z0-9_-]+$/.test(name) ? name : 'unknown_tool',
    argumentsJson: isValid ? argumentsJson : '{}',
  }
}
