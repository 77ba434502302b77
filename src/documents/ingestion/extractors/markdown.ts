import { fromMarkdown } from 'mdast-util-from-markdown'
import { frontmatterFromMarkdown } from 'mdast-util-frontmatter'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { frontmatter } from 'micromark-extension-frontmatter'
import { gfm } from 'micromark-extension-gfm'
import type { ExtractedBlock } from '../extraction.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import { hiddenText } from '../suspicious/text-flags.ts'
import { createBlockBatch, type ExtractorInput } from './extractor.ts'
import { undescribedPictures } from './picture-description.ts'
import { tableRow, tableRowText } from './table-row.ts'
import { readMarkdownPieces } from './markdown-pieces.ts'
import { decodeTextFile } from './text-decoding.ts'
import { cutLongLine } from './txt.ts'

/** The parts of mdast nodes that are read here; the tree itself comes typed loosely because extensions add kinds of nodes. */
interface MarkdownNode {
  type: string
  children?: MarkdownNode[]
  value?: string
  alt?: string | null
  depth?: number
  position?: { start: { offset?: number; column: number }; end: { offset?: number } }
}

/**
 * Markdown by its syntax tree. Blocks keep the source's own marks (links, emphasis, fences), which readers and models know and
 * which carry addresses; headings and table cells are plain text.
 */
export async function* extractMarkdown(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const batch = createBlockBatch()
  let first = true
  let pictures = 0
  for await (const { text, isPlain } of readMarkdownPieces(decodeTextFile(input), () => void (pictures += 1))) {
    const blocks = isPlain ? plainBlocks(text) : markdownBlocks(text, first, () => input.report.warn(hiddenText))
    for (const block of blocks) if (batch.add(block)) yield batch.take()
    first = false
  }
  // Version 1 never warned of them.
  if (pictures > 0 && input.readsEmbedded) input.report.warn(undescribedPictures(pictures))
  yield batch.take()
}

function* plainBlocks(text: string): Generator<ExtractedBlock> {
  for (const line of cutLongLine(cleanText(text).trim())) yield { kind: 'paragraph', text: line.trim() }
}

/** The blocks of one Markdown text. Front matter is known only at the beginning of a file. */
function* markdownBlocks(source: string, isFileStart: boolean, foundHidden: () => void): Generator<ExtractedBlock> {
  const tree: MarkdownNode = fromMarkdown(source, {
    extensions: [gfm(), ...(isFileStart ? [frontmatter(['yaml', 'toml'])] : [])],
    mdastExtensions: [gfmFromMarkdown(), ...(isFileStart ? [frontmatterFromMarkdown(['yaml', 'toml'])] : [])],
  })
  if (hasHiddenNode(tree)) foundHidden()
  for (const node of tree.children ?? []) yield* blocksOf(node, source, 'paragraph')
}

/** A comment with a sentence, or HTML that its style hides. Short comments are marks of tools, such as `<!-- toc -->`. */
function hasHiddenNode({ type, value = '', children = [] }: MarkdownNode): boolean {
  if (type !== 'html') return children.some(hasHiddenNode)
  return (
    /<!-{2}[\s-]*(?:[\p{L}\p{N}'’-]+[^\p{L}\p{N}'’<>-]{1,20}){2}[\p{L}\p{N}]/u.test(value) ||
    /<[a-z][^<>]{0,500}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|\shidden[\s>])/i.test(value)
  )
}

function* blocksOf(
  node: MarkdownNode,
  source: string,
  textKind: 'paragraph' | 'quote' | 'footnote',
): Generator<ExtractedBlock> {
  switch (node.type) {
    case 'heading':
      yield { kind: 'heading', level: node.depth ?? 1, text: headingText(node, source) }
      return
    case 'code':
      yield { kind: 'code', text: codeOf(node, source) }
      return
    case 'list':
      for (const item of node.children ?? []) yield* listItem(item, source)
      return
    case 'blockquote':
      for (const child of node.children ?? []) yield* blocksOf(child, source, 'quote')
      return
    case 'footnoteDefinition':
      yield { kind: 'footnote', text: sourceOf(node, source) }
      return
    case 'table':
      yield* table(node, source)
      return
    case 'thematicBreak':
      return
    case 'yaml':
    case 'toml':
      yield { kind: 'paragraph', text: cleanText(node.value ?? '').trim() }
      return
    default:
      yield { kind: textKind, text: sourceOf(node, source) }
  }
}

/** An item's own text with its marker, then its nested blocks. */
function* listItem(item: MarkdownNode, source: string): Generator<ExtractedBlock> {
  const children = item.children ?? []
  const nested = children.findIndex((child) => child.type !== 'paragraph')
  const own = nested === -1 ? children : children.slice(0, nested)
  const from = item.position?.start.offset ?? 0
  const to = nested === 0 ? (children[0]?.position?.start.offset ?? from) : (own.at(-1)?.position?.end.offset ?? from)
  const text = unindent(source.slice(from, own.length === 0 && nested === -1 ? item.position?.end.offset : to), item)
  if (text !== '') yield { kind: 'list_item', text }
  if (nested === -1) return
  for (const child of children.slice(nested)) yield* blocksOf(child, source, 'paragraph')
}

function* table(node: MarkdownNode, source: string): Generator<ExtractedBlock> {
  const rows = (node.children ?? []).map((row) => (row.children ?? []).map((cell) => cleanLine(cellText(cell, source))))
  const header = rows.shift()
  if (!header) return
  const named = header.some((cell) => cell !== '')
  if (named) yield { kind: 'table_row', text: tableRowText(header), header }
  let row = 0
  for (const cells of rows) {
    row += 1
    yield { kind: 'table_row', ...tableRow(cells), row, ...(named ? { header } : {}) }
  }
}

function cellText(cell: MarkdownNode, source: string): string {
  const children = cell.children ?? []
  const from = children[0]?.position?.start.offset
  const to = children.at(-1)?.position?.end.offset
  return from === undefined || to === undefined ? '' : source.slice(from, to)
}

/** A heading as it reads; one that reads as mere signs keeps its source, which still has words to be found by. */
function headingText(node: MarkdownNode, source: string): string {
  const text = cleanLine(plainText(node))
  return /[\p{L}\p{N}]/u.test(text) ? text : cleanLine(sourceOf(node, source).replace(/^#+|#+\s*$/g, ''))
}

/** A heading's words: text and code as they read, images by their description, links by their text, html by its source. */
function plainText(node: MarkdownNode): string {
  if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? ''
  if (node.children) return node.children.map((child) => plainText(child)).join('')
  return node.type === 'break' ? ' ' : (node.value ?? '')
}

function sourceOf(node: MarkdownNode, source: string): string {
  return unindent(source.slice(node.position?.start.offset, node.position?.end.offset), node)
}

/** Code as the file has it, with the indentation of its first line and blanks at the ends of lines. */
function codeOf(node: MarkdownNode, source: string): string {
  const from = node.position?.start.offset ?? 0
  const lineStart = source.lastIndexOf('\n', from - 1) + 1
  const isAlone = source.slice(lineStart, from).trim() === ''
  return cleanText(source.slice(isAlone ? lineStart : from, node.position?.end.offset))
}

/** Takes the indentation that nesting gave to a node's later lines away. */
function unindent(text: string, node: MarkdownNode): string {
  const column = (node.position?.start.column ?? 1) - 1
  const unindented = column === 0 ? text : text.replaceAll(new RegExp(`\\n[ \\t]{1,${column}}`, 'g'), '\n')
  return cleanText(unindented)
    .replace(/[^\S\n]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')
}
