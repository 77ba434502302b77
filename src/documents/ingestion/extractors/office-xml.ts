import { lookUp } from '../../../platform/kernel/index.ts'
import { SaxesParser, type SaxesTagNS } from 'saxes'
import { ExtractionError } from '../extraction.ts'
import { corruptFile } from './extractor.ts'

/** The format of a package, and its words in messages. */
export interface OfficeKind {
  format: 'docx' | 'xlsx' | 'pptx'
  what: string
  program: string
  /** Of the format before. */
  formerExtension: string
  /** The main part where no relationship names it, and main parts of other formats. */
  usualPart: string
  foreignParts: RegExp
  /** What the longest texts are. */
  longest: string
  encryptedCode: 'encrypted_docx' | 'encrypted_file'
}

/** Deeper than any office program nests; a deeper file is hostile. */
const maximumDepth = 1_000
/** Longest run of text or mark-up between two tags that is held in memory. */
const maximumTokenCharacters = 16 * 1024 * 1024

/** Short prefixes for the namespaces that matter, in their transitional and strict forms. */
const namespacePrefixes: Record<string, string> = {
  'http://schemas.openxmlformats.org/wordprocessingml/2006/main': 'w:',
  'http://purl.oclc.org/ooxml/wordprocessingml/main': 'w:',
  'http://schemas.openxmlformats.org/officeDocument/2006/math': 'm:',
  'http://purl.oclc.org/ooxml/officeDocument/math': 'm:',
}

const compatibility = 'http://schemas.openxmlformats.org/markup-compatibility/2006'
/** Office writes extensions of these; readers know their elements, or read past them. */
const knownExtensions =
  /^(?:http:\/\/schemas\.(?:microsoft\.com|openxmlformats\.org)\/|urn:schemas-microsoft-com:|http:\/\/purl\.oclc\.org\/ooxml\/)/

const relationships = new Set([
  'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  'http://purl.oclc.org/ooxml/officeDocument/relationships',
])

/** The value of an element's attribute, by its name without prefix; `r:id` is the one that names a relationship. */
export type Attribute = (localName: string) => string | undefined

export interface XmlHandler {
  /** `name` carries the prefix w: or m:, whatever prefix the file uses, and none for other namespaces. */
  open(name: string, attribute: Attribute): void
  close(name: string): void
  text(text: string): void
}

/**
 * Reads XML in pieces, calling the handler, and yields after each piece so that the caller can hand results on. Of alternatives the
 * handler sees one. Document type declarations are refused: they allow external entities and entity bombs, and no office file needs one.
 */
export async function* readXml(
  pieces: AsyncIterable<string>,
  handler: XmlHandler,
  kind: OfficeKind,
): AsyncGenerator<void> {
  const { what, program, longest } = kind
  const parser = new SaxesParser({ xmlns: true, position: false })
  let depth = 0
  let sinceToken = 0
  let isEmpty = true
  const alternatives = createAlternatives((prefix) => parser.resolve(prefix))
  parser.on('doctype', () => {
    throw new ExtractionError(
      'unsupported_content',
      `The ${what} declares XML entities, which ${program} never does; it is not read. Save it again in ${program} and upload the new file.`,
    )
  })
  parser.on('opentag', (tag) => {
    sinceToken = 0
    depth += 1
    if (depth > maximumDepth)
      throw new ExtractionError(
        'too_complex',
        `The ${what} nests deeper than ${maximumDepth} levels. Copy its text into a new ${what} and upload that.`,
      )
    if (alternatives.open(tag)) return
    handler.open(`${lookUp(namespacePrefixes, tag.uri) ?? ''}${tag.local}`, (name) => {
      const isRelationship = name === 'r:id'
      const wanted = isRelationship ? 'id' : name
      for (const { local, uri, value } of Object.values(tag.attributes))
        if (local === wanted && (!isRelationship || relationships.has(uri))) return value
      return undefined
    })
  })
  parser.on('closetag', (tag) => {
    sinceToken = 0
    depth -= 1
    if (alternatives.close(tag)) return
    handler.close(`${lookUp(namespacePrefixes, tag.uri) ?? ''}${tag.local}`)
  })
  const text = (text: string) => {
    if (!alternatives.skips()) handler.text(text)
  }
  parser.on('text', text)
  parser.on('cdata', text)
  for await (const piece of pieces) {
    isEmpty = false
    sinceToken += piece.length
    if (sinceToken > maximumTokenCharacters)
      throw new ExtractionError(
        'too_large_when_unpacked',
        `One ${longest} of the ${what} is larger than 16 million characters. Split it into smaller ${what}s.`,
      )
    feed(parser, piece, kind)
    yield
  }
  // An absent part is empty, not broken XML.
  if (!isEmpty) feed(parser, null, kind)
}

type Tag = Pick<SaxesTagNS, 'uri' | 'local' | 'attributes'>

/**
 * Which of several forms of the same content is read: the first choice whose namespaces are known, or else the fallback (ECMA-376 part
 * 3, 7.5 to 7.7). `open` and `close` return true for elements that the handler does not see.
 */
function createAlternatives(namespaceOf: (prefix: string) => string | undefined) {
  /** For each `AlternateContent` that is open: one of its forms has been read. */
  const taken: boolean[] = []
  let skipDepth = 0
  const isTaken = ({ local, attributes }: Tag) => {
    if (taken.length === 0) return true
    if (taken.at(-1)) return false
    const required = local === 'Fallback' ? '' : (attributes['Requires']?.value ?? '')
    const prefixes = required.split(/\s+/).filter((prefix) => prefix !== '')
    return prefixes.every((prefix) => knownExtensions.test(namespaceOf(prefix) ?? ''))
  }
  return {
    skips: () => skipDepth > 0,
    open(tag: Tag): boolean {
      if (skipDepth > 0) skipDepth += 1
      else if (tag.uri === compatibility) {
        if (tag.local === 'AlternateContent') taken.push(false)
        else if (!isTaken(tag)) skipDepth = 1
        else if (taken.length > 0) taken[taken.length - 1] = true
      } else return false
      return true
    },
    close({ uri, local }: Tag): boolean {
      if (skipDepth > 0) skipDepth -= 1
      else if (uri !== compatibility) return false
      else if (local === 'AlternateContent') taken.pop()
      return true
    },
  }
}

function feed(parser: SaxesParser<{ xmlns: true; position: false }>, piece: string | null, { format }: OfficeKind) {
  try {
    if (piece === null) parser.close()
    else parser.write(piece)
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    throw corruptFile(`The ${format} file is damaged: its XML is broken.`, error)
  }
}

/** Reads a small part to its end. */
export async function readWholeXml(
  pieces: AsyncIterable<string>,
  handler: Partial<XmlHandler>,
  kind: OfficeKind,
): Promise<void> {
  const whole: XmlHandler = { open() {}, close() {}, text() {}, ...handler }
  for await (const _ of readXml(pieces, whole, kind));
}
