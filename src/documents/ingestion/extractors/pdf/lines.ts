import { isMostlyRightToLeft, isReorderable, logicalOrder, visualOrder, withOrderedLigatures } from './bidi.ts'
import type { PdfPage } from './document.ts'
import { partingHyphen, PdfCharacters } from './character.ts'
import { isFootnoteMark, textOf } from './letters.ts'
import { toSegment, type Segment } from './segment.ts'
import { fromTheRight, verticalLines } from './vertical-text.ts'
import { narrowGap, splitAtGaps, wideGap, type Part } from './split-segments.ts'

export interface PageSegments {
  /** In the order of the content stream, in the frame of the page's main writing direction. */
  main: Segment[]
  /** The main writing direction in quarter turns against the clock. */
  turns: number
  /** Text that is turned or slanted against the main direction: axis labels, stamps, watermarks. */
  turned: Segment[]
}

/** Quarter turns of writing from the top down, whose next line is on the left. */
const downwards = 3

/** Splits a page's characters into segments. */
export function readSegments(page: PdfPage): PageSegments {
  const byTurn = new Map<number | null, Segment[]>()
  const vertical = new Set<Segment>()
  let previous: Segment | null = null
  let previousTurns: number | null = null
  const isPageRightToLeft = isMostlyRightToLeft(page.characters)
  for (const range of writtenLines(page.characters)) {
    const line = page.characters.slice(range.from, range.to)
    const turns = range.isVertical ? downwards : page.quarterTurns(range.from)
    const turned = turns === 0 || turns === null ? line : turn(line, turns)
    let first = true
    const parts = splitLine(turned, isPageRightToLeft)
    const last = parts.at(-1)
    for (const part of parts) {
      const segment = toSegment(part.characters, isPageRightToLeft)
      if (!segment) continue
      segment.bold = page.isBold(range.from + part.from) && page.isBold(range.from + part.to - 1)
      segment.hyphenated = range.hyphenated && part === last
      segment.hasNarrowGaps = part.hasNarrowGaps
      if (range.isVertical) vertical.add(segment)
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
  const down = byTurn.get(downwards)
  if (down && vertical.size > 0)
    byTurn.set(
      downwards,
      fromTheRight(down, (segment) => vertical.has(segment)),
    )
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

/** Lines, also those from the top down. */
function* writtenLines(characters: PdfCharacters): Generator<LineRange & { isVertical: boolean }> {
  for (const range of lineRanges(characters)) {
    const lines = verticalLines(characters.slice(range.from, range.to))
    if (lines === null) yield { ...range, isVertical: false }
    for (const { from, to } of lines ?? [])
      yield { from: range.from + from, to: range.from + to, hyphenated: false, isVertical: true }
  }
}

/** Lines as PDFium ends them, without the line ends. */
function* lineRanges(characters: PdfCharacters): Generator<LineRange> {
  let from = 0
  const end = (to: number, hyphenated: boolean): LineRange | null => {
    let last = to
    while (from < last && characters.isBlank(from)) from += 1
    while (last > from && characters.isBlank(last - 1)) last -= 1
    const parts = !hyphenated && last - from > 1 && isLineEndHyphen(characters.code(last - 1))
    if (parts) last -= 1
    return last > from ? { from, to: last, hyphenated: hyphenated || parts } : null
  }
  for (let index = 0; index < characters.length; index += 1) {
    const code = characters.code(index)
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

/** Turns boxes so that writing which goes in quarter turns on the page goes along x. */
function turn(characters: PdfCharacters, turns: number): PdfCharacters {
  const turned = characters.toArray().map((character) => {
    const { left, right, bottom, top } = character
    switch (turns) {
      case 1:
        return { ...character, left: bottom, right: top, bottom: -right, top: -left }
      case 2:
        return { ...character, left: -right, right: -left, bottom: -top, top: -bottom }
      default:
        return { ...character, left: -top, right: -bottom, bottom: left, top: right }
    }
  })
  return PdfCharacters.of(turned)
}

/** Splits a line at wide gaps, in reading order. `from` and `to` of right-to-left lines are those of the whole line. */
function splitLine(line: PdfCharacters, isPageRightToLeft: boolean): Part[] {
  const isMixed = isReorderable(line) || isInterleaved(line)
  const characters = isMixed ? visualOrder(withOrderedLigatures(line)) : line
  const parts = splitAtGaps(characters, isJustified(characters) ? Infinity : wideGap)
  if (!isMixed) return parts
  if (isPageRightToLeft || isMostlyRightToLeft(line)) parts.reverse()
  return parts.map((part) => ({ ...part, from: 0, to: line.length }))
}

/** A letter this far left of the one before it, in heights, was drawn out of order. */
const backwardJump = 0.5
/** Letters that are this close, in heights, are of one word; those that overlap by more were drawn over each other. */
const closeGap = 0.08
const tolerableOverlap = 0.12

/**
 * True for a line whose words are in pieces, because letters of another font were drawn behind all others: put in order from left to right, they
 * fit into the words.
 */
export function isInterleaved(line: PdfCharacters): boolean {
  if (!goesBack(line)) return false
  const letters = line.toArray().flatMap((character, at) => (line.isBlank(at) ? [] : [{ character, at }]))
  letters.sort((one, other) => one.character.left - other.character.left)
  let joined = 0
  for (let index = 1; index < letters.length; index += 1) {
    const one = letters[index - 1]!
    const other = letters[index]!
    const height = other.character.top - other.character.bottom
    const gap = other.character.left - one.character.right
    if (gap < -height * tolerableOverlap || one.character.right <= one.character.left) return false
    const areApart = Math.abs(other.at - one.at) > 1
    if (areApart && gap < height * closeGap && isOfWord(one.character) && isOfWord(other.character)) joined += 1
  }
  return joined > 0
}

/** Not a sign such as an arrow between the cells of a form. */
const isOfWord = ({ code }: { code: number }) => /[\p{L}\p{M}\p{N}]/u.test(String.fromCodePoint(code))

function goesBack(line: PdfCharacters): boolean {
  let previous = -Infinity
  for (let at = 0; at < line.length; at += 1) {
    if (line.isBlank(at)) continue
    const left = line.left(at)
    if (left < previous - (line.top(at) - line.bottom(at)) * backwardJump) return true
    previous = left
  }
  return false
}

/** Most by which the gaps of a justified line differ from the first one; those between columns depend on the words. */
const evenGaps = 0.06
/** Share of a line's words that begin in lower case where it is prose. */
const minimumProseWords = 0.6

/** True for a line of prose whose words are stretched evenly over a narrow column. */
function isJustified(line: PdfCharacters): boolean {
  let first = 0
  let gaps = 0
  let words = 0
  let lowerCase = 0
  let previous = -1
  for (let at = 0; at < line.length; at += 1) {
    if (line.isBlank(at)) continue
    const gap = previous === -1 ? Infinity : line.left(at) - line.right(previous)
    if (previous !== -1 && line.right(at) < line.left(previous)) return false
    if (gap > (line.top(at) - line.bottom(at)) * 0.2) {
      words += 1
      if (isLowerCase(line.code(at))) lowerCase += 1
      if (previous !== -1) {
        if (gaps === 0) first = gap
        else if (Math.abs(gap - first) > first * evenGaps) return false
        gaps += 1
      }
    }
    previous = at
  }
  return gaps >= 3 && lowerCase >= words * minimumProseWords
}

function isLowerCase(code: number): boolean {
  if (code <= 0x7a) return code >= 0x61
  return /\p{Ll}/u.test(String.fromCodePoint(Math.min(code, 0x10ffff)))
}

/** True when PDFium broke a line for a superscript or a change of font although the text continues at the same height. */
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
  return onRightToLeftPage === true || characters.hasRightToLeft()
}

function merge(target: Segment, addition: Segment) {
  const gap = Math.max(addition.left - target.right, target.left - addition.right)
  const isApart = gap > target.size * 0.12 || isFootnoteMark(target.characters, addition.characters)
  const between = isApart ? blankBetween(target, addition) : PdfCharacters.none
  const characters = target.characters.concat(between, addition.characters)
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

function blankBetween(before: Segment, after: Segment): PdfCharacters {
  const { bottom, top } = before
  return PdfCharacters.of([{ code: 0x20, generated: true, left: before.right, right: after.left, bottom, top }])
}
