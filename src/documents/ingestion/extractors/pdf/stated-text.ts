import { isMostlyRightToLeft } from './bidi.ts'
import { isRightToLeftCode, type PdfCharacter, PdfCharacters } from './character.ts'
import { isSideBySide } from './segment.ts'
import { emptyWidth } from './vertical-text.ts'
import { objectTypes, type PathFunctions } from './tables/drawn-rules.ts'

/** PDFium's functions for marks in the content of a page, and for the objects of a form. */
export interface StatedTextFunctions extends PathFunctions {
  HEAPU8: Uint8Array
  HEAPU32: Uint32Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _FPDFPageObj_CountMarks(object: number): number
  _FPDFPageObj_GetMark(object: number, index: number): number
  _FPDFPageObj_RemoveMark(object: number, mark: number): number
  _FPDFPageObjMark_GetParamBlobValue(
    mark: number,
    key: number,
    buffer: number,
    bytes: number,
    writtenBytes: number,
  ): number
  _FPDFFormObj_CountObjects(form: number): number
  _FPDFFormObj_GetObject(form: number, index: number): number
  _FPDFText_GetTextObject(textPage: number, index: number): number
  _FPDFText_HasUnicodeMapError(textPage: number, index: number): number
}

/** What some glyphs stand for, as the file states it (`ActualText`): the letters of a syllable that is drawn as parts. */
interface StatedText {
  text: string
}

/** The text objects of a page in the order of drawing, and the stated text of each that has one. */
export interface StatedTexts {
  objects: readonly number[]
  ofObject: ReadonlyMap<number, StatedText>
}

const maximumFormDepth = 4
/** The text of a mark further out belongs to a figure or a paragraph, not to a few glyphs. */
const maximumMarks = 8
/** Longer texts stay where PDFium places them: they replace lines, not glyphs. */
const maximumLetters = 32
const maximumBytes = 128

/**
 * Takes the stated texts of a page from its objects, so that PDFium reads their glyphs, with their places. It repeats such a text where
 * its glyphs overlap those of the next one, and does not know its width. Call it before the text of the page is loaded.
 */
export function takeStatedTexts(pdfium: StatedTextFunctions, page: number, scratch: number): StatedTexts {
  const ofMark = new Map<number, StatedText | null>()
  const ofObject = new Map<number, StatedText>()
  const marks: { object: number; mark: number }[] = []
  let key = 0
  const objects = listTextObjects(pdfium, page)
  for (const object of objects) {
    const count = pdfium._FPDFPageObj_CountMarks(object)
    for (let index = count - 1; index >= Math.max(0, count - maximumMarks); index -= 1) {
      const mark = pdfium._FPDFPageObj_GetMark(object, index)
      let stated = ofMark.get(mark)
      if (stated === undefined) {
        key ||= allocateKey(pdfium)
        ofMark.set(mark, (stated = readStated(pdfium, mark, key, scratch)))
      }
      if (stated === null) continue
      ofObject.set(object, stated)
      marks.push({ object, mark })
      break
    }
  }
  for (const { object, mark } of marks) pdfium._FPDFPageObj_RemoveMark(object, mark)
  if (key !== 0) pdfium._free(key)
  return { objects, ofObject }
}

/** Those in forms as well. */
function listTextObjects(pdfium: StatedTextFunctions, page: number): number[] {
  const objects: number[] = []
  const add = (object: number, depth: number) => {
    const type = object === 0 ? 0 : pdfium._FPDFPageObj_GetType(object)
    if (type === objectTypes.text) objects.push(object)
    if (type !== objectTypes.form || depth === 0) return
    const count = pdfium._FPDFFormObj_CountObjects(object)
    for (let index = 0; index < count; index += 1) add(pdfium._FPDFFormObj_GetObject(object, index), depth - 1)
  }
  const count = pdfium._FPDFPage_CountObjects(page)
  for (let index = 0; index < count; index += 1) add(pdfium._FPDFPage_GetObject(page, index), maximumFormDepth)
  return objects
}

function allocateKey(pdfium: StatedTextFunctions): number {
  const name = Buffer.from('ActualText\0')
  const key = pdfium._malloc(name.length)
  pdfium.HEAPU8.set(name, key)
  return key
}

/** Null for a mark without a text, or with one that is empty or long. */
function readStated(pdfium: StatedTextFunctions, mark: number, key: number, scratch: number): StatedText | null {
  const written = scratch + maximumBytes
  // The function for texts takes their bytes for UTF-8.
  if (pdfium._FPDFPageObjMark_GetParamBlobValue(mark, key, scratch, maximumBytes, written) === 0) return null
  const length = pdfium.HEAPU32[written / 4]!
  if (length === 0 || length > maximumBytes) return null
  const text = textStringOf(Buffer.from(pdfium.HEAPU8.slice(scratch, scratch + length)))
  // oxlint-disable-next-line no-control-regex -- a text of controls states nothing
  return text.length <= maximumLetters && /[^\u0000-\u001f]/.test(text) ? { text } : null
}

