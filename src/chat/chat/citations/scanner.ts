import { type Bracket, judgeBracket, maximumContextLength, openingBrackets, type Verdict } from './brackets.ts'
import { type BlockState, maximumHeadLength, noBlocks, type PlainToken, readLineHead, type Token } from './line-head.ts'
import { maximumLinkLength } from './links.ts'
import { judgeEscape, judgeSign, markerSigns } from './other-markers.ts'

/** What the numbers and names of markers mean. */
export type MarkerRules = Pick<Bracket, 'resolve' | 'names'>

interface Line {
  /** Part of a code block: text as it is. */
  code: boolean
  startsBlock: boolean
  endsBlock: boolean
  /** Only the characters of a thematic break or a heading's underline so far. */
  onlyRuleCharacters: boolean
  /** Nothing of the line's own text has been read. */
  atContentStart: boolean
}

const plainPattern = /[^\\`[［【〔\n(（<¹²³⁴-⁹]+/y
/** Without one of these characters, further text does not complete a link or definition. */
const linkSignPattern = /[\s)<>"']/

/**
 * Finds citation markers in Markdown that arrives in pieces. The tokens do not depend on how the text is cut: a verdict waits for the
 * text that decides it, at most `maximumLinkLength` units. Time is linear in the text.
 */
export class Scanner {
  private readonly rules: MarkerRules
  private readonly emit: (token: Token) => void
  private buffer = ''
  private at = 0
  private blocks: BlockState = noBlocks
  /** null: at the beginning of a line. */
  private line: Line | null = null
  /** The run of backticks that may still grow. */
  private run: { length: number; escaped: boolean } | null = null
  /** The end of the line's text so far; empty after a marker. */
  private before = ''
  /** A possible link is incomplete. */
  private inLink = false

  constructor(rules: MarkerRules, emit: (token: Token) => void) {
    this.rules = rules
    this.emit = emit
  }

  push(piece: string) {
    this.buffer += piece
    if (this.inLink && this.buffer.length - this.at < maximumLinkLength && !linkSignPattern.test(piece)) return
    this.inLink = false
    this.drain(false)
  }

  end() {
    this.drain(true)
    if (this.run) this.endRun(this.run)
    this.emit({ type: 'boundary' })
  }

  private drain(atEnd: boolean) {
    while (this.at < this.buffer.length) {
      const { line } = this
      const advanced = line === null ? this.beginLine(atEnd) : line.code ? this.passCode() : this.step(line, atEnd)
      if (!advanced) break
    }
    this.buffer = this.buffer.slice(this.at)
    this.at = 0
  }

  private passText(end: number) {
    const text = this.buffer.slice(this.at, end)
    this.emit({ type: 'text', text })
    this.before = (this.before + text).slice(-maximumContextLength)
    this.at = end
  }

  private beginLine(atEnd: boolean): boolean {
    const window = this.buffer.slice(this.at, this.at + maximumHeadLength)
    const newline = window.indexOf('\n')
    const whole = newline !== -1 || window.length === maximumHeadLength || atEnd
    const head = readLineHead(newline === -1 ? window : window.slice(0, newline), whole, this.blocks)
    if (!head) return false
    if (head.startsBlock) this.emit({ type: 'boundary' })
    const { code, startsBlock, endsBlock } = head
    this.blocks = head.state
    this.line = { code, startsBlock, endsBlock, onlyRuleCharacters: true, atContentStart: true }
    if (head.contentAt > 0) this.passText(this.at + head.contentAt)
    this.before = ''
    return true
  }

  private passCode(): boolean {
    const newline = this.buffer.indexOf('\n', this.at)
    this.passText(newline === -1 ? this.buffer.length : newline + 1)
    if (newline !== -1) this.line = null
    return true
  }

  /** One piece of a line that is not code; false where more text is needed. */
  private step(line: Line, atEnd: boolean): boolean {
    const character = this.buffer[this.at]!
    if (character === '`') return this.passBackticks(line)
    if (this.run) this.endRun(this.run)
    if (character === '\n') return this.endLine(line)
    if (character === '\\') return this.passEscape(line, atEnd)
    if (openingBrackets.includes(character)) return this.passBracket(line, atEnd)
    if (markerSigns.includes(character)) return this.passSign(line, atEnd)
    plainPattern.lastIndex = this.at
    plainPattern.exec(this.buffer)
    const end = plainPattern.lastIndex
    line.onlyRuleCharacters &&= /^[-*_=\s]*$/.test(this.buffer.slice(this.at, end))
    line.atContentStart = false
    this.passText(end)
    return true
  }

  private endLine({ endsBlock, onlyRuleCharacters }: Line): boolean {
    this.passText(this.at + 1)
    // A line of dashes or the like ends a paragraph, as a rule or by making it a heading.
    if (onlyRuleCharacters) this.endParagraph()
    if (endsBlock || onlyRuleCharacters) this.emit({ type: 'boundary' })
    this.line = null
    return true
  }

  /** The characters of a run are emitted as they arrive; its length is known at its end. */
  private passBackticks(line: Line): boolean {
    line.atContentStart = line.onlyRuleCharacters = false
    let end = this.at
    while (this.buffer[end] === '`') end++
    this.run = { length: (this.run?.length ?? 0) + end - this.at, escaped: this.run?.escaped ?? false }
    this.passText(end)
    return true
  }

  private endRun({ length, escaped }: { length: number; escaped: boolean }) {
    this.run = null
    this.emit({ type: 'run', closes: length, opens: escaped ? length - 1 : length })
  }

  private passEscape(line: Line, atEnd: boolean): boolean {
    if (this.at + 1 === this.buffer.length && !atEnd) return false
    const { buffer: text, at, before } = this
    const verdict = judgeEscape({ text, at, atEnd, before, resolve: this.rules.resolve })
    if (verdict && verdict.type !== 'text') return this.take(line, verdict)
    line.atContentStart = line.onlyRuleCharacters = false
    const next = this.buffer[this.at + 1] ?? ''
    this.passText(this.at + (/[!-/:-@[-_{-~]/.test(next) ? 2 : 1))
    if (next === '`') this.run = { length: 1, escaped: true }
    return true
  }

  private passBracket(line: Line, atEnd: boolean): boolean {
    const { buffer: text, at, before, rules } = this
    const mayDefine = line.atContentStart && line.startsBlock
    return this.take(line, judgeBracket({ text, at, atEnd, before, mayDefine, ...rules }))
  }

  private passSign(line: Line, atEnd: boolean): boolean {
    const { buffer: text, at, before } = this
    return this.take(line, judgeSign({ text, at, atEnd, before, resolve: this.rules.resolve }))
  }

  private take(line: Line, verdict: Verdict): boolean {
    if (verdict.type === 'undecided') {
      this.inLink = verdict.inLink
      return false
    }
    line.atContentStart = line.onlyRuleCharacters = false
    const end = this.at + verdict.length
    if (verdict.type === 'marker') {
      this.emit({ type: 'marker', raw: this.buffer.slice(this.at, end), numbers: verdict.numbers })
      this.before = ''
      this.at = end
      return true
    }
    this.passText(end)
    // The line after a definition starts a block too.
    if (verdict.type === 'definition') this.endParagraph()
    return true
  }

  private endParagraph() {
    this.blocks = { ...this.blocks, paragraph: false }
  }
}

const maximumHeldLength = 16

const wrappers = String.raw`(?:[*_~^(（]{1,4}|<sup>)`
const leadPattern = new RegExp(String.raw`^[ \t]{0,8}(?:[*_~^(（]{0,4}|<(?:s(?:u(?:p>?)?)?)?)$`)
const joiner = '(?:[,;、，；&]|and|und|et|y|e|och|en|и|和)'
const joinerBegin = '(?:[,;、，；&]|a|an|and|u|un|und|e|et|y|o|oc|och|en|и|和)'
/** Text after a marker that may still belong to its row: the end of its emphasis, a comma, the next marker's emphasis. */
const trailPattern = new RegExp(
  String.raw`^(?:[*_~^)）]{0,4}|<(?:/(?:s(?:u(?:p>?)?)?)?)?)(?: {0,4}${joinerBegin}?)? {0,4}(?:[*_~^(（]{0,4}|<(?:s(?:u(?:p>?)?)?)?)$`,
)
const joinPattern = new RegExp(
  String.raw`^(?<close>[*_~^)）]{1,4}|</sup>)?(?: {0,4}${joiner})? {0,4}(?<open>${wrappers})?$`,
)
const closers: Record<string, string> = { '(': ')', '（': '）', '<sup>': '</sup>' }

/** A row of markers, with the text between them. */
interface Row {
  /** Spaces and opening signs before the first marker that no sign has closed yet. */
  spaces: string
  wrapper: string
  /** The row as the model wrote it. */
  tokens: PlainToken[]
  /** The numbers of each marker. */
  markers: number[][]
}

/**
 * The numbers to show for a row of markers; null: as they are. `rest`: the text after the row so far; it is empty only at the end.
 */
export type DecideRow = (numbers: readonly number[], rest: string) => readonly number[] | null

/** Most markers of one row; it bounds the text that is held back. */
const maximumRowMarkers = 32

/**
 * Finds rows of markers and replaces each by its decided numbers. A row without numbers is removed with the space before it, with
 * emphasis and parentheses that contain nothing else, and with the commas between its markers.
 */
export class MarkerRows {
  private readonly decide: DecideRow
  private readonly emit: (token: PlainToken) => void
  /** Text before a possible marker, or after a marker once `row` is set. */
  private held = ''
  private row: Row | null = null
  /** The last character that was emitted. */
  private last = '\n'

  constructor(decide: DecideRow, emit: (token: PlainToken) => void) {
    this.decide = decide
    this.emit = emit
  }

  take(token: PlainToken): void {
    if (token.type === 'text') this.takeText(token.text)
    else this.takeMarker(token)
  }

  end(): void {
    if (this.row) this.leaveRow(this.row)
    this.write(this.held)
    this.held = ''
  }

  private write(text: string): void {
    if (text === '') return
    this.last = text.at(-1)!
    this.emit({ type: 'text', text })
  }

  private takeText(text: string): void {
    for (let at = 0; at < text.length; at++) {
      if (this.held === '' && !this.row) {
        const plain = /[^ \t*_~^(（<]*/y
        plain.lastIndex = at
        const piece = plain.exec(text)![0]
        this.write(piece)
        at += piece.length
        if (at === text.length) break
      }
      this.held += text[at]!
      if (!this.row) this.writeDecided()
      else if (!trailPattern.test(this.held)) this.leaveRow(this.row)
    }
  }

  /** Writes the held text that can no longer be removed with a marker. */
  private writeDecided(): void {
    let start = 0
    while (!leadPattern.test(this.held.slice(start))) start++
    this.write(this.held.slice(0, start))
    this.held = this.held.slice(start)
  }

  private takeMarker(token: Extract<PlainToken, { type: 'marker' }>): void {
    const { row, held } = this
    if (!row) {
      const lead = splitLead(held)
      const tokens: PlainToken[] = held === '' ? [token] : [{ type: 'text', text: held }, token]
      this.row = { ...lead, tokens, markers: [token.numbers] }
      this.held = ''
      return
    }
    const join = joinPattern.exec(held)?.groups
    if (join && row.markers.length < maximumRowMarkers) {
      const { wrapper, rest } = unwrap(row.wrapper, join.close ?? '')
      const next = wrapper + (join.open ?? '')
      if (rest === '' && next.length <= maximumHeldLength) {
        row.wrapper = next
        if (held !== '') row.tokens.push({ type: 'text', text: held })
        row.tokens.push(token)
        row.markers.push(token.numbers)
        this.held = ''
        return
      }
    }
    this.leaveRow(row)
    this.takeMarker(token)
  }

  /** Writes what remains of a row of markers, and the text after it. */
  private leaveRow({ spaces, wrapper, tokens, markers }: Row): void {
    const rest = this.held
    this.row = null
    this.held = ''
    const numbers = markers.flat()
    // A marker without numbers names no passage that was given; it goes.
    const shown = this.decide(numbers, rest) ?? (markers.some((one) => one.length === 0) ? numbers : null)
    if (shown === null) {
      for (const token of tokens) this.emit(token)
      const text = tokens.at(-1)!
      this.last = text.type === 'text' ? text.text.at(-1)! : ']'
      return this.takeText(rest)
    }
    // The reader sees nothing, but a later stage knows that there was a marker.
    if (shown.length === 0 && numbers.length > 0) this.emit({ type: 'marker', raw: '', numbers: [] })
    this.replaceRow({ spaces, ...unwrap(wrapper, rest) }, shown)
  }

  private replaceRow(
    { spaces, wrapper, rest }: { spaces: string; wrapper: string; rest: string },
    shown: readonly number[],
  ) {
    if (shown.length > 0) {
      this.write(spaces + wrapper)
      this.emit({ type: 'marker', raw: '', numbers: [...shown] })
      this.last = ']'
      return this.takeText(rest)
    }
    if (wrapper !== '') this.write(spaces + wrapper)
    // The space before is removed, unless words would touch; at the beginning of a line or of an emphasis, the space after.
    if (wrapper !== '' || this.last === '\n') return this.takeText(rest.replace(/^ +/, ''))
    if (/^[\p{L}\p{N}]/u.test(rest)) this.write(spaces)
    this.takeText(rest)
  }
}

function splitLead(text: string): { spaces: string; wrapper: string } {
  const spaces = /^[ \t]*/.exec(text)![0]
  return { spaces, wrapper: text.slice(spaces.length) }
}

/** Removes, from the beginning of `text`, the signs that close those of `wrapper`, innermost first. */
function unwrap(wrapper: string, text: string): { wrapper: string; rest: string } {
  const signs = wrapper.match(/<sup>|./gu) ?? []
  let rest = text
  for (let sign = signs.at(-1); sign !== undefined && rest.startsWith(closers[sign] ?? sign); sign = signs.at(-1)) {
    rest = rest.slice((closers[sign] ?? sign).length)
    signs.pop()
  }
  return { wrapper: signs.join(''), rest }
}
