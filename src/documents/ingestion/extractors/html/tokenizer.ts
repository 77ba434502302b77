import { decodeReferences } from './references.ts'

/** The value of an attribute by its lower-case name; an attribute without a value has the empty text. */
export type HtmlAttribute = (name: string) => string | undefined

export interface HtmlHandler {
  /** Names are in lower case. */
  open(name: string, attribute: HtmlAttribute): void
  close(name: string): void
  /** Text between two tags may come in several pieces. */
  text(text: string): void
}

/** Elements whose content has no tags. The text of the second kind is content all the same. */
const rawElements = new Set(['script', 'style', 'iframe', 'noembed', 'noframes'])
const textElements = new Set(['title', 'textarea', 'xmp'])
/** The part of one tag, and of one value in it, that is kept; pictures that are embedded in an attribute are longer. */
const maximumTag = 64 * 1024
export const maximumValue = 16 * 1024
/** The same for both of a frame, which may have a page as its attribute. */
const maximumFrameTag = 4 * 1024 * 1024
/** Longest character reference. */
const maximumReference = 40
/** Enough to recognise what a `<` begins. */
const lookahead = 9

/** An open tag while it is read. */
interface OpenTag {
  text: string
  quote: string
  /** Length of the value that the quote has begun. */
  valueLength: number
  /** A quote begins a value only after an equals sign. */
  afterEquals: boolean
}

/**
 * Splits HTML into tags and text, in pieces and in linear time, by the rules of the HTML standard that matter for files that people have.
 * Nothing is run or loaded.
 */
export class HtmlTokenizer {
  private readonly handler: HtmlHandler
  private rest = ''
  private tag: OpenTag | null = null
  /** What ends the current comment or raw text; null outside of them. */
  private end: RegExp | null = null
  private rawElement: string | null = null

  constructor(handler: HtmlHandler) {
    this.handler = handler
  }

  write(piece: string) {
    this.read(this.rest + piece, false)
  }

  finish() {
    this.read(this.rest, true)
    if (this.tag) this.closeTag()
  }

  private read(buffer: string, isLast: boolean) {
    let at = 0
    this.rest = ''
    while (at < buffer.length) {
      if (this.tag) at = this.readTag(this.tag, buffer, at)
      else if (this.end) at = this.readUntilEnd(this.end, buffer, at, isLast)
      else at = this.readText(buffer, at, isLast)
      if (at === -1) return
    }
  }

  /** Returns where reading continues; -1 where the rest waits for the next piece. */
  private readText(buffer: string, from: number, isLast: boolean): number {
    const mark = buffer.indexOf('<', from)
    if (mark === -1) {
      let to = buffer.length
      const reference = isLast ? -1 : buffer.lastIndexOf('&')
      if (reference >= from && to - reference <= maximumReference) to = reference
      this.emit(buffer.slice(from, to))
      this.rest = buffer.slice(to)
      return -1
    }
    this.emit(buffer.slice(from, mark))
    if (buffer.length - mark < lookahead && !isLast) {
      this.rest = buffer.slice(mark)
      return -1
    }
    const next = buffer.charAt(mark + 1)
    if (buffer.startsWith('<!--', mark)) this.end = /--!?>/g
    else if (next === '!' || next === '?') this.end = />/g
    else if (/[a-z]/i.test(next) || (next === '/' && /[a-z]/i.test(buffer.charAt(mark + 2)))) {
      this.tag = newTag()
      return mark + 1
    } else if (next === '/') this.end = />/g
    else {
      this.emit('<')
      return mark + 1
    }
    // `<!-->` is a whole comment.
    return mark + 2
  }

  private readTag(tag: OpenTag, buffer: string, from: number): number {
    const isFrame = /^iframe\s/i.test(tag.text.slice(0, 8) || buffer.slice(from, from + 8))
    const valueLimit = isFrame ? maximumFrameTag : maximumValue
    let at = from
    // What is not kept yet; the rest of a long value is left out.
    let keptFrom = tag.valueLength > valueLimit ? -1 : from
    for (; at < buffer.length; at += 1) {
      const character = buffer.charAt(at)
      if (tag.quote !== '') {
        tag.valueLength += 1
        if (character === tag.quote) {
          if (keptFrom === -1) keptFrom = at
          tag.quote = ''
          tag.valueLength = 0
        } else if (tag.valueLength > valueLimit && keptFrom !== -1) {
          keepOf(tag, buffer.slice(keptFrom, at), isFrame)
          keptFrom = -1
        }
      } else if (character === '>') break
      else if ((character === '"' || character === "'") && tag.afterEquals) tag.quote = character
      if (character === '=') tag.afterEquals = true
      else if (!/\s/.test(character)) tag.afterEquals = false
    }
    if (keptFrom !== -1) keepOf(tag, buffer.slice(keptFrom, at), isFrame)
    if (at === buffer.length) return -1
    this.closeTag()
    return at + 1
  }

  private closeTag() {
    const { text } = this.tag!
    this.tag = null
    const [, slash, written = ''] = /^(\/?)([^\s/>]{0,100})/.exec(text) ?? []
    const name = written.toLowerCase()
    if (slash) return this.handler.close(name)
    this.handler.open(name, attributesOf(text.slice(written.length)))
    // XML tools write an empty element with a slash.
    if (text.endsWith('/') || !(rawElements.has(name) || textElements.has(name))) return
    this.rawElement = name
    this.end = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  }

  /** Comments, declarations and raw text. */
  private readUntilEnd(end: RegExp, buffer: string, from: number, isLast: boolean): number {
    end.lastIndex = from
    const found = end.exec(buffer)
    const element = this.rawElement
    // The end of the buffer may be the beginning of the mark that ends the text.
    const to = found?.index ?? (isLast ? buffer.length : Math.max(from, buffer.length - 16))
    if (element && textElements.has(element)) this.emit(buffer.slice(from, to))
    if (!found) {
      this.rest = buffer.slice(to)
      return -1
    }
    this.end = null
    this.rawElement = null
    if (!element) return end.lastIndex
    // The end tag is read as one.
    this.tag = newTag()
    return found.index + 1
  }

  private emit(text: string) {
    if (text !== '') this.handler.text(decodeReferences(text))
  }
}

function newTag(): OpenTag {
  return { text: '', quote: '', valueLength: 0, afterEquals: false }
}

function keepOf(tag: OpenTag, text: string, isFrame: boolean) {
  tag.text += text.slice(0, Math.max(0, (isFrame ? maximumFrameTag : maximumTag) - tag.text.length))
}

function attributesOf(text: string): HtmlAttribute {
  let values: Map<string, string> | null = null
  return (name) => {
    values ??= readAttributes(text)
    return values.get(name)
  }
}

function readAttributes(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const match of text.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]+)))?/g)) {
    const [, name = '', double, single, bare] = match
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, decodeReferences(double ?? single ?? bare ?? ''))
  }
  return values
}
