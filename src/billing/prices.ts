/** Prices of a deployment. Pure: no clock, no database. */

/** attoUsd per token (see kernel/money.ts). A missing cache price is not free: the input price counts then. */
export interface TokenPrices {
  input: bigint
  output: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
  /** Where reasoning tokens cost something else than output. */
  reasoning?: bigint
}

export interface PriceSchedule {
  /** Names the list and its day, for the receipt: `snapshot 2026-08-01`, `operator 2026-11-21T10:00:00Z`. */
  source: string
  /** In force from this moment on, milliseconds since the epoch. */
  validFrom: number
  base: TokenPrices
  /** Ascending. A step with `abovePromptTokens` below the request's prompt tokens replaces the whole base for the whole request. */
  contextSteps: { abovePromptTokens: number; prices: TokenPrices }[]
}
