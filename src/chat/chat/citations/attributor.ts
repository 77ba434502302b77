import { splitSentences } from '../../../platform/language/index.ts'
import type { PlainToken } from './line-head.ts'
import { createLineState } from './line-state.ts'

/** White space after a possible end of a sentence that waits for what follows, UTF-16 units. */
const maximumHeld = 64
/** Longer sentences get no marker, and shorter ones state nothing specific, UTF-16 units. */
const maximumSentence = 600
const minimumSentence = 15
/** Of scripts whose words have one or two characters. */
const minimumDenseSentence = 8
const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

const spacelessStops = '。！？｡।॥؟۔։።။'
const stops = `.!?…${spacelessStops}`
const closers = `"'”’»)\\]*_~」』）》`
const plainPattern = new RegExp(`[^\\s${stops}${closers}]+`, 'uy')
const stopped = new RegExp(`[${stops}]{1,8}[${closers}]{0,6}$`, 'u')
const stoppedWithoutSpace = new RegExp(`[${spacelessStops}][${closers}]{0,6}$`, 'u')
const endSign = new RegExp(`[${stops}${closers}]`, 'u')
const question = new RegExp(`[?？؟:][${closers}]{0,6}$`, 'u')
/** UTF-16 units that show a stop with its closing signs, and whether it ends a sentence. */
const tailUnits = 16
const contextUnits = 120

/**
 * Adds ` [n]` after the end of a sentence without a marker, where `find` knows the passage with number n that supports it. Code, headings,
 * tables, formulas, questions, and lines without a stop that are no list items get none. The result does not depend on how the text is
 * cut: only white space is held back, until the next character. Time is linear in the text, apart from `find`.
 */
export class Attributor {
  private readonly find: (sentence: string) => number | null
  private readonly emit: (token: PlainToken) => void
  private readonly line = createLineState()
  private sentence = ''
  private tail = ''
  /** The sentence has a marker, or had one that was removed. */
  private isCited = false
  /** It begins outside of code spans, links and formulas. */
  private isPlainStart = true
  private held = ''

  constructor(find: (sentence: string) => number | null, emit: (token: PlainToken) => void) {
    this.find = find
    this.emit = emit
  }

  /** A marker without numbers stands for a row whose markers were all removed. */
  take(token: PlainToken): void {
    if (token.type === 'text') return this.takeText(token.text)
    if (this.held !== '' || stoppedWithoutSpace.test(this.tail)) this.decide(null)
    else this.isCited = true
    if (token.numbers.length > 0) this.emit(token)
  }

  end(): void {
    this.decide('')
  }

  private takeText(text: string): void {
    for (let at = 0; at < text.length;) {
      const character = text[at]!
      const isWhite = /\s/.test(character)
      if (isWhite && this.mayHold(character)) {
        this.held += character
        at++
        continue
      }
      if (this.held !== '' || (!endSign.test(character) && stoppedWithoutSpace.test(this.tail)))
        this.decide(String.fromCodePoint(text.codePointAt(at)!))
      plainPattern.lastIndex = at
      const piece = plainPattern.exec(text)?.[0] ?? character
      this.append(piece)
      at += piece.length
    }
  }

  private mayHold(white: string): boolean {
    return this.held.length < maximumHeld && (this.held !== '' || white === '\n' || stopped.test(this.tail))
  }

  private append(text: string): void {
    if (text === '') return
    this.emit({ type: 'text', text })
    this.line.push(text)
    if (this.sentence.length <= maximumSentence) this.sentence += text
    this.tail = (this.tail + text).slice(-tailUnits)
  }

  /** `next`: the character after the white space; null for a marker; empty at the end of the text. */
  private decide(next: string | null): void {
    const white = this.held
    this.held = ''
    const isLineEnd = next === '' || white.includes('\n')
    if (next === null) this.isCited = true
    else if (!isLineEnd && !stoppedWithoutSpace.test(this.tail) && !this.isSentenceEnd(white + next))
      return this.append(white)
    const number = this.isCited || !this.isEligible(isLineEnd) ? null : this.find(this.sentence.trim())
    if (number !== null) {
      if (!dense.test(this.tail)) this.emit({ type: 'text', text: ' ' })
      this.emit({ type: 'marker', raw: '', numbers: [number], isAttributed: true })
    }
    this.append(white)
    this.sentence = this.tail = ''
    // A marker that begins a line may belong to what follows.
    this.isCited = next === null && isLineEnd
    this.isPlainStart = this.line.isPlain()
  }

  private isSentenceEnd(following: string): boolean {
    if (this.sentence.length > maximumSentence) return true
    const context = this.sentence.slice(-contextUnits).replace(/[*_~]{1,6}$/, '')
    return (splitSentences(context + following).at(-1)?.from ?? 0) >= context.length
  }

  private isEligible(isLineEnd: boolean): boolean {
    const { sentence, line } = this
    if (sentence.length > maximumSentence || !this.isPlainStart || !line.isPlain()) return false
    const text = sentence.trim()
    if (text.length < (dense.test(text) ? minimumDenseSentence : minimumSentence) || question.test(text)) return false
    return line.isProse() && (stopped.test(this.tail) || (isLineEnd && line.isListItem()))
  }
}
