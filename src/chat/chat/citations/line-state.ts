import { type BlockState, type LineHead, maximumHeadLength, noBlocks, readLineHead } from './line-head.ts'

/** Follows a Markdown text and knows what the line at its end is. Time is linear. */
export interface LineState {
  push(text: string): void
  /** A paragraph or a list item: no code, heading or row of a table. */
  isProse(): boolean
  isListItem(): boolean
  /** The end of the text is outside of code spans, links, tags and formulas. */
  isPlain(): boolean
}

const listItem = /^\s*(?:>\s*)*(?:[-*+•]|\d{1,3}[.)])\s+\S/u

export function createLineState(): LineState {
  const inline = createInlineState()
  let blocks: BlockState = noBlocks
  let line = ''
  let hasBar = false
  /** The part of the line that `inline` has not read yet. */
  let unread = ''
  let isStarted = false

  const head = () => readLineHead(line.slice(0, maximumHeadLength), true, blocks)

  /** Reads the line so far. Its head decides whether it continues the paragraph before. */
  function read(): LineHead | null {
    const found = head()
    if (!isStarted && found?.startsBlock) inline.endBlock()
    isStarted = true
    if (!found?.code) inline.push(unread)
    unread = ''
    return found
  }

  function endLine(): void {
    const found = read()
    inline.push('\n')
    if (found) blocks = found.state
    if (found?.endsBlock) inline.endBlock()
    line = ''
    hasBar = isStarted = false
  }

  return {
    push(text) {
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) endLine()
        if (line.length < maximumHeadLength) line += part.slice(0, maximumHeadLength)
        unread += part
        hasBar ||= part.includes('|')
      }
    },
    isProse() {
      const found = head()
      return !hasBar && found !== null && !found.code && !found.endsBlock
    },
    isListItem: () => listItem.test(line),
    isPlain() {
      if (line.trim() !== '') read()
      return inline.isPlain()
    },
  }
}

/** Approximates CommonMark without looking back: backticks that are never closed make code of the rest of their paragraph. */
function createInlineState() {
  /** The length of the backticks that have opened code, and of those at the end of the text. */
  let code = 0
  let run = 0
  let brackets = 0
  let isTag = false
  let formula: '' | '$' | '$$' | '\\' = ''
  let before = ''

  function endRun(): void {
    if (code === 0) code = run
    else if (code === run) code = 0
    run = 0
  }

  /** `before` is a dollar sign. */
  function takeAfterDollar(next: string): void {
    if (next === '$') formula = formula === '$$' ? '' : '$$'
    else if (formula === '$') formula = ''
    // "$5" is a price.
    else if (formula === '' && /[^\s\d.,;:)]/.test(next)) formula = '$'
  }

  function takeEscaped(next: string): void {
    if (next === '(' || next === '[') formula = '\\'
    else if ((next === ')' || next === ']') && formula === '\\') formula = ''
  }

  function take(character: string): void {
    if (character === '`') return void run++
    if (run > 0) endRun()
    if (code > 0) return
    if (before === '\\') {
      takeEscaped(character)
      before = ''
      return
    }
    const isPair = before === '$' && character === '$'
    if (before === '$') takeAfterDollar(character)
    if (character === '[') brackets++
    else if (character === ']') brackets = Math.max(0, brackets - 1)
    else if (before === '<' && /[\p{L}/!]/u.test(character)) isTag = true
    else if (character === '>') isTag = false
    before = isPair ? '' : character
  }

  return {
    push(text: string): void {
      for (const character of text) take(character)
    },
    /** Nothing continues over the end of a block. */
    endBlock(): void {
      code = run = brackets = 0
      isTag = false
      formula = before = ''
    },
    isPlain(): boolean {
      const isCode = run === 0 ? code > 0 : code !== run
      return !isCode && brackets === 0 && !isTag && (formula === '' || (formula === '$' && before === '$'))
    },
  }
}
