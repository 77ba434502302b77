import { linkEnd } from '../citations/links.ts'
import { type BlockState, maximumHeadLength, noBlocks, readLineHead } from '../citations/line-head.ts'
import {
  closingBracket,
  decodeDestination,
  maximumStartLength,
  maximumSyntaxLength,
  readAddressStart,
  readAngleBracket,
  readReference,
  type TargetPolicy,
  trimAddress,
} from './addresses.ts'

/**
 * Removes remote images and links that the policy refuses from an answer that arrives in pieces. A document can make
 * a model write an address that carries the conversation away: a client loads an image by itself, and a visitor follows a link.
 *
 * - Images with a remote address become their description.
 * - Links that the policy refuses become their text and what the policy shows of the address.
 * - Bare addresses that it refuses lose their scheme, so that clients do not make links of them.
 * - `<` of tags with attributes and of active elements becomes `‹`. Definitions of refused links become text.
 * - Code stays as it is: fences, and code spans on one line.
 *
 * Where clients may read Markdown in different ways, it is filtered as text, not as code. Numbers in brackets stay, because they
 * may be citations. The result does not depend on how the text is cut. Time is linear: look-ahead is bounded.
 */
export interface AnswerFilter {
  /** Returns the part of the text so far that is decided. */
  push(text: string): string
  end(): string
}

/** `secret`: a text that must not leave, such as the code around the passages. */
export function createAnswerFilter(policy: TargetPolicy, secret: string): AnswerFilter {
  const scanner = new FilterScanner(policy, true)
  const eraser = createEraser(secret)
  return { push: (text) => eraser.push(scanner.push(text)), end: () => eraser.push(scanner.end()) + eraser.end() }
}

function createEraser(secret: string): AnswerFilter {
  let held = ''
  return {
    push(text) {
      const whole = (held + text).replaceAll(secret, '…')
      let length = Math.min(whole.length, secret.length - 1)
      while (!whole.endsWith(secret.slice(0, length))) length--
      held = whole.slice(whole.length - length)
      return whole.slice(0, whole.length - length)
    },
    end: () => held,
  }
}

