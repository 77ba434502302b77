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
/** Parts with at most this many letters between them are one range. */
const maximumGap = 12
/** A page has about 5,000; a longer text is a drawing or an attack. */
const maximumPageUnits = 300_000
const maximumQuoteUnits = 20_000

/** The whole quote where it is on the page, else its parts that are: a passage may continue on the next page. */
export function findQuote(pageText: string, quote: string): TextRange[] {
  const page = normalise(pageText.slice(0, maximumPageUnits))
  const wanted = normalise(quote.slice(0, maximumQuoteUnits))
  if (wanted.text === '') return []
  const at = page.text.indexOf(wanted.text)
  if (at >= 0) return [toRange(page, at, at + wanted.text.length, pageText, trailingMarks(quote))]
  return findParts(page.text, wanted.text).map(({ start, end }) => toRange(page, start, end, pageText, ''))
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

/** Greedy: from each seed that is found, the match is extended as far as both are equal. */
function findParts(page: string, wanted: string): TextRange[] {
  const found: (TextRange & { wantedStart: number })[] = []
  for (let at = 0; at + seedLength <= wanted.length;) {
    const start = page.indexOf(wanted.slice(at, at + seedLength))
    if (start < 0) {
      at += seedLength / 2
      continue
    }
    let length = seedLength
    while (at + length < wanted.length && page[start + length] === wanted[at + length]) length++
    found.push({ start, end: start + length, wantedStart: at })
    at += length
  }
  return join(found)
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
