import type { ModelView } from '@contract/console-models.ts'

/** Tools that a provider runs, in the order of the page. */
export const toolKinds = ['web_search', 'web_fetch', 'code_execution', 'tool_search', 'mcp'] as const
export type ToolKind = (typeof toolKinds)[number]

type Deployment = Pick<ModelView['deploymentsList'][number], 'traits' | 'prices'>

/** The prices in force for each 1,000 uses of the tools that a deployment has; '': a tool without a price. */
export function toolPrices({ traits, prices }: Deployment): Partial<Record<ToolKind, string>> {
  const current = prices.find(({ phase }) => phase === 'current')?.perThousandUses
  const known = toolKinds.filter((kind) => traits.hostedTools?.includes(kind) || current?.[kind] !== undefined)
  return Object.fromEntries(known.map((kind) => [kind, current?.[kind] ?? '']))
}
