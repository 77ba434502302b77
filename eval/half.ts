/** A rule is fitted on one half of the data and measured on the other. */
export type Half = 'fitting' | 'held-out'

/** The article of a paragraph of XQuAD, which has five of each, whatever the language: `de-12` is of article 2. */
export function articleOf(id: string): string {
  return `article ${Math.floor(Number(id.replace(/^\D*/, '')) / 5)}`
}

/** Whether an item belongs to a half, by the document it is about. Undefined: all do. */
export function inHalf(document: string, half: Half | undefined): boolean {
  if (half === undefined) return true
  let hash = 7
  for (const character of document) hash = (hash * 31 + character.codePointAt(0)!) % 1_000_003
  return (hash % 2 === 0) === (half === 'fitting')
}
