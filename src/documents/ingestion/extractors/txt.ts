import { createBlockBatch, maximumBlockCharacters, type ExtractorInput } from './extractor.ts'
import type { ExtractedBlock } from '../extraction.ts'
import { cleanText } from './clean-text.ts'
import { decodeTextFile } from './text-decoding.ts'

/** Plain text: paragraphs are runs of lines between empty lines; their inner line feeds stay. */
export async function* extractTxt(input: ExtractorInput): AsyncGenerator<ExtractedBlock[]> {
  const batch = createBlockBatch()
  let paragraph = ''

  function* flush(): Generator<ExtractedBlock[]> {
    const text = cleanText(paragraph)
      .replace(/[^\S\n]+$/gm, '')
      .replace(/^\n+|\n+$/g, '')
    paragraph = ''
    if (text !== '' && batch.add({ kind: 'paragraph', text })) yield batch.take()
  }

  for await (const line of readLines(decodeTextFile(input))) {
    if (line.trim() === '') {
      if (paragraph !== '') yield* flush()
    } else {
      if (paragraph.length + line.length > maximumBlockCharacters && paragraph !== '') yield* flush()
      paragraph += paragraph === '' ? line : `\n${line}`
    }
  }
  if (paragraph !== '') yield* flush()
  yield batch.take()
}

/**
 * Lines of a stream of strings, with any line ends. A line longer than a block may be comes in pieces, cut at a blank, at
 * the end of a sentence or else between two graphemes, so that no file can make memory grow.
 */
async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    // Long runs of blanks are layout, never text; a bomb of them must not become memory.
    const text = (rest + piece).replace(/[^\S\r\n]{9,}/g, '        ')
    const lines = text.split(/\r\n|[\n\r\u0085\u2028\u2029\f\v]/)
    rest = lines.pop() ?? ''
    // A carriage return at the very end may be the first half of a CRLF whose line feed comes next.
    if (rest === '' && text.endsWith('\r')) rest = `${lines.pop() ?? ''}\r`
    for (const line of lines) yield* cutLongLine(line)
    while (rest.length > maximumBlockCharacters) {
      const cut = findCut(rest)
      yield rest.slice(0, cut)
      rest = rest.slice(cut)
    }
  }
  if (rest !== '') yield rest.replace(/\r$/, '')
}

/** A text in pieces no longer than a block may be. */
export function* cutLongLine(line: string): Generator<string> {
  let rest = line
  while (rest.length > maximumBlockCharacters) {
    const cut = findCut(rest)
    yield rest.slice(0, cut)
    rest = rest.slice(cut)
  }
  yield rest
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Where to cut a line that is longer than a block: after the last blank or sentence end in the last quarter, else between graphemes. */
export function findCut(line: string): number {
  const from = Math.floor(maximumBlockCharacters * 0.75)
  const window = line.slice(from, maximumBlockCharacters)
  const blank = Math.max(...[' ', '\t', '。', '!', '?', '.'].map((mark) => window.lastIndexOf(mark)))
  if (blank !== -1) return from + blank + 1
  const tail = line.slice(maximumBlockCharacters - 256, maximumBlockCharacters + 256)
  const boundary = graphemes.segment(tail).containing(256)?.index ?? 256
  // A "grapheme" of hundreds of marks is no text: then the cut is only kept off a surrogate pair.
  const cut = maximumBlockCharacters - 256 + (boundary === 0 ? 256 : boundary)
  const code = line.charCodeAt(cut)
  return code >= 0xdc00 && code <= 0xdfff ? cut - 1 : cut
}
