import {
  hasRightToLeft,
  isMostlyRightToLeft,
  isReorderable,
  logicalOrder,
  plainLetters,
  visualOrder,
  withOrderedLigatures,
} from './bidi.ts'
import type { PdfCharacter, PdfPage } from './document.ts'
import type { PdfTable } from './tables/table.ts'

/** A stretch of text on one line without a wide gap in it, in the frame of its own writing: x along the line, y upwards. */
export interface Segment {
  text: string
  left: number
  right: number
  bottom: number
  top: number
  /** Height of its usual character box: the measure of the font size. */
  size: number
  bold: boolean
  /** True when the line ends in a hyphen that parts a word. */
  hyphenated: boolean
  /** What it was made of, so that it can be parted where a table's columns turn out to be. */
  characters: PdfCharacter[]
  /** True where it holds gaps that may part the columns of a narrow table. */
  hasNarrowGaps: boolean
  /** True on a page whose text is mostly written from right to left. */
  onRightToLeftPage?: boolean
  /** Set where it stands for a whole table. */
  table?: PdfTable
}

export interface PageSegments {
  /** In the order of the content stream, in the frame of the page's main writing direction. */
  main: Segment[]
  /** The main writing direction in quarter turns against the clock. */
  turns: number
  /** Text that is turned or slanted against the main direction: axis labels, stamps, watermarks. */
  turned: Segment[]
}

/** PDFium's mark for a hyphen that it takes for a parting of a word at the line's end. */
const partingHyphen = 0x02
/** A gap of this many character heights parts columns or table cells; blanks in justified text stay below it. */
const wideGap = 1.25
/** Gaps between the columns of a narrow table can be as small as this; the widest blanks of justified text are as large. */
const narrowGap = 0.65

/** Parts a page's characters into segments. */
export function readSegments(page: PdfPage): PageSegments {
  const byTurn = new Map<number | null, Segment[]>()
  let previous: Segment | null = null
  let previousTurns: number | null = null
  const isPageRightToLeft = isMostlyRightToLeft(page.characters)
  for (const range of lineRanges(page.characters)) {
    const turns = page.quarterTurns(range.from)
    const line = page.characters.slice(range.from, range.to)
    const turned = turns === 0 || turns === null ? line : line.map((character) => turn(character, turns))
    let first = true
    for (const [index, part, parts] of splitLine(turned, isPageRightToLeft)) {
      const segment = toSegment(part.characters, isPageRightToLeft)
      if (!segment) continue
      segment.bold = page.isBold(range.from + part.from) && page.isBold(range.from + part.to - 1)
      segment.hyphenated = range.hyphenated && index === parts.length - 1
      segment.hasNarrowGaps = part.hasNarrowGaps
      if (first && previous && previousTurns === turns && continues(previous, segment)) merge(previous, segment)
      else {
        const list = byTurn.get(turns) ?? []
        list.push(segment)
        byTurn.set(turns, list)
        previous = segment
        previousTurns = turns
      }
      first = false
    }
  }
  return partByDirection(byTurn)
}

function partByDirection(byTurn: Map<number | null, Segment[]>): PageSegments {
  let mainTurns = 0
  let most = -1
  for (const [turns, segments] of byTurn) {
    const characters = segments.reduce((sum, segment) => sum + segment.text.length, 0)
    if (turns !== null && characters > most) {
      most = characters
      mainTurns = turns
    }
  }
  const turned = [...byTurn].filter(([turns]) => turns !== mainTurns).flatMap(([, segments]) => segments)
  return { main: byTurn.get(mainTurns) ?? [], turns: mainTurns, turned }
}

interface LineRange {
  from: number
  to: number
  hyphenated: boolean
}

/** Lines as PDFium ends them, without the line ends. */
function* lineRanges(characters: PdfCharacter[]): Generator<LineRange> {
  let from = 0
  const end = (to: number, hyphenated: boolean): LineRange | null => {
    let last = to
    while (from < last && isBlank(characters[from]!)) from += 1
    while (last > from && isBlank(characters[last - 1]!)) last -= 1
    const parts = !hyphenated && last - from > 1 && isLineEndHyphen(characters[last - 1]!.code)
    if (parts) last -= 1
    return last > from ? { from, to: last, hyphenated: hyphenated || parts } : null
  }
  for (let index = 0; index < characters.length; index += 1) {
    const { code } = characters[index]!
    const hyphen = code === partingHyphen || code === 0xfffe
    if (code !== 0x0a && code !== 0x0d && !hyphen) continue
    const range = end(index, hyphen)
    if (range) yield range
    from = index + 1
  }
  const range = end(characters.length, false)
  if (range) yield range
}

