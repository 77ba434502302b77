import { readFileSync } from 'node:fs'

/**
 * The price snapshot shipped with the project: dated facts about models of the main providers, written by scripts/write-price-snapshot.ts
 * from three community tables (see snapshot/NOTICE.md). Prices are decimal US dollars per token, as text to keep every digit.
 */

export interface SnapshotPrices {
  input: string
  output: string
  cacheRead?: string
  cacheWrite?: string
  /** Of a write that the cache keeps for an hour. */
  cacheWriteHour?: string
  reasoning?: string
  /** Ascending; above `above` prompt tokens these prices apply to the whole request. */
  steps?: {
    above: number
    input: string
    output: string
    cacheRead?: string
    cacheWrite?: string
    cacheWriteHour?: string
  }[]
}

export interface SnapshotModel extends SnapshotPrices {
  /** Canonical id. */
  id: string
  /** The id on the wire, if it differs. */
  wire?: string
  aliases?: string[]
  kind?: 'embedding'
  contextTokens: number
  maxInputTokens?: number
  /** 0 for embedding models. */
  maxOutputTokens: number
  dimensions?: number
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  released?: string
  /** Day on which the provider switches it off, `YYYY-MM-DD`. */
  retires?: string
  deprecated?: true
  reasoningModel?: true
  /** Present if the model rejects temperature and top_p. */
  temperature?: false
  /** Prices that replace these from a date on, ascending. */
  later?: (SnapshotPrices & { date: string })[]
  /** If the tables disagree: which table's price this is, and the others' prices. */
  disagreement?: string
  /** What was changed or derived, and why. */
  note?: string
}

export interface PriceSnapshot {
  /** Day of the newest source table, `YYYY-MM-DD`. */
  date: string
  licence: string
  sources: { name: string; date: string; commit: string; licence: string }[]
  rules: string[]
  /** Price lists by name: `openai`, `openai-eu`, `azure`, `azure-eu`, … */
  lists: Record<string, { ownedBy: string; models: SnapshotModel[] }>
}

/** Reads the shipped snapshot once, at start (730 models in 2 ms). The first line is the head; each further line is a model. */
export function loadPriceSnapshot(): PriceSnapshot {
  const text = readFileSync(new URL('./snapshot/prices.jsonl', import.meta.url), 'utf8')
  const [head, ...rows] = text.trimEnd().split('\n')
  const { owners, ...facts } = JSON.parse(head!) as Omit<PriceSnapshot, 'lists'> & { owners: Record<string, string> }
  const lists: PriceSnapshot['lists'] = {}
  for (const [name, ownedBy] of Object.entries(owners)) lists[name] = { ownedBy, models: [] }
  for (const row of rows) {
    const { list, ...model } = JSON.parse(row) as SnapshotModel & { list: string }
    lists[list]!.models.push(model)
  }
  return { ...facts, lists }
}
