import type { SpaceTool, ToolUse } from '../../space-tools/index.ts'
import type { AnswerCall, AnswerDependencies, AnswerModel } from '../port.ts'
import type { Tool, ToolProblem, ToolResult } from './tool.ts'

/** Characters of definitions for each token of the context of a model: about a quarter of the context. */
const charactersPerToken = 1

/** The tools of the Space's own that the answer may use, as far as the model has room for their definitions. */
export async function loadOwnTools(
  { loadOwnTools: load }: Pick<AnswerDependencies, 'loadOwnTools'>,
  { space, ownTools = 'all' }: { space: AnswerCall['space']; ownTools?: ToolUse | undefined },
  { contextTokens }: Pick<AnswerModel, 'contextTokens'>,
): Promise<SpaceTool[]> {
  return (await load?.(space, ownTools, contextTokens * charactersPerToken)) ?? []
}

/** Its server judges the arguments. What it returns has no passages, so that nothing of it can be cited. */
export function toTool({ name, description, parameters, call }: SpaceTool): Tool {
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