/** Hyphens that PDFium does not recognise at a line's end: the hyphen of typesetters and the soft hyphen. */
function isLineEndHyphen(code: number): boolean {
  return code === 0x2010 || code === 0xad
}

function isBlank(character: PdfCharacter): boolean {
  return character.code === 0x20 || character.code === 0x09 || character.code === 0xa0 || character.code === 0
}

/** Turns a box so that writing which goes in quarter turns on the page goes along x. */
function turn(character: PdfCharacter, turns: number): PdfCharacter {
  const { left, right, bottom, top } = character
  switch (turns) {
    case 1:
      return { ...character, left: bottom, right: top, bottom: -right, top: -left }
    case 2:
      return { ...character, left: -right, right: -left, bottom: -top, top: -bottom }
    case 3:
      return { ...character, left: -top, right: -bottom, bottom: left, top: right }
    default:
      return character
  }
}

/** Parts a line at wide gaps, in reading order. `from` and `to` of right-to-left lines are those of the whole line. */
function* splitLine(line: PdfCharacter[], isPageRightToLeft: boolean): Generator<[number, Part, Part[]]> {
  const isMixed = isReorderable(line)
  const characters = isMixed ? visualOrder(withOrderedLigatures(line)) : line
  const parts = splitAtGaps(characters, isJustified(characters) ? Infinity : wideGap)
  if (isMixed && (isPageRightToLeft || isMostlyRightToLeft(line))) parts.reverse()
  for (const [index, part] of parts.entries())
    yield [index, isMixed ? { ...part, from: 0, to: line.length } : part, parts]
}

/** Most by which the gaps of a justified line differ from the first one; those between columns depend on the words. */
const evenGaps = 0.06
/** Share of a line's words that begin in lower case where it is prose. */
const minimumProseWords = 0.6

/** True for a line of prose whose words are stretched evenly over a narrow column. */
function isJustified(line: PdfCharacter[]): boolean {
  let first = 0
  let gaps = 0
  let words = 0
  let lowerCase = 0
  let previous: PdfCharacter | null = null
  for (const character of line) {
    if (isBlank(character)) continue
    const gap = previous ? character.left - previous.right : Infinity
    if (previous && character.right < previous.left) return false
    if (gap > (character.top - character.bottom) * 0.2) {
      words += 1
      if (character.code >= 0x61 && /\p{Ll}/u.test(String.fromCodePoint(Math.min(character.code, 0x10ffff))))
        lowerCase += 1
      if (previous) {
        if (gaps === 0) first = gap
        else if (Math.abs(gap - first) > first * evenGaps) return false
        gaps += 1
      }
    }
    previous = character
  }
  return gaps >= 3 && lowerCase >= words * minimumProseWords
}

interface Part {
  characters: PdfCharacter[]
  hasNarrowGaps: boolean
  from: number
  to: number
}

/** Parts characters where a gap is more than `share` of their height. */
function splitAtGaps(characters: PdfCharacter[], share: number): Part[] {
  const parts: Part[] = []
  let from = 0
  let previous: PdfCharacter | null = null
  let hasNarrowGaps = false
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index]!
    if (isBlank(character)) continue
    if (previous) {
      const height = Math.max(character.top - character.bottom, previous.top - previous.bottom)
      const gap = Math.max(character.left - previous.right, previous.left - character.right)
      if (gap > share * height && height > 0) {
        parts.push(trimPart(characters, from, index, hasNarrowGaps))
        from = index
        hasNarrowGaps = false
      } else if (gap > narrowGap * height) hasNarrowGaps = true
    }
    previous = character
  }
  parts.push(trimPart(characters, from, characters.length, hasNarrowGaps))
  return parts
}

function trimPart(characters: PdfCharacter[], from: number, to: number, hasNarrowGaps: boolean): Part {
  let last = to
  while (last > from + 1 && isBlank(characters[last - 1]!)) last -= 1
  const isWhole = from === 0 && last === characters.length
  return { characters: isWhole ? characters : characters.slice(from, last), from, to: last, hasNarrowGaps }
}

