import type { HostedToolKind } from '../../platform/kernel/index.ts'

interface UsePriceRule {
  list: string
  models: RegExp
  /** US dollars per 1,000 uses. */
  prices: Partial<Record<HostedToolKind, string>>
  /** The provider's page. The amounts were compared on 2026-11-24 with pages of others that cite it, not with the page itself. */
  source: string
}

/**
 * Prices of tools that providers run, by price list; the community tables of the snapshot do not have them. A kind without a price is not
 * offered. Later rules win, kind by kind.
 */
const rules: readonly UsePriceRule[] = [
  {
    list: 'anthropic',
    models: /^claude-/,
    // Fetches and searches for tools cost their tokens only. Code is billed by the hour of a container, which no usage states.
    prices: { web_search: '10', web_fetch: '0', tool_search: '0', mcp: '0' },
    source: 'https://platform.claude.com/docs/en/about-claude/pricing#tool-use-pricing',
  },
  {
    list: 'openai',
    models: /^(gpt-|o[134])/,
    // A container of the smallest memory. Calls of MCP servers cost their tokens only.
    prices: { web_search: '10', code_execution: '30', mcp: '0' },
    source: 'https://platform.openai.com/docs/pricing#built-in-tools',
  },
  // Pages and code cost their tokens only.
  ...['gemini', 'vertex'].flatMap((list) => [
    {
      list,
      // An answer with searches.
      models: /^gemini-[12]/,
      prices: { web_search: '35', web_fetch: '0', code_execution: '0' },
      source: 'https://ai.google.dev/gemini-api/docs/pricing',
    },
    {
      list,
      // A query.
      models: /^gemini-([3-9]|\d\d)/,
      prices: { web_search: '14', web_fetch: '0', code_execution: '0' },
      source: 'https://ai.google.dev/gemini-api/docs/pricing',
    },
  ]),
]

export function listedUsePrices(list: string, model: string): Partial<Record<HostedToolKind, string>> {
  return Object.assign(
    {},
    ...rules.filter((rule) => rule.list === list && rule.models.test(model)).map(({ prices }) => prices),
  ) as Partial<Record<HostedToolKind, string>>
}
