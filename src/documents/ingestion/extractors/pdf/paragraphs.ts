import type { ExtractedBlock } from '../../extraction.ts'
import { cleanText } from '../clean-text.ts'
import { createJoinedText, joinsWithoutBlank } from './joins.ts'
import type { Line } from './reading-order.ts'
import type { PdfTable } from './segment.ts'
import type { PdfTableReader } from './tables/table-blocks.ts'

/** Statistics of the pages read so far; pages come one by one, so the first ones have little to compare with. */
export type PdfDocumentSense = ReturnType<typeof createDocumentSense>

/** Words that are remembered to decide about hyphens; beyond it no new ones are learned. */
const maximumWords = 50_000
/** UTF-16 units of text whose words are not yet read: a document without hyphens at line ends needs none of them. */
const maximumUnread = 1024 * 1024

export function createDocumentSense() {
  const charactersBySize = new Map<number, number>()
  const words = new Set<string>()
  const unread: string[] = []
  let unreadLength = 0

  function readWords() {
    for (const text of unread) {
      if (words.size >= maximumWords) break
      for (const word of text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*/gu) ?? []) words.add(word)
    }
    unread.length = 0
    unreadLength = 0
  }

  return {
    /** Counts a page's lines; call it before the page's paragraphs are made. */
    learn(lines: Line[]): void {
      for (const line of lines) {
        let characters = 0
        for (const { text } of line.segments) {
          characters += text.length
          if (words.size < maximumWords) unread.push(text)
        }
        unreadLength += characters
        const size = Math.round(line.size * 2) / 2
        charactersBySize.set(size, (charactersBySize.get(size) ?? 0) + characters)
      }
      if (unreadLength > maximumUnread) readWords()
    },
    /** The size of most of the text. */
    bodySize(): number {
      let best = { size: 0, characters: 0 }
      for (const [size, characters] of charactersBySize) if (characters > best.characters) best = { size, characters }
      return best.size
    },
    /** False for the hyphen that only splits a word at a line's end. */
    keepsHyphen(before: string, after: string): boolean {
      readWords()
      const head = /[\p{L}\p{M}\p{N}-]*$/u.exec(before)?.[0].toLowerCase() ?? ''
      const tail = /^[\p{L}\p{M}\p{N}]*/u.exec(after)?.[0].toLowerCase() ?? ''
      // `mixed-mode` split at its hyphen: the document writes it elsewhere, or the rest does not start like half of a word.
      return (
        !/^\p{Ll}|^\p{Lo}/u.test(after) ||
        /\p{N}$/u.test(head) ||
        (!words.has(head + tail) && words.has(`${head}-${tail}`))
      )
    },
  }
}