/** A text string of the pdf standard: UTF-16 or UTF-8 with a byte order mark, otherwise nearly Latin-1. */
function textStringOf(bytes: Buffer): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return bytes
      .subarray(2, bytes.length - (bytes.length % 2))
      .swap16()
      .toString('utf16le')
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString('utf16le')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3).toString('utf8')
  return bytes.toString('latin1')
}

/** What is drawn as one: a stated text with all its glyphs, or one text object. */
type Item = StatedText | number

/** A blank, or a sign without a width, between two items, which PDFium leaves out. */
interface Separator {
  code: number
  next: Item
  x: number
}

const zeroWidthNonJoiner = 0x200c
const zeroWidthSpace = 0x200b

/** The separators of a page by the item before them, in the order of drawing. */
function readSeparators(
  pdfium: StatedTextFunctions,
  { objects, ofObject }: StatedTexts,
  scratch: number,
): Map<Item, Separator> {
  const separators = new Map<Item, Separator>()
  let previous: Item | null = null
  let pending: Omit<Separator, 'next'> | null = null
  for (const object of objects) {
    const item = ofObject.get(object) ?? object
    if (isEmpty(pdfium, object, scratch)) {
      const code = separatorOf(item)
      if (item === previous || code === null || pending?.code === 0x20) continue
      if (pdfium._FPDFPageObj_GetMatrix(object, scratch) === 0) continue
      pending = { code, x: pdfium.HEAPF32[scratch / 4 + 4]! }
      continue
    }
    if (pending !== null && previous !== null && item !== previous) separators.set(previous, { ...pending, next: item })
    pending = null
    previous = item
  }
  return separators
}

function isEmpty(pdfium: StatedTextFunctions, object: number, scratch: number): boolean {
  if (pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return false
  const [left = 0, , right = 0] = pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + 4)
  return Math.abs(right - left) < emptyWidth
}

/** An empty object without a stated text is a blank: nothing else is drawn without a line. */
function separatorOf(item: Item): number | null {
  if (typeof item === 'number') return 0x20
  const { text } = item
  if (text.trim() === '') return 0x20
  const code = text.charCodeAt(0)
  return text.length === 1 && (code === zeroWidthNonJoiner || code === zeroWidthSpace) ? code : null
}

interface Box {
  left: number
  right: number
  bottom: number
  top: number
}

/** Smaller gaps, in heights, separate no words, although PDFium adds a blank where a mark is drawn between them. */
const leastGap = 0.05
/** Items of one line are at most so many heights apart. */
const sameLineGap = 0.8

export interface PlacedTexts {
  characters: PdfCharacters
  /** The character that each comes from. */
  origins: number[]
  /** Glyphs without a letter in their font, which need none. */
  mappedGlyphs: number
}

/**
 * The characters of a page with stated texts in the places of their glyphs, and with the blanks that PDFium leaves out. Null for a page
 * without a stated text and without right-to-left words, which stays as it is.
 */
export function placeStatedTexts(
  pdfium: StatedTextFunctions,
  { textPage, scratch }: { textPage: number; scratch: number },
  read: PdfCharacters,
  stated: StatedTexts,
): PlacedTexts | null {
  const { ofObject } = stated
  if (ofObject.size === 0 && !read.hasRightToLeft()) return null
  const separators = readSeparators(pdfium, stated, scratch)
  if (ofObject.size === 0 && separators.size === 0) return null
  let mappedGlyphs = 0
  const items: (Item | null)[] = []
  for (let at = 0; at < read.length; at += 1) {
    const object = pdfium._FPDFText_GetTextObject(textPage, at)
    const text = ofObject.get(object)
    if (text && pdfium._FPDFText_HasUnicodeMapError(textPage, at) === 1) mappedGlyphs += 1
    items.push(object === 0 ? null : (text ?? object))
  }
  return { ...placeItems(read, items, separators), mappedGlyphs }
}

