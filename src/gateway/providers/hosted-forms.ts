import type { HostedFamily, HostedTool, HostedToolLimits } from './hosted-tool.ts'
import { plainName } from './model-traits/index.ts'
import type { Adjustments } from './sampling.ts'

/** The families that can run a tool, its own first. */
export function familiesOf({ family, forms = {} }: HostedTool): string[] {
  return [family, ...Object.keys(forms)]
}

/** A hint for the size of results, which only OpenAI has. */
const sizeField = 'search_context_size'

/** The definitions of tools for hosts of one family; routing takes only hosts that can run each of them. */
export function definitionsFor(
  family: HostedFamily,
  tools: readonly HostedTool[],
  adjustments: Adjustments,
): Record<string, unknown>[] {
  return tools.flatMap((tool) => {
    if (tool.family === family) return [tool.definition]
    if (sizeField in tool.definition) adjustments.noteName(sizeField)
    const form = tool.forms?.[family]
    return form ? [form] : []
  })
}

/**
 * How often a model may read the prompt of a request at most. Gemini counts it once, and the results of all its tools together, which fit in
 * its context: https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function promptReads({ rounds }: HostedToolLimits, { baseModel }: { baseModel: string }): number {
  return plainName(baseModel).startsWith('gemini') ? Math.min(rounds, 2) : rounds
}