function toSegment(given: PdfCharacter[], onRightToLeftPage = false): Segment | null {
  const characters = logicalOrder(given, onRightToLeftPage)
  let left = Infinity
  let right = -Infinity
  let bottom = Infinity
  let top = -Infinity
  const heights: number[] = []
  for (const character of characters) {
    if (isBlank(character)) continue
    left = Math.min(left, character.left)
    right = Math.max(right, character.right)
    bottom = Math.min(bottom, character.bottom)
    top = Math.max(top, character.top)
    heights.push(character.top - character.bottom)
  }
  if (left === Infinity) return null
  const text = textOf(joinSpacedLetters(characters))
  return {
    text,
    left,
    right,
    bottom,
    top,
    size: usualHeight(heights),
    bold: false,
    hyphenated: false,
    hasNarrowGaps: false,
    onRightToLeftPage,
    characters,
  }
}

/** The median, to a quarter of a unit; most lines have only one height. */
function usualHeight(heights: number[]): number {
  const first = heights[0]!
  const isUniform = heights.every((height) => Math.abs(height - first) < 0.1)
  const usual = isUniform ? first : heights.sort((one, other) => one - other)[Math.floor(heights.length / 2)]!
  return Math.round(usual * 4) / 4
}

function textOf(characters: PdfCharacter[]): string {
  let text = ''
  let isAscii = true
  for (const { code } of characters) {
    if (code > 0x7e) isAscii = false
    // Codes come as UTF-16 units or whole code points, depending on the font's map.
    if (code <= 0xffff) text += String.fromCharCode(code)
    else if (code <= 0x10ffff) text += String.fromCodePoint(code)
  }
  return isAscii ? text : plainLetters(composeAccents(text))
}

/** Accents that fonts without accented letters (older TeX) set as signs of their own in front of the letter. */
const combiningAccents: Record<string, string> = {
  '´': '\u0301',
  ˆ: '\u0302',
  '˜': '\u0303',
  '¨': '\u0308',
  '˚': '\u030a',
  ˇ: '\u030c',
}

function composeAccents(text: string): string {
  return text.replace(/(?<=\p{L})([´ˆ˜¨˚ˇ])(\p{L})/gu, (pair, accent: string, letter: string) => {
    const composed = `${letter.replace('ı', 'i').replace('ȷ', 'j')}${combiningAccents[accent]}`.normalize('NFC')
    return composed.length === 1 ? composed : pair
  })
}

/**
 * Letter-spaced words (`C H A P T E R`): PDFium adds a blank between all letters. A run of four or more single letters at even
 * distances is one word; a clearly wider gap inside it is the blank between two words.
 */
function joinSpacedLetters(characters: PdfCharacter[]): PdfCharacter[] {
  if (!hasSpacedLetters(characters)) return characters
  const isLetter = (character: PdfCharacter | undefined) =>
    character !== undefined && /\p{L}/u.test(String.fromCodePoint(Math.min(character.code, 0x10ffff)))
  const dropped = new Set<number>()
  let index = 0
  while (index < characters.length) {
    let end = index
    const blanks: { at: number; gap: number; height: number }[] = []
    while (isLetter(characters[end]) && characters[end + 1]?.generated && isLetter(characters[end + 2])) {
      const one = characters[end]!
      const other = characters[end + 2]!
      const gap = Math.max(other.left - one.right, one.left - other.right)
      blanks.push({ at: end + 1, gap, height: one.top - one.bottom })
      end += 2
    }
    if (blanks.length >= 3 && (end + 1 >= characters.length || isBlank(characters[end + 1]!))) {
      const typical = blanks.map(({ gap }) => gap).sort((one, other) => one - other)[Math.floor(blanks.length / 2)]!
      for (const { at, gap, height } of blanks) if (gap <= typical * 1.5 && gap < height * 0.6) dropped.add(at)
    }
    index = end + 1
  }
  return dropped.size === 0 ? characters : characters.filter((_, at) => !dropped.has(at))
}

/** A quick look for three added blanks at every other place, since hardly any line is spaced out. */
function hasSpacedLetters(characters: PdfCharacter[]): boolean {
  for (let index = 1; index + 4 < characters.length; index += 1)
    if (characters[index]!.generated && characters[index + 2]!.generated && characters[index + 4]!.generated)
      return true
  return false
}

