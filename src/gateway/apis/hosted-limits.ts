import type { HostedToolKind } from '../../platform/kernel/index.ts'
import type { HostedToolLimits } from '../providers/index.ts'

/** The limit of calls that is sent if the client has none. */
export const usualToolCalls = 10
/** The code of one answer runs in one container. */
export const containersPerAnswer = 1

/**
 * Bounds of a request to the Responses API with a limit of calls, which holds for all its tools together. Calls beyond it are ignored, so
 * the model reads the prompt once more than it has calls: https://platform.openai.com/docs/api-reference/responses/create
 */
export function limitsOfCalls(kinds: readonly HostedToolKind[], maxToolCalls: number): HostedToolLimits {
  const counted = [...new Set(kinds)].filter((kind) => kind !== 'code_execution')
  return {
    uses: [
      ...(counted.length > 0 ? [{ kinds: counted, most: maxToolCalls }] : []),
      ...(kinds.includes('code_execution') ? [{ kinds: ['code_execution' as const], most: containersPerAnswer }] : []),
    ],
    unlimited: [],
    rounds: maxToolCalls + 1,
    maxToolCalls,
  }
}
