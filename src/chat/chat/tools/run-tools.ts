import { AppError, runStep } from '../../../platform/kernel/index.ts'
import type { SpaceTool } from '../../space-tools/index.ts'
import type { ContextWindow } from '../context/context-window.ts'
import { fencePassages, fenceResult, fenceText, type GivenPassage } from '../context/prompt.ts'
import type { AnswerCall, AnswerDependencies, AnswerModel } from '../port.ts'
import { scopeOf } from '../find-passages.ts'
import { calculateTool } from './calculate-tool.ts'
import { dateTool } from './date-tool.ts'
import { findTool, listTool, openTool } from './document-tools.ts'
import { searchTool } from './search-tool.ts'
import { describeTablesTool, queryTablesTool } from './table-tools.ts'
import {
  maximumArgumentsLength,
  parseArguments,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolProblem,
  type ToolResult,
  type ToolUse,
} from './tool.ts'
import { type ToolBudget, toolLimits } from '../answer-calls.ts'

/** Every tool of Portico of an agentic answer. */
export const tools: readonly Tool[] = [
  searchTool,
  listTool,
  openTool,
  findTool,
  describeTablesTool,
  queryTablesTool,
  calculateTool,
  dateTool,
]

/** All tools of an answer. */
export const toolsOf = (own: readonly SpaceTool[]): Tool[] => [...tools, ...own.map(toTool)]

export const definitionsOf = (own: readonly SpaceTool[]) => toolsOf(own).map(({ definition }) => definition)

/** What one call gives to the model and to the reader of the answer. */
export interface ToolOutcome {
  toolCallId: string
  /** Reply to the model. */
  content: string
  /** The passages in it, in the order of their numbers. */
  passages: GivenPassage[]
  source: string
  status: Tool['status'] | 'FAILED'
  count: number
  /** Null for a call that is not valid. */
  query: string | null
  startMs: number
}

export interface ToolRound {
  /** Those of the answer. */
  tools: readonly Tool[]
  dependencies: AnswerDependencies
  call: AnswerCall
  window: ContextWindow
  boundary: string
  /** What the model has received; grows with the results. */
  passages: readonly GivenPassage[]
  /** Number of the first new passage. */
  firstNumber: number
  budget: ToolBudget
}

/** Runs the calls of one turn in their order. A call that is not valid or fails gets a reply that states the problem. */
export async function* runToolCalls(
  toolCalls: readonly ToolCall[],
  round: ToolRound,
): AsyncGenerator<ToolOutcome, void, void> {
  let { firstNumber } = round
  for (const [index, toolCall] of toolCalls.entries()) {
    const startMs = performance.now()
    const tool = round.tools.find(({ definition }) => definition.name === toolCall.name)
    const read = tool ? readArguments(tool, toolCall) : { problem: noSuchTool(round.tools) }
    const query = 'problem' in read ? null : read.query
    // The names of tools of a Space are those of a customer.
    const step = tool && round.dependencies.telemetry?.tool(tool.isOwn ? 'space_tool' : tool.definition.name)
    const given = 'problem' in read ? read : await runStep(step, () => runWithin(tool!, read, round, index))
    const made = 'problem' in given ? fail(given, round) : await compose(given, { ...round, firstNumber })
    round.budget.noteResult(made.content)
    // The room for passages was taken when they were packed.
    await round.window.add(made.added)
    firstNumber += made.passages.length
    const { content, passages, count } = made
    const status = 'problem' in given ? 'FAILED' : tool!.status
    yield {
      toolCallId: toolCall.id,
      content,
      passages,
      source: tool?.source ?? 'UNKNOWN_TOOL',
      status,
      count,
      query,
      startMs,
    }
  }
}

const noSuchTool = (all: readonly Tool[]) =>
  `There is no such tool. The tools are: ${all.map(({ definition }) => definition.name).join(', ')}.`

function readArguments({ definition, read }: Tool, { argumentsJson }: ToolCall): ToolUse | { problem: string } {
  if (argumentsJson.length > maximumArgumentsLength) {
    return { problem: `The arguments are longer than ${maximumArgumentsLength} characters. Shorten them.` }
  }
  const parsed = parseArguments(argumentsJson)
  if (parsed) return read(parsed)
  const fields = Object.keys((definition.parameters['properties'] as object | undefined) ?? {}).join(', ')
  return { problem: `The arguments are not a JSON object. Send an object with these fields: ${fields}.` }
}

