import type { PlainToken } from './code-spans.ts'

/** Writes the text with its markers renumbered or removed. */
export interface MarkerWriter {
  /** Returns the decided text; at most `maximumHeldLength` units around a marker wait for the following text. */
  take(token: PlainToken): string
  end(): string
}

const maximumHeldLength = 16

/** Writes each marker as `[n]` with the number from `numberOf`; a row of markers shows each number once. */
export function createNumberingWriter(numberOf: (sourceNumber: number) => number): MarkerWriter {
  /** Numbers shown in the current row of markers; null outside of a row. */
  let row: Set<number> | null = null
  /** Spaces after a marker; they are dropped where the next marker repeats its number. */
  let gap = ''

  function leaveRow(): string {
    const text = gap
    row = null
    gap = ''
    return text
  }

  return {
    take(token) {
      if (token.type === 'text') {
        if (!row) return token.text
        const spaces = /^ */.exec(token.text)![0]
        if (spaces.length < token.text.length || gap.length + spaces.length > maximumHeldLength) {
          return leaveRow() + token.text
        }
        gap += spaces
        return ''
      }
      row ??= new Set()
      let shown = ''
      for (const sourceNumber of token.numbers) {
        const number = numberOf(sourceNumber)
        if (!row.has(number)) shown += `[${number}]`
        row.add(number)
      }
      const text = shown === '' ? '' : gap + shown
      gap = ''
      return text
    },
    end: leaveRow,
  }
}

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

/**
 * Removes each marker with the space before it, emphasis and parentheses that contain nothing else, and the commas between markers
 * in a row.
 */
export class ErasingWriter implements MarkerWriter {
  /** Text before a possible marker, or after a marker once `lead` is set. */
  private held = ''
  /** Spaces and opening signs before the current row of markers; null outside of a row. */
  private lead: { spaces: string; wrapper: string } | null = null
  /** The last character that was written. */
  private last = '\n'

  take(token: PlainToken): string {
    return token.type === 'text' ? this.takeText(token.text) : this.takeMarker()
  }

  end(): string {
    const output = this.lead ? this.leaveRow(this.lead) : ''
    const rest = this.held
    this.held = ''
    return output + rest
  }

  private write(text: string): string {
    if (text !== '') this.last = text.at(-1)!
    return text
  }

  private takeText(text: string): string {
    let output = ''
    for (let at = 0; at < text.length; at++) {
      if (this.held === '' && !this.lead) {
        const plain = /[^ \t*_~^(（<]*/y
        plain.lastIndex = at
        const piece = plain.exec(text)![0]
        output += this.write(piece)
        at += piece.length
        if (at === text.length) break
      }
      output += this.takeCharacter(text[at]!)
    }
    return output
  }

  private takeCharacter(character: string): string {
    this.held += character
    if (!this.lead) return this.writeDecided()
    return trailPattern.test(this.held) ? '' : this.leaveRow(this.lead)
  }

  /** Writes the held text that can no longer be removed with a marker. */
  private writeDecided(): string {
    let start = 0
    while (!leadPattern.test(this.held.slice(start))) start++
    const decided = this.held.slice(0, start)
    this.held = this.held.slice(start)
    return this.write(decided)
  }

  private takeMarker(): string {
    const { lead } = this
    if (!lead) {
      this.lead = splitLead(this.held)
      this.held = ''
      return ''
    }
    const join = joinPattern.exec(this.held)?.groups
    if (join) {
      const { wrapper, rest } = unwrap(lead.wrapper, join.close ?? '')
      const next = wrapper + (join.open ?? '')
      if (rest === '' && next.length <= maximumHeldLength) {
        this.lead = { ...lead, wrapper: next }
        this.held = ''
        return ''
      }
    }
    return this.leaveRow(lead) + this.takeMarker()
  }

  /** Writes what remains of a row of markers, and the text after it. */
  private leaveRow({ spaces, wrapper }: { spaces: string; wrapper: string }): string {
    const unwrapped = unwrap(wrapper, this.held)
    let rest = unwrapped.rest
    this.lead = null
    this.held = ''
    let output = unwrapped.wrapper === '' ? '' : this.write(spaces + unwrapped.wrapper)
    // The space before is removed, unless words would touch; at the beginning of a line or of an emphasis, the space after.
    if (output !== '' || this.last === '\n') rest = rest.replace(/^ +/, '')
    else if (/^[\p{L}\p{N}]/u.test(rest)) output += this.write(spaces)
    return output + this.takeText(rest)
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
