import { isLargePicture } from './image/picture-size.ts'
import { pictureDescription } from './picture-description.ts'

/** The syntax tree of one piece is built at a time; a tree takes about 50 times its text in memory. */
const pieceCharacters = 256 * 1024
/**
 * A run of lines without an empty one that is longer than this is not parsed: the parser's work on one paragraph grows with the
 * square of its length (512 KiB of words on one line took 40 s), and no person wrote it. Tables and code are linear.
 */
const maximumParagraphCharacters = 24 * 1024
/** Quotes and lists opened on one line. The parser's work grows with the square of the depth, so deeper lines stay plain text. */
const maximumNesting = 32

export interface MarkdownPiece {
  text: string
  /** To be used unchanged, without parsing its marks. */
  isPlain: boolean
}

/**
 * The text in pieces that can be parsed alone: large files are split at headings, else at empty lines, outside of code fences.
 * Pictures that are embedded in the text as base64 are left out, and `foundPicture` is called for each that may show text and that nothing
 * describes.
 */
export async function* readMarkdownPieces(
  decoded: AsyncIterable<string>,
  foundPicture: () => void,
): AsyncGenerator<MarkdownPiece> {
  let rest = ''
  const pictures = createPictureRemover(foundPicture)
  for await (const text of decoded) {
    rest = pictures.remove(
      rest,
      text.replace(/[^\S\r\n]{65,}/g, (run) => run.slice(0, 64)),
    )
    while (rest.length > pieceCharacters) {
      const cut = findPieceEnd(rest)
      yield* partHardParagraphs(rest.slice(0, cut))
      rest = rest.slice(cut)
    }
  }
  pictures.end()
  if (rest !== '') yield* partHardParagraphs(rest)
}

/** Smaller pictures are signs and logos: dots, and the shorter side. */
const smallest = { dots: 20_000, side: 24 }
/** Base64 characters that are kept of a picture: its size is in the first ones. */
const keptCharacters = 64 * 1024
/** The text before an address: a Markdown picture, or an element with a description. */
const describedBefore = /(?:!\[([^[\]]*)\]\(\s*<?|<img\s[^<>]*?\balt\s*=\s*["']([^"'<>]*)["'][^<>]*)$/i

/** Takes the content of pictures out of a text that comes in parts. */
function createPictureRemover(foundPicture: () => void) {
  /** The picture at the end of the text, whose rest may follow. */
  let open: { head: string; length: number } | null = null
  function end() {
    const bytes = open && Buffer.from(open.head, 'base64')
    if (open && bytes && isLargePicture(bytes, { ...smallest, length: open.length * 0.75 })) foundPicture()
    open = null
  }
  return {
    end,
    /** What is left of a picture's address still announces one, so that its next part is recognised too. */
    remove(before: string, added: string): string {
      const text = before + added
      return text.replace(
        /(data:([\w.+-]+)\/[\w.+-]+;base64,)([A-Za-z0-9+/=]{64,})/g,
        (_, address: string, type: string, content: string, at: number) => {
          if (open && at + address.length === before.length) {
            open.length += content.length
            if (open.head.length < keptCharacters) open.head += content.slice(0, keptCharacters)
            return address
          }
          end()
          const [, one, other] = describedBefore.exec(text.slice(Math.max(0, at - 500), at)) ?? []
          if (type === 'image' && pictureDescription(one ?? other) === '')
            open = { head: content.slice(0, keptCharacters), length: content.length }
          return address
        },
      )
    },
  }
}

interface MarkdownLine {
  text: string
  from: number
  to: number
  inFence: boolean
}

function* linesOf(text: string): Generator<MarkdownLine> {
  let fence: string | null = null
  for (const match of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const line = match[0]
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    const wasInFence = fence !== null
    if (fence === null) fence = marker ?? null
    else if (marker?.startsWith(fence)) fence = null
    yield { text: line, from: match.index, to: match.index + line.length, inFence: wasInFence || fence !== null }
  }
}

function findPieceEnd(text: string): number {
  let heading = 0
  let emptyLine = 0
  let lineEnd = 0
  for (const line of linesOf(text.slice(0, pieceCharacters))) {
    if (!line.text.endsWith('\n')) break
    if (!line.inFence && /^ {0,3}#{1,6}\s/.test(line.text)) heading = line.from
    if (!line.inFence && line.text.trim() === '') emptyLine = line.to
    lineEnd = line.to
  }
  for (const cut of [heading, emptyLine, lineEnd]) if (cut > pieceCharacters / 4) return cut
  const code = text.charCodeAt(pieceCharacters)
  return code >= 0xdc00 && code <= 0xdfff ? pieceCharacters - 1 : pieceCharacters
}

function* partHardParagraphs(text: string): Generator<MarkdownPiece> {
  let parsedFrom = 0
  let paragraphFrom = 0
  let hasFence = false
  let isDeep = false
  function* end(at: number): Generator<MarkdownPiece> {
    const isLong = at - paragraphFrom > maximumParagraphCharacters && !hasFence
    if (!isDeep && (!isLong || isTable(text.slice(paragraphFrom, at)))) return
    const paragraph = text.slice(paragraphFrom, at)
    if (paragraphFrom > parsedFrom) yield { text: text.slice(parsedFrom, paragraphFrom), isPlain: false }
    yield { text: paragraph, isPlain: true }
    parsedFrom = at
  }
  for (const line of linesOf(text)) {
    if (line.inFence) hasFence = true
    else if (line.text.trim() === '') {
      yield* end(line.from)
      paragraphFrom = line.to
      hasFence = false
      isDeep = false
    } else isDeep ||= nestsDeeply(line.text)
  }
  yield* end(text.length)
  if (parsedFrom < text.length) yield { text: text.slice(parsedFrom), isPlain: false }
}

function isTable(paragraph: string): boolean {
  const [, second = ''] = paragraph.split('\n', 2)
  return second.includes('-') && second.includes('|') && /^[\s|:-]+$/.test(second)
}

/** True for a line that opens more quotes and list items inside each other than are parsed; a thematic break opens none. */
function nestsDeeply(line: string): boolean {
  if (line.length <= maximumNesting) return false
  const marker = /[ \t]*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s))/y
  let depth = 0
  while (depth <= maximumNesting && marker.test(line)) depth += 1
  return depth > maximumNesting && !/^[ \t]*([-*])(?:[ \t]*\1)*\s*$/.test(line)
}
