import type { Passage } from '../../retrieval/index.ts'
import type { ContextWindow } from '../context/context-window.ts'
import { fencePassages } from '../context/prompt.ts'
import { searchTool } from './search-tool.ts'
import type { Tool, ToolContext, ToolUse } from './tool.ts'
import { maximumArgumentsLength, parseArguments, type ToolCall } from './tool-call.ts'

/** Every tool of an agentic answer. */
const tools: readonly Tool[] = [searchTool]

export const toolDefinitions = tools.map(({ definition }) => definition)

/** Most rounds of calls after the first search of an agentic answer, and most calls of one round. They bound cost and time. */
export const maximumToolRounds = 4
const maximumCallsPerRound = 4

/** What one call gives to the model and to the reader of the answer. */
export interface ToolOutcome {
  toolCallId: string
  /** Reply to the model. */
  content: string
  /** The passages in it, in the order of their numbers. */
  passages: Passage[]
  source: string
  /** Null for a call that is not valid. */
  query: string | null
  startMs: number
}

export interface ToolRound extends ToolContext {
  window: ContextWindow
  boundary: string
  /** Number of the first new passage. */
  firstNumber: number
}

/** Runs the calls of one turn in their order. A call that is not valid gets a reply that states the problem. */
export async function* runToolCalls(
  toolCalls: readonly ToolCall[],
  round: ToolRound,
): AsyncGenerator<ToolOutcome, void, void> {
  let { firstNumber } = round
  for (const [index, toolCall] of toolCalls.entries()) {
    const startMs = performance.now()
    const { source, ...read } = readCall(toolCall)
    const { content, passages, query } =
      'problem' in read
        ? { content: read.problem, passages: [], query: null }
        : index >= maximumCallsPerRound
          ? { content: tooManyCalls, passages: [], query: null }
          : await run(read, { ...round, firstNumber })
    // The room for passages was taken when they were packed.
    if (passages.length === 0) await round.window.add(content)
    firstNumber += passages.length
    yield { toolCallId: toolCall.id, content, passages, source, query, startMs }
  }
}

const tooManyCalls = `Only ${maximumCallsPerRound} calls at a time are allowed. Repeat this one if needed.`

function readCall(call: ToolCall): (ToolUse | { problem: string }) & { source: string } {
  const tool = tools.find(({ definition }) => definition.name === call.name)
  if (!tool) {
    const names = toolDefinitions.map(({ name }) => name).join(', ')
    return { problem: `There is no such tool. The tools are: ${names}.`, source: searchTool.source }
  }
  return { ...readArguments(tool, call), source: tool.source }
}

function readArguments({ definition, read }: Tool, { argumentsJson }: ToolCall): ToolUse | { problem: string } {
  if (argumentsJson.length > maximumArgumentsLength) {
    return { problem: `The arguments are longer than ${maximumArgumentsLength} characters. Shorten them.` }
  }
  const parsed = parseArguments(argumentsJson)
  if (!parsed) {
    const fields = Object.keys(definition.parameters.properties as object).join(', ')
    return { problem: `The arguments are not a JSON object. Send an object with these fields: ${fields}.` }
  }
  return read(parsed)
}

async function run(use: ToolUse, { window, boundary, firstNumber, ...context }: ToolRound) {
  const found = await use.run(context)
  const passages = await window.pack(found.passages, firstNumber)
  const content = passages.length === 0 ? 'Nothing was found.' : fencePassages(passages, boundary, firstNumber)
  return { content, passages, query: use.query }
}
