import type { Token } from './code-spans.ts'
import { isIndexed, maximumContextLength } from './index-expressions.ts'
import { type BlockState, maximumHeadLength, noBlocks, readLineHead } from './line-head.ts'
import { definitionEnd, linkEnd, maximumLinkLength } from './links.ts'
import {
  canBeMarker,
  closingBracketPattern,
  maximumMarkerLength,
  openingBrackets,
  readMarker,
} from './marker-grammar.ts'

/**
 * Finds citation markers in Markdown that arrives in pieces. Whatever the pieces are, the tokens join to the same text and markers:
 * a verdict waits until the text decides it, at most `maximumLinkLength` units. Time is linear in the text.
 */
export interface Scanner {
  push(text: string): void
  end(): void
}

type Verdict = { type: 'text'; length: number } | { type: 'marker'; length: number; numbers: number[] }

const plainPattern = /[^\\`[［【〔\n]+/y
/** Without one of these, more text of a link or definition changes no verdict. */
const linkSignPattern = /[\s)<>"']/
const stopPattern = /[\n`[［【〔]/
/** Arrays such as `[[1, 2], [3, 4]]` and `[1, [2]]`. */
const arrayPattern = /^[\d\s,;.+\-–[\]]*$/

/** `accepts` decides on the numbers of each text that has the form of a marker; those it refuses are text. */
export function createScanner(accepts: (numbers: readonly number[]) => boolean, emit: (token: Token) => void): Scanner {
  let buffer = ''
  let at = 0
  let blocks: BlockState = noBlocks
  /** null: at the beginning of a line. */
  let line: { code: boolean; endsBlock: boolean; ruler: boolean; startsBlock: boolean; contentAt: boolean } | null =
    null
  let run: { length: number; escaped: boolean } | null = null
  /** The end of what the line holds so far; empty after a marker. */
  let before = ''
  /** A possible link is incomplete. */
  let inLink = false

  function text(end: number) {
    const piece = buffer.slice(at, end)
    emit({ type: 'text', text: piece })
    before = (before + piece).slice(-maximumContextLength)
    at = end
  }

  function drain(atEnd: boolean) {
    while (at < buffer.length) {
      const advanced = line === null ? beginLine(atEnd) : line.code ? passCode() : step(line, atEnd)
      if (!advanced) break
    }
    buffer = buffer.slice(at)
    at = 0
  }

  function beginLine(atEnd: boolean): boolean {
    const window = buffer.slice(at, at + maximumHeadLength)
    const newline = window.indexOf('\n')
    const whole = newline !== -1 || window.length === maximumHeadLength || atEnd
    const head = readLineHead(newline === -1 ? window : window.slice(0, newline), whole, blocks)
    if (!head) return false
    if (head.startsBlock) emit({ type: 'boundary' })
    blocks = head.state
    before = ''
    line = { code: head.code, endsBlock: head.endsBlock, ruler: true, startsBlock: head.startsBlock, contentAt: true }
    if (head.contentAt > 0) text(at + head.contentAt)
    before = ''
    return true
  }

  function passCode(): boolean {
    const newline = buffer.indexOf('\n', at)
    text(newline === -1 ? buffer.length : newline + 1)
    if (newline !== -1) line = null
    return true
  }

  /** One piece of a line that is no code; false where more text is needed. */
  function step(current: NonNullable<typeof line>, atEnd: boolean): boolean {
    const character = buffer[at]!
    if (character === '`') return passBackticks(current)
    if (run) endRun()
    if (character === '\n') {
      endLine(current)
      return true
    }
    if (character === '\\') return passEscape(current, atEnd)
    if (openingBrackets.includes(character)) {
      const verdict = judge(current, atEnd)
      if (!verdict) return false
      pass(verdict)
      current.contentAt = current.ruler = false
      return true
    }
    plainPattern.lastIndex = at
    plainPattern.exec(buffer)
    current.ruler &&= /^[-*_=\s]*$/.test(buffer.slice(at, plainPattern.lastIndex))
    current.contentAt = false
    text(plainPattern.lastIndex)
    return true
  }

  function endLine({ endsBlock, ruler }: NonNullable<typeof line>) {
    text(at + 1)
    // A line of dashes or the like ends a paragraph, as a rule or by making it a heading.
    if (ruler) blocks = { ...blocks, paragraph: false }
    if (endsBlock || ruler) emit({ type: 'boundary' })
    line = null
  }

  /** A run's characters leave as they come; what it means is known at its end. */
  function passBackticks(current: NonNullable<typeof line>): boolean {
    current.contentAt = current.ruler = false
    let end = at
    while (buffer[end] === '`') end++
    run = { length: (run?.length ?? 0) + end - at, escaped: run?.escaped ?? false }
    text(end)
    return true
  }

  function endRun() {
    const { length, escaped } = run!
    run = null
    emit({ type: 'run', closes: length, opens: escaped ? length - 1 : length })
  }

  function passEscape(current: NonNullable<typeof line>, atEnd: boolean): boolean {
    if (at + 1 === buffer.length && !atEnd) return false
    current.contentAt = current.ruler = false
    const next = buffer[at + 1] ?? ''
    text(at + (/[!-/:-@[-_{-~]/.test(next) ? 2 : 1))
    if (next === '`') run = { length: 1, escaped: true }
    return true
  }

  function pass(verdict: Verdict) {
    if (verdict.type === 'text') return text(at + verdict.length)
    const raw = buffer.slice(at, at + verdict.length)
    emit({ type: 'marker', raw, numbers: verdict.numbers })
    before = ''
    at += verdict.length
  }

  /** What the bracket at the current place begins; null where more text is needed. */
  function judge(current: NonNullable<typeof line>, atEnd: boolean): Verdict | null {
    const window = buffer.slice(at, at + maximumMarkerLength)
    const whole = window.length === maximumMarkerLength || atEnd
    const bracket: Verdict = { type: 'text', length: 1 }
    const close = window.search(closingBracketPattern)
    const stop = window.slice(1).search(stopPattern) + 1
    if (stop > 0 && (close === -1 || stop < close)) {
      return openingBrackets.includes(window[stop]!) ? judgeNested(window, whole, atEnd) : bracket
    }
    if (close === -1) return whole || !canBeMarker(window.slice(1)) ? bracket : null
    const content = readMarker(window.slice(1, close))
    if (!content) return bracket
    const end = close + 1
    if (content.plain && window.startsWith('[')) {
      if (isIndexed(before)) return { type: 'text', length: end }
      const other = readOtherUse(end, current, atEnd)
      if (other === null) return null
      if (other > 0) return { type: 'text', length: other }
    }
    return accepts(content.numbers)
      ? { type: 'marker', length: end, numbers: content.numbers }
      : { type: 'text', length: end }
  }

  /** Length of the link, definition or assignment that the bracket of this length belongs to; 0: none; null: more text is needed. */
  function readOtherUse(length: number, current: NonNullable<typeof line>, atEnd: boolean): number | null {
    const window = buffer.slice(at, at + length + maximumLinkLength)
    const whole = window.length === length + maximumLinkLength || atEnd
    if (window.length === length) return atEnd ? 0 : null
    if (window[length] === '=') return /[\w$]$/.test(before) ? length : 0
    const defines = window[length] === ':' && current.contentAt && current.startsBlock
    if (window[length] !== '(' && !defines) return 0
    const end = defines ? definitionEnd(window, length, whole) : linkEnd(window, length, whole)
    inLink = end === null
    if (end === null) return null
    // The line after a definition starts a block too.
    if (defines && end > 0) blocks = { ...blocks, paragraph: false }
    return Math.max(end, 0)
  }

  /** Brackets in brackets: `[[1]]` is a marker, an array is text; of anything else the outer bracket is text. */
  function judgeNested(window: string, whole: boolean, atEnd: boolean): Verdict | null {
    const end = balancedEnd(window)
    if (end === 0) return whole ? { type: 'text', length: 1 } : null
    if (end === -1) return { type: 'text', length: 1 }
    const outer = window.slice(0, end)
    const inner = /^\[\[([^[\]［］【】〔〕]*)\]\]$/.exec(outer)?.[1]
    const content = inner === undefined ? null : readMarker(inner)
    if (!content) return { type: 'text', length: arrayPattern.test(outer) ? end : 1 }
    if (window.length === end && !atEnd) return null
    if (buffer[at + end] === '(') {
      const wide = buffer.slice(at, at + end + maximumLinkLength)
      const link = linkEnd(wide, end, wide.length === end + maximumLinkLength || atEnd)
      if (link === null) return null
      if (link > 0) return { type: 'text', length: link }
    }
    return accepts(content.numbers)
      ? { type: 'marker', length: end, numbers: content.numbers }
      : { type: 'text', length: end }
  }

  return {
    push(piece) {
      buffer += piece
      if (inLink && buffer.length - at < maximumLinkLength && !linkSignPattern.test(piece)) return
      inLink = false
      drain(false)
    },
    end() {
      drain(true)
      if (run) endRun()
      emit({ type: 'boundary' })
    },
  }
}

/** Deepest array that is recognised; deeper brackets are judged one by one. */
const maximumDepth = 3

/** The index after the bracket that closes the first one; 0: not in this text; -1: it is not closed on this line. */
function balancedEnd(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\n' || character === '`') return -1
    if (openingBrackets.includes(character) && ++depth > maximumDepth) return -1
    if (closingBracketPattern.test(character) && --depth === 0) return at + 1
  }
  return 0
}
