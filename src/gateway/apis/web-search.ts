import type { HostedFamily, HostedTool } from '../providers/index.ts'

/** What a client asks of a web search, whichever its API. */
export interface WebSearch {
  /** Where the user is, in the fields that OpenAI and Anthropic share: `{type: 'approximate', country, city …}`. */
  location?: Record<string, unknown>
  allowedDomains?: unknown
  blockedDomains?: unknown
  /** Most searches of the answer. */
  uses: number
}

type Forms = NonNullable<HostedTool['forms']>

/**
 * The search in the form of each family but that of the client's API. Gemini has neither a place of the user nor domains, and OpenAI no
 * blocked ones: a request with them has no form there. No form limits the searches of Gemini; see gemini/hosted-uses.ts.
 */
export function searchForms(family: HostedFamily, search: WebSearch): Pick<HostedTool, 'forms'> {
  const { location, allowedDomains, blockedDomains, uses } = search
  const isPlain = location === undefined && allowedDomains === undefined && blockedDomains === undefined
  const forms: Forms = {
    ...(blockedDomains === undefined && {
      openai: {
        type: 'web_search',
        ...(allowedDomains !== undefined && { filters: { allowed_domains: allowedDomains } }),
        ...(location && { user_location: location }),
      },
    }),
    anthropic: {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: uses,
      ...(allowedDomains !== undefined && { allowed_domains: allowedDomains }),
      ...(blockedDomains !== undefined && { blocked_domains: blockedDomains }),
      ...(location && { user_location: location }),
    },
    ...(isPlain && { gemini: { googleSearch: {} } }),
  }
  const { [family]: _own, ...others } = forms
  return { forms: others }
}
