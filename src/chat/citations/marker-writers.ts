import type { PlainToken } from './code-spans.ts'

/** Writes the text that leaves, with its markers renumbered or removed. */
export interface MarkerWriter {
  /** Returns what is decided; at most `maximumHeldLength` units of text around a marker wait for what follows. */
  take(token: PlainToken): string
  end(): string
}

const maximumHeldLength = 16

/** Shows each marker as `[n]` by `numberOf`; markers in a row show a number once. */
export function createNumberingWriter(numberOf: (sourceNumber: number) => number): MarkerWriter {
  /** Numbers shown in the present row of markers; null: the text before is no marker. */
  let row: Set<number> | null = null
  /** Spaces after a marker; they go where the next marker repeats its number. */
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
/** What may follow a marker and still belong to its row: the end of its emphasis, a comma, the next one's emphasis. */
const trailPattern = new RegExp(
  String.raw`^(?:[*_~^)）]{0,4}|<(?:/(?:s(?:u(?:p>?)?)?)?)?)(?: {0,4}${joinerBegin}?)? {0,4}(?:[*_~^(（]{0,4}|<(?:s(?:u(?:p>?)?)?)?)$`,
)
const joinPattern = new RegExp(
  String.raw`^(?<close>[*_~^)）]{1,4}|</sup>)?(?: {0,4}${joiner})? {0,4}(?<open>${wrappers})?$`,
)
const closers: Record<string, string> = { '(': ')', '（': '）', '<sup>': '</sup>' }

/**
 * Removes each marker with the space before it, emphasis and parentheses that hold nothing else, and the commas between markers
 * in a row.
 */
export function createErasingWriter(): MarkerWriter {
  /** Text before a possible marker, or after a marker once `lead` is set. */
  let held = ''
  /** Spaces and opening signs before the present row of markers; null: there is none. */
  let lead: { spaces: string; wrapper: string } | null = null
  let last = '\n'

  function write(text: string): string {
    if (text !== '') last = text.at(-1)!
    return text
  }

  function takeText(text: string): string {
    let output = ''
    for (let at = 0; at < text.length; at++) {
      if (held === '' && !lead) {
        const plain = /[^ \t*_~^(（<]*/y
        plain.lastIndex = at
        const piece = plain.exec(text)![0]
        output += write(piece)
        at += piece.length
        if (at === text.length) break
      }
      output += takeCharacter(text[at]!)
    }
    return output
  }

  function takeCharacter(character: string): string {
    held += character
    if (!lead) return slide()
    if (trailPattern.test(held)) return ''
    return leaveRow()
  }

  /** Lets go what can no longer stand before a marker. */
  function slide(): string {
    let start = 0
    while (!leadPattern.test(held.slice(start))) start++
    const gone = held.slice(0, start)
    held = held.slice(start)
    return write(gone)
  }

  function takeMarker(): string {
    if (!lead) {
      lead = splitLead(held)
      held = ''
      return ''
    }
    const join = joinPattern.exec(held)?.groups
    if (join) {
      const { wrapper, rest } = unwrap(lead.wrapper, join.close ?? '')
      const next = wrapper + (join.open ?? '')
      if (rest === '' && next.length <= maximumHeldLength) {
        lead = { ...lead, wrapper: next }
        held = ''
        return ''
      }
    }
    return leaveRow() + takeMarker()
  }

  /** Writes what is left of a row of markers, and what came after it. */
  function leaveRow(): string {
    const spaces = lead!.spaces
    const unwrapped = unwrap(lead!.wrapper, held)
    let rest = unwrapped.rest
    lead = null
    held = ''
    let output = unwrapped.wrapper === '' ? '' : write(spaces + unwrapped.wrapper)
    // The space before goes, unless words would touch; at the beginning of a line or of an emphasis, the one after.
    if (output !== '' || last === '\n') rest = rest.replace(/^ +/, '')
    else if (/^[\p{L}\p{N}]/u.test(rest)) output += write(spaces)
    return output + takeText(rest)
  }

  return {
    take: (token) => (token.type === 'text' ? takeText(token.text) : takeMarker()),
    end() {
      const output = lead ? leaveRow() : ''
      const rest = held
      held = ''
      return output + rest
    },
  }
}

function splitLead(text: string): { spaces: string; wrapper: string } {
  const spaces = /^[ \t]*/.exec(text)![0]
  return { spaces, wrapper: text.slice(spaces.length) }
}

/** Takes the signs that close those of `wrapper`, innermost first, off the beginning of `text`. */
function unwrap(wrapper: string, text: string): { wrapper: string; rest: string } {
  const signs = wrapper.match(/<sup>|./gu) ?? []
  let rest = text
  for (let sign = signs.at(-1); sign !== undefined && rest.startsWith(closers[sign] ?? sign); sign = signs.at(-1)) {
    rest = rest.slice((closers[sign] ?? sign).length)
    signs.pop()
  }
  return { wrapper: signs.join(''), rest }
}