/** Runs one use until a deadline, which is a problem for the model. Throws the reason of the context's signal, and what fails. */
export async function runUntil(
  deadline: AbortSignal,
  use: ToolUse,
  context: Omit<ToolContext, 'scope'>,
): Promise<ToolResult | ToolProblem> {
  try {
    const signal = AbortSignal.any([context.signal, deadline])
    return await use.run({ ...context, scope: scopeOf(context.call), signal })
  } catch (error) {
    context.signal.throwIfAborted()
    if (deadline.aborted) return { problem: 'The call took too long and was stopped. Try something simpler.' }
    throw error
  }
}

/** Runs one use within the limits of a call, of its round and of its answer. */
async function runWithin(
  { isOwn }: Tool,
  use: ToolUse,
  { dependencies, call, passages, budget }: ToolRound,
  index: number,
): Promise<ToolResult | ToolProblem> {
  if (index >= toolLimits.callsPerRound) {
    return { problem: `Only ${toolLimits.callsPerRound} calls at a time are allowed. Repeat this one if needed.` }
  }
  if (budget.isUsedUp()) return { problem: 'The limit of this answer is reached. Answer with what you have.' }
  if (isOwn && !budget.takeOwnUse()) {
    return {
      problem: `Only ${toolLimits.ownUses} uses of tools of other services are allowed. Answer with what you have.`,
    }
  }
  try {
    const context = { dependencies, call, given: passages, signal: call.signal }
    return await runUntil(budget.deadlineOfCall(), use, context)
  } catch (error) {
    call.signal.throwIfAborted()
    // A search may fail for reasons that another tool does not have.
    if (error instanceof AppError) return { problem: 'The call failed. Try something else.' }
    throw error
  }
}

function fail({ problem, quoted, foreign }: ToolProblem, { boundary }: ToolRound) {
  const content = [problem, quoted && fenceText(quoted, boundary), foreign && fenceResult(foreign, boundary)]
    .filter(Boolean)
    .join('\n')
  return { content, added: content, passages: [], count: 0 }
}

async function compose(given: ToolResult, { window, boundary, firstNumber }: ToolRound) {
  const { passages, omitted } = await window.pack(given.passages, firstNumber)
  const withoutRoom = [...omitted.values()].filter((reason) => reason !== 'repeat').length
  const added = [
    given.note,
    given.quoted && fenceText(given.quoted, boundary),
    given.foreign && fenceResult(given.foreign, boundary),
    withoutRoom > 0 && `There is room for ${given.passages.length - withoutRoom} of ${given.passages.length} passages.`,
  ]
    .filter(Boolean)
    .join('\n')
  const fenced = passages.length === 0 ? '' : fencePassages(passages, boundary, { firstNumber })
  const content = [added, fenced].filter((part) => part !== '').join('\n')
  return {
    content: content === '' ? 'Nothing was found.' : content,
    added: content === '' ? 'Nothing was found.' : added,
    passages,
    count: given.count ?? passages.length,
  }
}

/** Characters of definitions for each token of the context of a model: about a quarter of the context. */
const charactersPerToken = 1

/** The tools of the Space's own that the answer may use, as far as the model has room for their definitions. */
export async function loadOwnTools(
  { loadOwnTools: load }: Pick<AnswerDependencies, 'loadOwnTools'>,
  { space, ownTools = 'all' }: Pick<AnswerCall, 'space' | 'ownTools'>,
  { contextTokens }: Pick<AnswerModel, 'contextTokens'>,
): Promise<SpaceTool[]> {
  return (await load?.(space, ownTools, contextTokens * charactersPerToken)) ?? []
}

/** Its server judges the arguments. What it returns has no passages, so that nothing of it can be cited. */
function toTool({ name, description, parameters, call }: SpaceTool): Tool {
  return {
    definition: { name, description, parameters },
    source: 'SPACE_TOOL',
    status: 'RETRIEVED',
    isOwn: true,
    read: (given) => ({ query: name, run: async ({ signal }) => toResult(await call(given, signal)) }),
  }
}

function toResult(answer: Awaited<ReturnType<SpaceTool['call']>>): ToolResult | ToolProblem {
  if ('problem' in answer) {
    const { problem, quoted } = answer
    return quoted === undefined ? { problem } : { problem, foreign: quoted }
  }
  const { text, isCut } = answer
  if (text === '') return { passages: [], note: 'The service answered without content.', count: 1 }
  return {
    passages: [],
    foreign: text,
    count: 1,
    ...(isCut && { note: 'The result is longer; only its beginning follows.' }),
  }
}
