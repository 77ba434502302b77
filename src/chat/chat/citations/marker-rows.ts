import type { PlainToken } from './line-head.ts'

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
