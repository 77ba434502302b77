/**
 * Finds a quote in the text of a pdf page. Both differ in white space, hyphens at line ends, ligatures and separators of cells, so only
 * letters and digits are compared. The result are ranges of UTF-16 units in the page's text.
 */

export interface TextRange {
  start: number
  end: number
}

/** Letters and digits that a part of a quote must have to be found on its own. */
const seedLength = 24
/** The same where the quote is known to continue on another page. */
const minimumOverlap = 8
/** A phrase that recurs more often on a page is too common to decide. */
const maximumOccurrences = 50
/** Characters that are compared to extend matches: a few milliseconds. */
const maximumWork = 1_000_000
/** Parts with at most this many letters between them are one range. */
const maximumGap = 12
/** A page has about 5,000; a longer text is a drawing or an attack. */
const maximumPageUnits = 100_000
const maximumQuoteUnits = 12_000

/** Where the quote is known to continue: it begins at the end of this page, or ends at its start. */
export type QuotePart = 'begins' | 'ends' | undefined

/** The whole quote where it is on the page, else its parts that are: a passage may continue on the next page. */
export function findQuote(pageText: string, quote: string, part?: QuotePart): TextRange[] {
  const page = normalise(pageText.slice(0, maximumPageUnits))
  const wanted = normalise(quote.slice(0, maximumQuoteUnits))
  if (wanted.text === '') return []
  const at = page.text.indexOf(wanted.text)
  if (at >= 0) return [toRange(page, at, at + wanted.text.length, pageText, trailingMarks(quote))]
  const border = findAtBorder(page.text, wanted.text, part)
  const parts = border ? [border] : findParts(page.text, wanted.text)
  return parts.map(({ start, end }) => toRange(page, start, end, pageText, ''))
}

interface Normalised {
  text: string
  /** For each unit of `text`, where its character is in the original. */
  origins: number[]
}

function normalise(original: string): Normalised {
  const parts: string[] = []
  const origins: number[] = []
  for (let unit = 0; unit < original.length;) {
    const character = String.fromCodePoint(original.codePointAt(unit)!)
    const plain = /[\p{L}\p{N}]/u.test(character) ? character.normalize('NFKC').toLowerCase() : ''
    for (let index = 0; index < plain.length; index++) origins.push(unit)
    parts.push(plain)
    unit += character.length
  }
  return { text: parts.join(''), origins }
}

/** A quote that begins at the end of the page, that ends at its start, or that covers all of it. */
function findAtBorder(page: string, wanted: string, part: QuotePart): TextRange | undefined {
  if (page.length >= seedLength && wanted.includes(page)) return { start: 0, end: page.length }
  const atEnd = part === 'ends' ? 0 : overlap(page, wanted)
  if (atEnd >= (part === 'begins' ? minimumOverlap : seedLength))
    return { start: page.length - atEnd, end: page.length }
  const atStart = part === 'begins' ? 0 : overlap(wanted, page)
  return atStart >= (part === 'ends' ? minimumOverlap : seedLength) ? { start: 0, end: atStart } : undefined
}

/** Length of the longest end of one text that is the beginning of the other, by the prefix function of Knuth, Morris and Pratt. */
function overlap(ending: string, beginning: string): number {
  const text = `${beginning}\0${ending.slice(-beginning.length)}`
  const lengths = new Uint32Array(text.length)
  for (let at = 1; at < text.length; at++) {
    let length = lengths[at - 1]!
    while (length > 0 && text[at] !== text[length]) length = lengths[length - 1]!
    lengths[at] = text[at] === text[length] ? length + 1 : 0
  }
  return lengths.at(-1)!
}

function occurrences(text: string, seed: string): number[] {
  const found: number[] = []
  if (seed.length < seedLength) return found
  for (let at = text.indexOf(seed); at >= 0 && found.length < maximumOccurrences; at = text.indexOf(seed, at + 1))
    found.push(at)
  return found
}

/** Greedy: the longest match of each seed that is found, extended to both sides as far as quote and page are equal. */
function findParts(page: string, wanted: string): TextRange[] {
  const found: TextRange[] = []
  let work = maximumWork
  for (let at = 0; at + seedLength <= wanted.length && work > 0;) {
    let best = { start: 0, length: 0 }
    for (const start of occurrences(page, wanted.slice(at, at + seedLength))) {
      const length = equalLength(page, start, wanted, at)
      work -= length
      if (length > best.length) best = { start, length }
    }
    if (best.length === 0) {
      at += seedLength / 2
      continue
    }
    let before = 0
    while (before < seedLength && before < at && page[best.start - before - 1] === wanted[at - before - 1]) before++
    found.push({ start: best.start - before, end: best.start + best.length })
    at += best.length
  }
  return join(found)
}

function equalLength(page: string, start: number, wanted: string, at: number): number {
  let length = 0
  while (at + length < wanted.length && page[start + length] === wanted[at + length]) length++
  return length
}

function join(found: TextRange[]): TextRange[] {
  const joined: TextRange[] = []
  for (const { start, end } of found.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1)
    if (last && start - last.end <= maximumGap) last.end = Math.max(last.end, end)
    else joined.push({ start, end })
  }
  return joined
}

/** The signs behind the last letter of a quote, without white space. */
function trailingMarks(quote: string): string {
  return /[^\p{L}\p{N}]*$/u.exec(quote.slice(-50))![0].replaceAll(/\s/g, '')
}

/** The range in the original, with the signs at the end that the quote has too. */
function toRange({ origins }: Normalised, from: number, to: number, pageText: string, marks: string): TextRange {
  const last = origins[to - 1]!
  let end = last + (pageText.codePointAt(last)! > 0xffff ? 2 : 1)
  for (const mark of marks) {
    const next = pageText.slice(end).search(/\S/)
    if (next < 0 || next > 2 || !pageText.startsWith(mark, end + next)) break
    end += next + mark.length
  }
  return { start: origins[from]!, end }
}