/** True when PDFium broke a line for a superscript or a change of font although the text goes on at the same height. */
function continues(previous: Segment, next: Segment): boolean {
  if (previous.hyphenated) return false
  const overlap = Math.min(previous.top, next.top) - Math.max(previous.bottom, next.bottom)
  const lower = Math.min(previous.top - previous.bottom, next.top - next.bottom)
  if (overlap <= lower * 0.6) return false
  const gaps = [next.left - previous.right]
  if (isRightToLeft(previous) || isRightToLeft(next)) gaps.push(previous.left - next.right)
  return gaps.some((gap) => gap < previous.size * 0.8 && gap > -previous.size * 0.3)
}

function isRightToLeft({ onRightToLeftPage, characters }: Segment): boolean {
  return onRightToLeftPage === true || hasRightToLeft(characters)
}

function merge(target: Segment, addition: Segment) {
  const gap = Math.max(addition.left - target.right, target.left - addition.right)
  const isApart = gap > target.size * 0.12
  const characters = target.characters.concat(isApart ? blankBetween(target, addition) : [], addition.characters)
  if (isReorderable(characters)) {
    target.characters = logicalOrder(characters, target.onRightToLeftPage === true)
    target.text = textOf(target.characters)
  } else {
    target.text += isApart ? ` ${addition.text}` : addition.text
    target.characters = characters
  }
  target.left = Math.min(target.left, addition.left)
  target.right = Math.max(target.right, addition.right)
  target.bottom = Math.min(target.bottom, addition.bottom)
  target.top = Math.max(target.top, addition.top)
  if (addition.text.length > target.text.length / 2) target.size = addition.size
  target.bold &&= addition.bold
  target.hasNarrowGaps ||= addition.hasNarrowGaps || gap > target.size * narrowGap
  target.hyphenated = addition.hyphenated
}

function blankBetween(before: Segment, after: Segment): PdfCharacter {
  const { bottom, top } = before
  return { code: 0x20, generated: true, left: before.right, right: after.left, bottom, top }
}

/** True for pieces of text at one height. */
export function isBeside(one: Segment, other: Segment): boolean {
  const overlap = Math.min(one.top, other.top) - Math.max(one.bottom, other.bottom)
  return overlap > Math.min(one.top - one.bottom, other.top - other.bottom) * 0.6
}

/**
 * Parts a segment between words: all words for which `place` gives the same number, one after the other, stay together. Null
 * where they all do.
 */
export function splitSegment(
  segment: Segment,
  place: (word: { left: number; right: number }) => number,
): Segment[] | null {
  const { characters } = segment
  const parts: { from: number; to: number; place: number }[] = []
  for (const word of wordRanges(characters)) {
    let left = Infinity
    let right = -Infinity
    for (let index = word.from; index < word.to; index += 1) {
      left = Math.min(left, characters[index]!.left)
      right = Math.max(right, characters[index]!.right)
    }
    const at = place({ left, right })
    const last = parts.at(-1)
    if (last?.place === at) last.to = word.to
    else parts.push({ ...word, place: at })
  }
  return parts.length < 2 ? null : partsOf(segment, parts)
}

/** Parts a segment at gaps that are narrower than those which parted it from its neighbours; null where it has none. */
export function splitAtNarrowGaps(segment: Segment): Segment[] | null {
  if (!segment.hasNarrowGaps) return null
  if (!isReorderable(segment.characters)) {
    const parts = splitAtGaps(segment.characters, narrowGap)
    return parts.length < 2 ? null : partsOf(segment, parts)
  }
  const characters = visualOrder(segment.characters)
  const parts = splitAtGaps(characters, narrowGap)
  return parts.length < 2 ? null : partsOf({ ...segment, characters }, parts)
}

function partsOf(segment: Segment, parts: { from: number; to: number }[]): Segment[] {
  return parts.flatMap(({ from, to }, index) => {
    const part = toSegment(segment.characters.slice(from, to), segment.onRightToLeftPage)
    if (!part) return []
    part.bold = segment.bold
    part.hyphenated = segment.hyphenated && index === parts.length - 1
    return [part]
  })
}

function* wordRanges(characters: PdfCharacter[]): Generator<{ from: number; to: number }> {
  let from = 0
  for (let index = 0; index <= characters.length; index += 1) {
    if (index < characters.length && !isBlank(characters[index]!)) continue
    if (index > from) yield { from, to: index }
    from = index + 1
  }
}
