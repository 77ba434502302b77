import type { ToolDefinition } from '../../providers/index.ts'
import type { Passage } from '../../retrieval/index.ts'
import type { AnswerCall, AnswerDependencies } from '../prepare-answer.ts'

/** What a tool of an agentic answer may use. The Space comes from the call, never from the arguments of the model. */
export interface ToolContext {
  dependencies: AnswerDependencies
  call: AnswerCall
}

/** One use of a tool whose arguments are valid. */
export interface ToolUse {
  /** What was asked, for the preview of a Space. */
  query: string
  run: (context: ToolContext) => Promise<ToolResult>
}

export interface ToolResult {
  /** Text of uploaded files. The model receives as many as fit, numbered and fenced. */
  passages: Passage[]
}

/** Something that the model may call during an answer. */
export interface Tool {
  definition: ToolDefinition
  /** The `source` of its `message_source` events. */
  source: string
  /** Reads untrusted arguments; `problem` is the reply to the model where they are not valid. */
  read: (given: Record<string, unknown>) => ToolUse | { problem: string }
}
