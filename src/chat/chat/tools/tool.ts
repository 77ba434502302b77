import type { z } from 'zod'
import { readValue } from '../../../contract/validation.ts'
import type { ToolDefinition } from '../../../gateway/providers/index.ts'
import type { Passage, ReadScope } from '../../../documents/retrieval/index.ts'
import type { GivenPassage } from '../context/prompt.ts'
import type { AnswerCall, AnswerDependencies } from '../port.ts'

/** What a tool of an agentic answer may use. The Space comes from the call, never from the arguments of the model. */
export interface ToolContext extends DocumentContext {
  dependencies: Pick<AnswerDependencies, 'retrieval' | 'documents' | 'tables' | 'now'>
  call: Pick<AnswerCall, 'organisation' | 'space' | 'filter'>
  /** The passages that the model has received, in the order of their numbers. */
  given: readonly GivenPassage[]
}

/** What tools need that read documents. */
export interface DocumentContext {
  dependencies: Pick<AnswerDependencies, 'documents' | 'tables'>
  scope: ReadScope
  /** Aborts when the client is gone or the time of the call is over. */
  signal: AbortSignal
}

/** One use of a tool whose arguments are valid. */
export interface ToolUse {
  /** What was asked, for the preview of a Space. */
  query: string
  run: (context: ToolContext) => Promise<ToolResult | ToolProblem>
}

/** What a tool gives to the model. Text of uploaded files, their names included, is in `passages` or `quoted`. */
export interface ToolResult {
  /** The model receives as many as fit, numbered and fenced, so that it can cite them. */
  passages: Passage[]
  /** Fenced without a number. */
  quoted?: string
  /** What another service returned; fenced apart from passages. */
  foreign?: string
  /** Written by Portico from numbers and the arguments alone. */
  note?: string
  /** `count` of the event; default: the number of passages. */
  count?: number
}

export interface ToolProblem {
  /** What is wrong, for the model; must not contain text of files. */
  problem: string
  /** Names of files that help to correct the call; fenced. */
  quoted?: string
  /** What another service reported; fenced. */
  foreign?: string
}

/** Something that the model may call during an answer. */
export interface Tool {
  definition: ToolDefinition
  /** The `source` of its `message_source` events. */
  source: string
  /** The `status` of events of successful calls. */
  status: 'RETRIEVED' | 'COMPUTED'
  /** A tool of the Space's own: another service runs it. */
  isOwn?: true
  /** Reads untrusted arguments; `problem` is the reply to the model where they are not valid. */
  read: (given: Record<string, unknown>) => ToolUse | { problem: string }
}

/** Makes `read` from a schema, which reports the field and the rule of a wrong argument. */
export function readWith<Schema extends z.ZodType>(
  schema: Schema,
  use: (given: z.output<Schema>) => ToolUse,
): Tool['read'] {
  return (given) => {
    const read = readValue(schema, given, 'the arguments')
    return 'value' in read ? use(read.value) : { problem: read.problem.message }
  }
}

/** The JSON schema of arguments; every provider accepts these keywords. */
export function objectSchema(properties: Record<string, object>, required: readonly string[] = []) {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}

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
