import { type Bracket, judgeBracket, maximumContextLength, openingBrackets, type Verdict } from './brackets.ts'
import { type BlockState, maximumHeadLength, noBlocks, readLineHead, type Token } from './line-head.ts'
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