const listMarker = /^(?:[•◦▪▫‣⁃●○■□◆–—*·\uf0b7\uf0a7]|-(?=\s)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,5})[.)](?=\s))\s*/i
export const sentenceEnd = /[.!?:;。！？]["'”’)\]]*$/

/** Splits a page's lines into blocks: headings by size and weight, paragraphs by distance, indent and line length, list items by marker. */
export function pageBlocks(
  lines: Line[],
  page: number,
  sense: PdfDocumentSense,
  tables: PdfTableReader,
): ExtractedBlock[] {
  const blocks: ExtractedBlock[] = []
  const add = (block: ExtractedBlock) => {
    blocks.push(block)
    tables.pass(block)
  }
  for (const group of groupLines(lines)) {
    const table = tableOf(group[0]!)
    if (table) {
      blocks.push(...tables.read(table, page))
      continue
    }
    const text = cleanText(joinLines(group, sense))
      .replace(/[^\S\n]+$/gm, '')
      .replace(/^\s*\n|\s+$/g, '')
    if (text.trim() === '') continue
    const level = headingLevel(group, text, sense.bodySize())
    if (level !== null) add({ kind: 'heading', level, text: text.replaceAll('\n', ' '), page })
    else add({ kind: listMarker.test(text) ? 'list_item' : 'paragraph', text, page })
  }
  return blocks
}

/** Lines of one paragraph, with what its next line is compared with, so that the time is linear in its lines. */
interface Group {
  lines: Line[]
  left: number
  right: number
  /** Of the lines but the first. */
  leftOfRest: number
  isBold: boolean
}

function groupLines(lines: Line[]): Line[][] {
  const groups: Group[] = []
  for (const line of lines) {
    const { left, right } = line
    const group = groups.at(-1)
    if (!group || !belongs(group, line)) {
      groups.push({ lines: [line], left, right, leftOfRest: Infinity, isBold: isBold(line) })
      continue
    }
    group.lines.push(line)
    group.left = Math.min(group.left, left)
    group.right = Math.max(group.right, right)
    group.leftOfRest = Math.min(group.leftOfRest, left)
    group.isBold &&= isBold(line)
  }
  return groups.map((group) => group.lines)
}

/** True when `line` continues the paragraph of `group`. */
function belongs(group: Group, line: Line): boolean {
  const previous = group.lines.at(-1)!
  if (tableOf(previous) || tableOf(line)) return false
  if (previous.segments.at(-1)!.hyphenated) return true
  if (Math.abs(line.size - previous.size) > 0.15 * Math.max(line.size, previous.size)) return false
  if (isBold(line) !== isBold(previous) && (isBold(line) || group.isBold)) return false
  const text = lineText(line)
  if (listMarker.test(text)) return false
  if (line.bottom > previous.top) {
    // The next column: a sentence that has not ended continues there.
    return !sentenceEnd.test(lineText(previous)) && /^\p{Ll}/u.test(text)
  }
  const distance = previous.bottom - line.bottom
  const before = group.lines.at(-2)
  const usual = before && before.bottom > previous.bottom ? before.bottom - previous.bottom : previous.size * 1.15
  if (distance > usual * 1.35 + 0.5) return false
  if (isRow(previous) || isRow(line)) return true
  return !startsParagraph(group, previous, line)
}

/** Indents and short last lines separate paragraphs where no distance does. */
function startsParagraph({ lines, left, right, leftOfRest }: Group, previous: Line, line: Line): boolean {
  if (lines.length < 2 || !sentenceEnd.test(lineText(previous))) return false
  // First-line indent after a paragraph whose lines are flush.
  if (line.left > left + line.size * 0.7 && line.left < left + line.size * 5) return true
  // Back from a hanging indent: every line but the first is further in.
  if (leftOfRest > line.left + line.size * 0.7) return true
  return previous.right < right - (right - left) * 0.25
}

function joinLines(group: Line[], sense: PdfDocumentSense): string {
  const text = createJoinedText()
  let previous: Line | null = null
  for (const line of group) {
    const next = lineText(line)
    if (previous) text.add(between(previous, line, text.end(), next, sense))
    text.add(next)
    previous = line
  }
  return text.toString()
}

function between(previous: Line, line: Line, before: string, after: string, sense: PdfDocumentSense): string {
  if (previous.segments.at(-1)!.hyphenated) return sense.keepsHyphen(before, after) ? '-' : ''
  if (isRow(previous) || isRow(line)) return '\n'
  return joinsWithoutBlank(before, after) ? '' : ' '
}

function headingLevel(group: Line[], text: string, bodySize: number): number | null {
  if (group.length > 3 || text.length > 200 || bodySize === 0 || !/\p{L}{2}/u.test(text)) return null
  if (group.some(isRow)) return null
  const ratio = Math.max(...group.map((line) => line.size)) / bodySize
  if (ratio >= 1.7) return 1
  if (ratio >= 1.35) return 2
  if (ratio >= 1.15) return 3
  const bold = ratio >= 0.95 && group.every(isBold)
  return bold && group.length <= 2 && text.length <= 120 && !/[.,;:]$/.test(text) ? 4 : null
}

function isBold(line: Line): boolean {
  return line.segments.every((segment) => segment.bold)
}

function tableOf(line: Line): PdfTable | undefined {
  return line.segments[0]!.table
}

/** A line of several segments is a row of something like a table. */
function isRow(line: Line): boolean {
  return line.segments.length > 1
}

function lineText({ segments }: Line): string {
  return segments.length === 1 ? segments[0]!.text : segments.map(({ text }) => text).join('\t')
}
