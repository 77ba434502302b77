import type { ExtractedBlock } from '../../extraction.ts'
import { cleanText } from '../clean-text.ts'
import { joinsWithoutBlank } from './joins.ts'
import type { Line } from './reading-order.ts'
import type { PdfTable } from './segment.ts'
import type { PdfTableReader } from './tables/table-blocks.ts'

/** Statistics of the pages read so far; pages come one by one, so the first ones have little to compare with. */
export type PdfDocumentSense = ReturnType<typeof createDocumentSense>

/** Words that are remembered to decide about hyphens; beyond it no new ones are learned. */
const maximumWords = 50_000

export function createDocumentSense() {
  const charactersBySize = new Map<number, number>()
  const words = new Set<string>()

  return {
    /** Counts a page's lines; call it before the page's paragraphs are made. */
    learn(lines: Line[]): void {
      for (const line of lines) {
        let characters = 0
        for (const { text } of line.segments) {
          characters += text.length
          if (words.size < maximumWords)
            for (const word of text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*/gu) ?? [])
              words.add(word)
        }
        const size = Math.round(line.size * 2) / 2
        charactersBySize.set(size, (charactersBySize.get(size) ?? 0) + characters)
      }
    },
    /** The size of most of the text. */
    bodySize(): number {
      let best = { size: 0, characters: 0 }
      for (const [size, characters] of charactersBySize) if (characters > best.characters) best = { size, characters }
      return best.size
    },
    /** Joins the halves of a word that was split at a line's end. */
    joinParted(before: string, after: string): string {
      const head = /[\p{L}\p{M}\p{N}-]*$/u.exec(before)?.[0].toLowerCase() ?? ''
      const tail = /^[\p{L}\p{M}\p{N}]*/u.exec(after)?.[0].toLowerCase() ?? ''
      // `mixed-mode` split at its hyphen: the document writes it elsewhere, or the rest does not start like half of a word.
      const keepHyphen =
        !/^\p{Ll}|^\p{Lo}/u.test(after) ||
        /\p{N}$/u.test(head) ||
        (!words.has(head + tail) && words.has(`${head}-${tail}`))
      return `${before}${keepHyphen ? '-' : ''}${after}`
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

function groupLines(lines: Line[]): Line[][] {
  const groups: Line[][] = []
  for (const line of lines) {
    const group = groups.at(-1)
    if (group && belongs(group, line)) group.push(line)
    else groups.push([line])
  }
  return groups
}

/** True when `line` continues the paragraph of `group`. */
function belongs(group: Line[], line: Line): boolean {
  const previous = group.at(-1)!
  if (tableOf(previous) || tableOf(line)) return false
  if (previous.segments.at(-1)!.hyphenated) return true
  if (Math.abs(line.size - previous.size) > 0.15 * Math.max(line.size, previous.size)) return false
  if (isBold(line) !== isBold(previous) && (isBold(line) || group.every(isBold))) return false
  const text = lineText(line)
  if (listMarker.test(text)) return false
  if (line.bottom > previous.top) {
    // The next column: a sentence that has not ended continues there.
    return !sentenceEnd.test(lineText(previous)) && /^\p{Ll}/u.test(text)
  }
  const distance = previous.bottom - line.bottom
  const before = group.at(-2)
  const usual = before && before.bottom > previous.bottom ? before.bottom - previous.bottom : previous.size * 1.15
  if (distance > usual * 1.35 + 0.5) return false
  if (isRow(previous) || isRow(line)) return true
  return !startsParagraph(group, previous, line)
}

/** Indents and short last lines separate paragraphs where no distance does. */
function startsParagraph(group: Line[], previous: Line, line: Line): boolean {
  const left = Math.min(...group.map((member) => member.left))
  const right = Math.max(...group.map((member) => member.right))
  const ended = sentenceEnd.test(lineText(previous))
  // First-line indent after a paragraph whose lines are flush.
  if (group.length > 1 && ended && line.left > left + line.size * 0.7 && line.left < left + line.size * 5) return true
  // Back from a hanging indent: every line but the first is further in.
  if (group.length > 1 && ended && group.slice(1).every((member) => member.left > line.left + line.size * 0.7))
    return true
  return ended && group.length > 1 && previous.right < right - (right - left) * 0.25
}

function joinLines(group: Line[], sense: PdfDocumentSense): string {
  let text = ''
  let previous: Line | null = null
  for (const line of group) {
    const next = lineText(line)
    if (!previous) text = next
    else if (previous.segments.at(-1)!.hyphenated) text = sense.joinParted(text, next)
    else if (isRow(previous) || isRow(line)) text += `\n${next}`
    else text += joinsWithoutBlank(text, next) ? next : ` ${next}`
    previous = line
  }
  return text
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

function lineText(line: Line): string {
  return line.segments.map((segment) => segment.text).join('\t')
}