/** Longest code span that is recognised, and longest address, UTF-16 units. */
const maximumCodeSpanLength = 1_000
const maximumAddressLength = 2_000
/** A long text is read in pieces, because a character reference is replaced in the text that waits. */
const unitsPerStep = 2_000
const plainPattern = /[^`\\![<&\n:hHwW]+/y
const addressPattern = /[A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]*/y
/** `//` after a scheme, possibly escaped. */
const slashesPattern = /^:(?:\\?\/|&#0{0,4}47;|&#[xX]0{0,4}2[fF];|&sol;){2}/
const partOfSlashes = /^:(?:(?:\\?\/|&#0{0,4}47;|&#[xX]0{0,4}2[fF];|&sol;)?(?:\\|&[#A-Za-z0-9]{0,8})?)$/
const citationPattern = /\[\d{1,9}\]/g

class FilterScanner {
  private readonly policy: TargetPolicy
  /** False inside of the text of a link: no blocks and no code. */
  private readonly hasBlocks: boolean
  private buffer = ''
  private at = 0
  private output = ''
  /** The last character that was passed. */
  private last = '\n'
  private blocks: BlockState = noBlocks
  /** `atStart`: only white space was written since the head of the line. */
  private line: { fenced: boolean; atStart: boolean } | null
  /** Backticks without an equal run on their line: until the paragraph ends, clients may see code elsewhere than this scanner. */
  private openRun = false
  /** A tag was passed: until the next blank line, clients may read the text as HTML. */
  private afterTag = false
  /** A fence was passed there: clients may disagree about every later one, so none counts. */
  private unsureFences = false
  /** The rest of an address that was too long is dropped. */
  private dropping = false
  /** Text without one of these characters does not decide what is held back. */
  private awaited: RegExp | null = null

  constructor(policy: TargetPolicy, hasBlocks: boolean) {
    this.policy = policy
    this.hasBlocks = hasBlocks
    this.line = hasBlocks ? null : { fenced: false, atStart: false }
  }

  push(piece: string): string {
    for (let at = 0; at < piece.length; at += unitsPerStep) this.pushShort(piece.slice(at, at + unitsPerStep))
    return this.take()
  }

  private pushShort(piece: string) {
    this.buffer += piece
    if (this.awaited && !this.awaited.test(piece) && this.buffer.length - this.at < maximumSyntaxLength) return
    this.awaited = null
    this.drain(false)
  }

  end(): string {
    this.drain(true)
    return this.take()
  }

  private take(): string {
    const taken = this.output
    this.output = ''
    return taken
  }

  private drain(atEnd: boolean) {
    while (this.at < this.buffer.length && this.step(atEnd));
    this.buffer = this.buffer.slice(this.at)
    this.at = 0
  }

  private pass(length: number): true {
    return this.replace(length, this.buffer.slice(this.at, this.at + length))
  }

  /** Writes `text` instead of the next `length` units. */
  private replace(length: number, text: string): true {
    if (text !== '') this.last = text.at(-1)!
    if (this.line?.atStart && text.trim() !== '') this.line.atStart = false
    this.output += text
    this.at += length
    return true
  }

  /** False where more text is needed. */
  private step(atEnd: boolean): boolean {
    const { line } = this
    if (line === null) return this.beginLine(atEnd)
    if (line.fenced) return this.passLine()
    if (this.dropping) return this.dropAddress()
    switch (this.buffer[this.at]) {
      case '\n':
        if (this.hasBlocks) this.line = null
        return this.pass(1)
      case '`':
        return this.passBackticks(atEnd)
      case '\\':
        return this.passEscape(atEnd)
      case '!':
        if (this.at + 1 === this.buffer.length && !atEnd) return false
        return this.buffer[this.at + 1] === '[' ? this.passBracket(atEnd, true) : this.pass(1)
      case '[':
        return this.passBracket(atEnd, false)
      case '<':
        return this.passAngleBracket(atEnd)
      case '&':
        return this.passReference(atEnd)
      case ':':
        return this.passColon(atEnd)
      case 'h':
      case 'H':
      case 'w':
      case 'W':
        return this.passWord(atEnd)
      default:
        plainPattern.lastIndex = this.at
        plainPattern.exec(this.buffer)
        return this.pass(plainPattern.lastIndex - this.at)
    }
  }

  private beginLine(atEnd: boolean): boolean {
    const window = this.buffer.slice(this.at, this.at + maximumHeadLength)
    const newline = window.indexOf('\n')
    const whole = newline !== -1 || window.length === maximumHeadLength || atEnd
    const text = newline === -1 ? window : window.slice(0, newline)
    const head = readLineHead(text, whole, this.blocks)
    if (!head) return false
    if (text.trim() === '' && (newline !== -1 || atEnd)) this.afterTag = this.openRun = false
    // A fence in a block of HTML is none; indented code depends on the lines before it.
    if (this.afterTag && head.state.fence !== null) this.unsureFences = true
    const noFence = this.afterTag || this.unsureFences
    const fenced = (this.blocks.fence !== null || head.state.fence !== null) && head.code && !noFence
    this.blocks = noFence ? { ...head.state, fence: null } : head.state
    this.line = null
    if (!fenced) this.pass(head.code ? 0 : head.contentAt)
    this.line = { fenced, atStart: true }
    return true
  }

  private passLine(): boolean {
    const newline = this.buffer.indexOf('\n', this.at)
    this.pass((newline === -1 ? this.buffer.length : newline + 1) - this.at)
    if (newline !== -1) this.line = null
    return true
  }

  private passBackticks(atEnd: boolean): boolean {
    const { buffer, at } = this
    let end = at
    while (buffer[end] === '`') end++
    const length = end - at
    if (end === buffer.length && !atEnd && length < maximumCodeSpanLength) return false
    if (this.openRun || this.afterTag || !this.hasBlocks) return this.pass(length)
    const window = buffer.slice(at, at + length + maximumCodeSpanLength)
    const newline = window.indexOf('\n')
    const text = newline === -1 ? window : window.slice(0, newline)
    const whole = atEnd || newline !== -1 || window.length === length + maximumCodeSpanLength
    const close = closingRun(text, length, whole)
    if (close === null) {
      this.awaited = /[`\n]/
      return false
    }
    // In a table, a bar ends the cell and its code.
    if (close !== -1 && !text.slice(0, close).includes('|')) return this.pass(close)
    this.openRun = true
    return this.pass(length)
  }

  private passEscape(atEnd: boolean): boolean {
    const next = this.buffer[this.at + 1]
    if (next === undefined) return atEnd ? this.pass(1) : false
    // Clients read these two the same without the backslash; they could hide an address. `]:` would be a definition.
    if (next === ':' && this.last === ']') return this.pass(2)
    if (next === ':' || next === '/') return this.replace(1, '')
    // In HTML a backslash escapes nothing.
    if (next === '<' && this.afterTag) return this.pass(1)
    return this.pass(/[!-/:-@[-`{-~]/.test(next) ? 2 : 1)
  }

  private passReference(atEnd: boolean): boolean {
    const read = readReference(this.buffer.slice(this.at, this.at + maximumSyntaxLength), atEnd)
    if (read === 'more') return false
    // A backslash from a reference escapes nothing.
    if (!read || read.character === '&' || read.character === '\\') return this.pass(1)
    this.replaceAhead(read.length, read.character)
    return true
  }

  /** Replaces the next `length` units before they are read. */
  private replaceAhead(length: number, text: string) {
    this.buffer = text + this.buffer.slice(this.at + length)
    this.at = 0
  }

  private passAngleBracket(atEnd: boolean): boolean {
    const bracket = readAngleBracket(this.buffer.slice(this.at, this.at + maximumSyntaxLength), atEnd)
    if (!bracket) {
      this.awaited = /[\s<>/]/
      return false
    }
    switch (bracket.type) {
      case 'text':
        return this.passLessThan(atEnd)
      case 'markup':
        return this.replace(1, '‹')
      case 'tag':
        this.afterTag = true
        return this.pass(bracket.length)
      case 'autolink': {
        const verdict = this.policy.judge(decodeDestination(bracket.target))
        return typeof verdict === 'string' ? this.pass(bracket.length) : this.replace(bracket.length, verdict.shown)
      }
    }
  }

  /** A `<` that begins neither a tag nor an address. What follows is filtered, and `<name:` could begin an address then. */
  private passLessThan(atEnd: boolean): boolean {
    const window = this.buffer.slice(this.at, this.at + maximumSyntaxLength)
    if (window.length === 1 && !atEnd) return false
    // A character reference is replaced by its character, which could begin a tag. In HTML, a tag need not end.
    if (window[1] === '&' || (this.afterTag && /^<[/A-Za-z!?]/.test(window))) return this.replace(1, '‹')
    const name = /^<[^\s<>:]*/.exec(window)![0]
    if (name.length === window.length && window.length < maximumSyntaxLength && !atEnd) {
      this.awaited = /[\s<>:]/
      return false
    }
    return /[:<]/.test(window[name.length] ?? '') ? this.replace(1, '‹') : this.pass(1)
  }

  /** An address of a scheme that has already been written, such as `ftp://`. */
  private passColon(atEnd: boolean): boolean {
    const rest = this.buffer.slice(this.at, this.at + 24)
    if (!atEnd && rest.length < 24 && partOfSlashes.test(rest)) return false
    const slashes = /[A-Za-z0-9+.-]/.test(this.last) ? slashesPattern.exec(rest)?.[0] : undefined
    if (slashes === undefined) return this.pass(1)
    // An allowed address begins with http and is read as a whole, unless its scheme was written in parts.
    return this.passAddress(slashes.length, ': ', atEnd)
  }

  private passWord(atEnd: boolean): boolean {
    if (/[A-Za-z0-9]/.test(this.last)) return this.pass(1)
    const start = readAddressStart(this.buffer.slice(this.at, this.at + maximumStartLength), atEnd)
    if (start === 'more') return false
    if (start === null) return this.pass(1)
    if (start.text.length < start.length) this.replaceAhead(start.length, start.text)
    return this.passAddress(0, '', atEnd)
  }

  /** Writes the address at `skipped` units from here; `before` replaces these units where the address is refused. */
  private passAddress(skipped: number, before: string, atEnd: boolean): boolean {
    addressPattern.lastIndex = this.at + skipped
    const whole = addressPattern.exec(this.buffer)![0]
    const isLong = whole.length > maximumAddressLength
    const raw = whole.slice(0, maximumAddressLength)
    if (!isLong && !atEnd && this.at + skipped + whole.length === this.buffer.length) {
      this.awaited = /[^A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]/
      return false
    }
    const address = isLong ? raw : trimAddress(raw)
    const target = decodeDestination(address)
    const verdict = this.policy.judge(skipped === 0 ? target : `//${target}`)
    // The scheme of an address in parts is not known to be one of the web.
    if (typeof verdict === 'string' && skipped === 0 && !isLong) return this.pass(address.length)
    this.dropping = isLong
    return this.replace(skipped + address.length, before + (typeof verdict === 'string' ? '' : verdict.shown))
  }

  private dropAddress(): boolean {
    addressPattern.lastIndex = this.at
    addressPattern.exec(this.buffer)
    this.at = addressPattern.lastIndex
    if (this.at < this.buffer.length) this.dropping = false
    return true
  }

  /** `[`, or `![` of an image. */
  private passBracket(atEnd: boolean, isImage: boolean): boolean {
    const { buffer } = this
    const open = this.at + (isImage ? 1 : 0)
    const close = closingBracket(buffer, open, atEnd)
    if (close === null || (close === buffer.length && !atEnd)) {
      this.awaited = close === null ? /[\]\n]/ : null
      return false
    }
    const label = close === -1 ? '' : buffer.slice(open + 1, close - 1)
    const follower = close === -1 ? undefined : buffer[close]
    if (follower === '(') {
      const window = buffer.slice(open, close + maximumSyntaxLength)
      const end = linkEnd(window, close - open, atEnd || window.length === close - open + maximumSyntaxLength)
      if (end === null) {
        this.awaited = /[\s)<>"']/
        return false
      }
      if (end > 0) return this.passLink({ label, end: open + end, destinationAt: close + 1, isImage })
      const [all, raw = ''] = /^\s*(<?[^\s<>]*)/.exec(window.slice(close - open + 1))!
      if (close + 1 + all.length === buffer.length && all.length < maximumAddressLength && !atEnd) {
        this.awaited = /[\s<>]/
        return false
      }
      // For clients that read a link over several lines: a space between its brackets makes it text.
      if (this.policy.judge(decodeDestination(raw)) !== 'local' || !isPlainDestination(raw)) {
        this.noteBackticks(close - this.at)
        return this.replace(close + 1 - this.at, `[${this.filterText(label)}] (`)
      }
    }
    const isDefinition = follower === ':' && this.line?.atStart === true && !label.startsWith('^')
    if (isDefinition && !isImage) return this.passDefinition(label, close, atEnd)
    // A number is a citation: `Done![1]`. Definitions are removed, so that it names no image.
    if (!isImage || (/^\d+$/.test(label) && follower !== '[')) return this.pass(isImage ? 2 : 1)
    // The rest is read next, where it may be a definition.
    return this.replace(isDefinition ? 1 : 2, isDefinition ? '' : '[')
  }

  private passLink(link: { label: string; end: number; destinationAt: number; isImage: boolean }): boolean {
    const rest = this.buffer.slice(link.destinationAt, link.end - 1).trim()
    const raw = /^<[^<>\n]*>|^\S*/.exec(rest)![0]
    const verdict = this.policy.judge(decodeDestination(raw))
    const label = this.filterText(link.label)
    // Without its brackets a number could become a citation of the brackets around it.
    const text = /^[\d\s,;^-]+$/.test(label) ? `(${label})` : label
    const length = link.end - this.at
    this.noteBackticks(length)
    if ((verdict === 'local' || (verdict === 'allowed' && !link.isImage)) && isPlainDestination(raw)) {
      return this.replace(length, `${link.isImage ? '!' : ''}[${label}](${rest})`)
    }
    const citations = rest.match(citationPattern)?.join('') ?? ''
    const shown = link.isImage || typeof verdict === 'string' || verdict.shown === label.trim() ? '' : verdict.shown
    return this.replace(length, text + (shown === '' ? '' : ` (${shown})`) + citations)
  }

  /** A definition without its brackets is text; its address is read next. */
  private passDefinition(label: string, close: number, atEnd: boolean): boolean {
    const rest = this.buffer.slice(close + 1, close + 1 + maximumSyntaxLength)
    const [all, raw = ''] = /^[ \t]*\n?[ \t]*(<?[^\s>]*>?)/.exec(rest)!
    if (all.length === rest.length && rest.length < maximumSyntaxLength && !atEnd) return false
    const target = decodeDestination(raw)
    const verdict = this.policy.judge(target)
    // The text of a link or an image within the address would be left of it, and could be an address. The name of an image can be a number; see
    // passBracket.
    const isKept = verdict === 'local' || (verdict === 'allowed' && !/^\d+$/.test(label.trim()))
    if (isKept && !target.includes('[')) return this.pass(1)
    this.noteBackticks(close - this.at)
    return this.replace(close + 1 - this.at, `${this.filterText(label)}:`)
  }

  /** Backticks in a link may belong to code that begins or ends outside of it. */
  private noteBackticks(length: number) {
    if (this.buffer.slice(this.at, this.at + length).includes('`')) this.openRun = true
  }

  private filterText(text: string): string {
    const scanner = new FilterScanner(this.policy, false)
    return scanner.push(text) + scanner.end()
  }
}

/** A destination that every client reads the same. Others may be read as text, with the address in it. */
function isPlainDestination(raw: string): boolean {
  if (/^<[^<>[\]\n]*>$/.test(raw)) return true
  let depth = 0
  for (const character of raw) {
    if (character === '(') depth++
    if (character === ')' && --depth < 0) return false
    if ('<>[]\\'.includes(character)) return false
  }
  return depth === 0
}

/** The index after the run of exactly `length` backticks that closes the one at the beginning; -1: there is none; null: more text is needed. */
function closingRun(text: string, length: number, whole: boolean): number | null {
  for (const { 0: run, index } of text.slice(length).matchAll(/`+/g)) {
    const end = length + index + run.length
    if (run.length !== length) continue
    return end < text.length || whole ? end : null
  }
  return whole ? -1 : null
}
