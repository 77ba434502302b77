import type { CitablePassage } from '../src/chat/chat/citations/citation-rewriter.ts'

/** A sentence of an answer and what it cites. */
export interface Statement {
  kind: 'true' | 'fabricated' | 'row' | 'negation' | 'computed' | 'miscomputed'
  /** Where it is from. */
  set: string
  text: string
  /** What the model has cited. */
  cited: CitablePassage[]
  /** What it is about, where the passages have no title. */
  document?: string
}

export const passage = (title: string, text: string, more: Partial<CitablePassage> = {}): CitablePassage => ({
  source: { documentId: `${title} ${text.length}`, title, url: null },
  title,
  headings: [],
  tableHeader: null,
  text,
  ...more,
})

/** A repeatable choice. */
export const pick = <Item>(items: readonly Item[], seed: number): Item | undefined =>
  items[(seed * 7919) % items.length]

/** The number with another digit, so that no passage has it. */
export function alter(number: string, cited: readonly CitablePassage[]): string {
  const digits = number.replaceAll(/\D/g, '')
  for (let add = 3; ; add += 4) {
    const altered = number.replace(/\d+/, (run) => String(Number(run) + add * (digits.length > 3 ? 13 : 1)))
    if (!cited.some(({ text }) => text.includes(altered.replace(/\D.*$/, '')))) return altered
  }
}
