import { invalid } from '../limits.ts'

/**
 * Opt-ins of `anthropic-beta` that are sent on. Not among them: what has another price than the catalogue's (fast mode, fallback models),
 * and what keeps state in the provider's account, which all organisations share (files, skills, batches, threads).
 */
const allowed: ReadonlySet<string> = new Set([
  'advanced-tool-use-2025-11-20',
  'claude-code-20250219',
  'code-execution-2025-05-22',
  'code-execution-2025-08-25',
  'compact-2026-01-12',
  'compact-2026-09-04',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mcp-client-2025-04-04',
  'mcp-client-2025-11-20',
  'model-context-window-exceeded-2025-08-26',
  'output-128k-2025-02-19',
  'output-300k-2026-03-24',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'prompt-caching-scope-2026-01-05',
  'search-results-2025-06-09',
  'structured-outputs-2025-11-13',
  'task-budgets-2026-03-13',
  'thinking-display-updates-2026-08-18',
  'thinking-token-count-2026-05-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
  'web-fetch-2025-09-10',
])

const maximumBetas = 64

/** The values of an `anthropic-beta` header: those to send on, and those to name in `x-ignored-params`. Throws AppError. */
export function parseBetas(header: string | undefined): { betas: string[]; ignored: string[] } {
  const names = new Set((header ?? '').split(',', maximumBetas + 1).map((name) => name.trim()))
  names.delete('')
  if (names.size > maximumBetas) throw invalid(['anthropic-beta'], `must have at most ${maximumBetas} values`)
  const betas = [...names].filter((name) => allowed.has(name))
  const ignored = [...names].filter((name) => !allowed.has(name)).map((name) => `anthropic-beta:${name.slice(0, 64)}`)
  return { betas, ignored }
}
