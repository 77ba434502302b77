import type { ChunkBody } from '@contract/document-progress.ts'
import type { PassageAddress } from './routes.tsx'

/** The place that a document is shown at, with what is highlighted there. */
export interface PassageTarget {
  /** Pages from 1. */
  page: number | undefined
  pageTo: number | undefined
  /** For a pdf. */
  quote: string | undefined
  /** For texts: code points. */
  range: { from: number; to: number } | undefined
}

export function targetOfAddress({ page, from, to, quote }: PassageAddress): PassageTarget | undefined {
  if (page === undefined && from === undefined && quote === undefined) return undefined
  return {
    page,
    pageTo: page,
    quote,
    range: from === undefined ? undefined : { from, to: to ?? from + 1 },
  }
}

export function targetOfChunk({ pageFrom, pageTo, text, characterFrom, characterTo }: ChunkBody): PassageTarget {
  return {
    page: pageFrom ?? undefined,
    pageTo: pageTo ?? pageFrom ?? undefined,
    quote: text,
    range: { from: characterFrom, to: characterTo },
  }
}
