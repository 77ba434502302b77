/** Kinds of tools that a provider runs during an answer. */
export const hostedToolKinds = ['web_search', 'web_fetch', 'code_execution', 'tool_search', 'mcp'] as const