/** `items` names what each character is part of; null for those that PDFium adds. */
function placeItems(
  read: PdfCharacters,
  items: readonly (Item | null)[],
  separators: ReadonlyMap<Item, Separator>,
): Omit<PlacedTexts, 'mappedGlyphs'> {
  const characters: PdfCharacter[] = []
  const origins: number[] = []
  const all = read.toArray()
  const ranges = rangesOf(all, items)
  const hasStated = items.some((item) => typeof item === 'object' && item !== null)
  const isPageRightToLeft = isMostlyRightToLeft(read)
  const placed = new Set<Item>()
  let between: PdfCharacter[] = []
  /** A mark of a text that was placed before is drawn here. */
  let hasPassedGlyph = false
  let previous: { item: Item; box: Box } | null = null
  /** The places of letters decide on the order of a right-to-left line, wherever its blanks are in that of PDFium. */
  const isReordered = (item: Item) => {
    const { next } = separators.get(item)!
    if (ranges.get(item)?.isRightToLeft === true || ranges.get(next)?.isRightToLeft === true) return true
    return isPageRightToLeft && ranges.get(item)?.following !== next
  }
  const add = (letters: readonly PdfCharacter[], origin: number) => {
    for (const letter of letters) {
      characters.push(letter)
      origins.push(origin)
    }
  }
  for (const [at, character] of all.entries()) {
    const item = items[at] ?? null
    if (item === null) {
      between.push(character)
      continue
    }
    const isStated = typeof item !== 'number'
    if (isStated && placed.has(item)) {
      hasPassedGlyph = true
      continue
    }
    placed.add(item)
    const { box, first, isRightToLeft } = ranges.get(item)!
    const drawn = separators.get(item)
    const own = isStated ? box : character
    const before = previous === null || previous.item === item ? undefined : separators.get(previous.item)
    const separator = before?.next === item && !isReordered(previous!.item) ? before : undefined
    const isAnyOrder = isRightToLeft || (previous !== null && ranges.get(previous.item)!.isRightToLeft)
    const isOfGlyphs =
      hasStated &&
      (isAnyOrder || isStated || hasPassedGlyph || (previous !== null && typeof previous.item !== 'number'))
    const isUsual = previous === null || (!isOfGlyphs && separator === undefined)
    add(isUsual ? between : signsBetween(previous!.box, own, between, separator, isAnyOrder), at)
    between = []
    hasPassedGlyph = false
    // On its right, which is before it.
    if (drawn !== undefined && (isStated || first === at) && isReordered(item)) add([separatorAt(drawn, own)], at)
    add(isStated ? lettersOf(item.text, box) : [character], at)
    previous = { item, box: own }
  }
  add(between, all.length - 1)
  return { characters: PdfCharacters.of(characters), origins }
}

interface Range {
  box: Box
  first: number
  /** The item behind its last character. */
  following: Item | null
  isRightToLeft: boolean
}

/** Where the characters of each item are. Glyphs of one item on another line than its first do not widen its box. */
function rangesOf(all: readonly PdfCharacter[], items: readonly (Item | null)[]): Map<Item, Range> {
  const ranges = new Map<Item, Range>()
  let previous: Range | undefined
  for (const [at, character] of all.entries()) {
    const item = items[at] ?? null
    if (item === null) continue
    if (previous) previous.following = item
    const { code, left, right, bottom, top } = character
    const range = ranges.get(item)
    if (range === undefined) {
      const isRightToLeft = typeof item === 'number' ? isRightToLeftCode(code) : hasRightToLeft(item.text)
      previous = { box: { left, right, bottom, top }, first: at, following: null, isRightToLeft }
      ranges.set(item, previous)
      continue
    }
    previous = range
    // Marks without a width can be drawn next to their letter.
    const hasWidth = range.box.right > range.box.left
    if (!isSideBySide(range.box, character) || (hasWidth && right <= left)) continue
    range.box.left = hasWidth ? Math.min(range.box.left, left) : left
    range.box.right = hasWidth ? Math.max(range.box.right, right) : right
  }
  return ranges
}

function hasRightToLeft(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (isRightToLeftCode(text.codePointAt(at)!)) return true
  return false
}

/** What separates two items of which one has a stated text: PDFium adds blanks and line ends by the places of glyphs, not by those of texts. */
function signsBetween(
  one: Box,
  other: Box,
  between: readonly PdfCharacter[],
  separator: Separator | undefined,
  isAnyOrder: boolean,
): readonly PdfCharacter[] {
  const gap = Math.max(other.left - one.right, one.left - other.right)
  const height = other.top - other.bottom
  if (!isSideBySide(one, other) || (gap > height * sameLineGap && !isAnyOrder)) return between
  if (separator !== undefined) return separator.code === 0x20 && gap < 0 ? [] : [separatorAt(separator, one)]
  if (between.length === 0 || gap <= height * leastGap) return []
  const { bottom, top } = one
  const [left, right] = other.left >= one.right ? [one.right, other.left] : [other.right, one.left]
  return [{ code: 0x20, generated: true, left, right, bottom, top }]
}

/** Narrow, so that it is in order between the letters next to it. */
function separatorAt({ code, x }: Separator, { bottom, top }: Box): PdfCharacter {
  return { code, generated: false, left: x, right: x + (top - bottom) * 0.01, bottom, top }
}

/** The letters of a text side by side in its box, marks in the place of their letter, as PDFium gives those of one glyph. */
function lettersOf(text: string, box: Box): PdfCharacter[] {
  const clusters = text.match(/[\s\S][\p{M}\u200c\u200d]*/gu) ?? []
  const isRightToLeft = hasRightToLeft(text)
  const width = (box.right - box.left) / clusters.length
  return clusters.flatMap((cluster, at) => {
    const left = box.left + (isRightToLeft ? clusters.length - 1 - at : at) * width
    const codes = Array.from(cluster, (sign) => sign.codePointAt(0)!)
    if (isRightToLeft) codes.reverse()
    return codes.map((code) => ({ ...box, code, generated: false, left, right: left + width }))
  })
}
