import { PDFiumModule } from '@hyzyla/pdfium'
import { ExtractionError, type ExtractedBlock } from '../../extraction.ts'
import { corruptFile } from '../extractor.ts'
import { composeAccents } from './accents.ts'
import { PdfCharacters } from './character.ts'
import {
  closeForm,
  dynamicXfaForm,
  type FormField,
  type FormFunctions,
  openForm,
  placeFields,
  takeFields,
} from './form-fields.ts'
import { hasHiddenText, type HiddenTextFunctions } from './hidden-text.ts'
import { type LinkFunctions, placeLinks, readLinks } from './links.ts'
import { withMathSigns } from './math-signs.ts'
import { noAnnotations, noteBlocks, type NoteFunctions, type PageAnnotations, readAnnotations } from './notes.ts'
import { listAttachments, type PdfAttachment } from './attachments.ts'
import { type PageImage, renderPage, type RenderFunctions } from './render.ts'
import { type PagePictures, type PictureFunctions, readPictures } from './pictures.ts'
import { type PageBox, shownCharacters } from './shown-characters.ts'
import { placeStatedTexts, type StatedTextFunctions, takeStatedTexts } from './stated-text.ts'
import { type VerticalTextFunctions, widenVerticalText } from './vertical-text.ts'
import { closeSpacedLetters } from './spaced-letters.ts'
import { orderSyllables } from './syllables.ts'
import { readRules, type Rule } from './tables/drawn-rules.ts'

/**
 * The few functions of PDFium's C interface that are used here; the package types none of the text geometry. Pointers are
 * byte offsets into the WebAssembly memory, whose views (HEAP…) are replaced whenever it grows: read them again each time.
 */
interface Pdfium
  extends
    PictureFunctions,
    RenderFunctions,
    FormFunctions,
    LinkFunctions,
    HiddenTextFunctions,
    NoteFunctions,
    StatedTextFunctions,
    VerticalTextFunctions {
  HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _FPDF_InitLibrary?(): void
  _PDFium_Init?(): void
  _FPDF_LoadMemDocument(data: number, bytes: number, password: number): number
  _FPDF_CloseDocument(document: number): void
  _FPDF_GetLastError(): number
  _FPDF_GetPageCount(document: number): number
  _FPDF_LoadPage(document: number, index: number): number
  _FPDF_ClosePage(page: number): void
  _FPDFPage_GetAnnotCount(page: number): number
  _FPDFPage_Flatten(page: number, usage: number): number
  _FPDFPage_GetRotation(page: number): number
  _FPDFPage_SetRotation(page: number, quarterTurns: number): void
  _FPDFText_LoadPage(page: number): number
  _FPDFText_ClosePage(textPage: number): void
  _FPDFText_CountChars(textPage: number): number
  _FPDFText_GetUnicode(textPage: number, index: number): number
  _FPDFText_GetLooseCharBox(textPage: number, index: number, rectangle: number): number
  _FPDFText_GetCharAngle(textPage: number, index: number): number
  _FPDFText_GetFontSize(textPage: number, index: number): number
  _FPDFText_IsGenerated(textPage: number, index: number): number
  _FPDF_GetPageBoundingBox(page: number, rectangle: number): number
  /** 0 for none. */
  _FPDFTextObj_GetFont(textObject: number): number
  _FPDFText_GetFontInfo(textPage: number, index: number, buffer: number, bytes: number, flags: number): number
}

/** Codes of FPDF_GetLastError, from PDFium's public header fpdfview.h. */
const passwordError = 4
const securityError = 5

export interface PdfPage {
  characters: PdfCharacters
  /** Direction of the character's writing in quarter turns against the clock (0..3), or null where it is slanted. */
  quarterTurns(index: number): number | null
  isBold(index: number): boolean
  /** The straight lines that are drawn on it. */
  rules(): Rule[]
  pictures(): PagePictures
  /** Draws the page; null where that is not possible. */
  render(): PageImage | null
  /** Text that readers of the page cannot see. */
  hasHiddenText(): boolean
  /** Texts of its annotations that it does not show, in the order of the file. */
  notes: ExtractedBlock[]
  /** Files that are attached to places on it. */
  files: PdfAttachment[]
  /** Glyphs whose font does not state the letter that they show; `characters` has a guess of PDFium's for each. */
  unmappedGlyphs: number
}

interface PdfDocument {
  pageCount: number
  /** True for a form whose pages only its program can show. */
  hasDynamicForm: boolean
  /** The files in it that belong to no page. */
  attachments: PdfAttachment[]
  /** Reads a page and calls `use` while it is open. Throws an ordinary Error when the page is broken. */
  readPage<T>(index: number, use: (page: PdfPage) => T): T
  close(): void
}

export type PdfReader = Awaited<ReturnType<typeof createPdfReader>>

/** Loads PDFium once per process: about 20 ms. */
export async function createPdfReader() {
  const pdfium = withDirectCalls((await PDFiumModule({})) as unknown as Pdfium & DirectFunctions)
  pdfium._PDFium_Init?.()
  const scratch = pdfium._malloc(scratchBytes)

  return {
    /** Throws ExtractionError where the file cannot be opened. */
    open(bytes: Uint8Array): PdfDocument {
      const data = pdfium._malloc(bytes.length)
      if (data === 0)
        throw new ExtractionError('out_of_memory', 'The pdf is too large to be opened. Split it into smaller files.')
      pdfium.HEAPU8.set(bytes, data)
      const document = pdfium._FPDF_LoadMemDocument(data, bytes.length, 0)
      if (document === 0) {
        const error = pdfium._FPDF_GetLastError()
        pdfium._free(data)
        throw openError(error)
      }
      const form = openForm(pdfium, document)
      const source: OpenDocument = { document, form: form.form, keptPage: 0 }
      return {
        pageCount: pdfium._FPDF_GetPageCount(document),
        hasDynamicForm: pdfium._FPDF_GetFormType(document) === dynamicXfaForm,
        attachments: listAttachments(pdfium, document),
        readPage: (index, use) => readPage(pdfium, scratch, source, index, use),
        close() {
          closeKept(pdfium, source)
          closeForm(pdfium, form)
          pdfium._FPDF_CloseDocument(document)
          pdfium._free(data)
        },
      }
    },
  }
}

/** The functions of the WebAssembly module, without the underscore before their names. */
interface DirectFunctions {
  wasmExports: Readonly<Record<string, unknown>>
}

/**
 * The package wraps each function in checks for its developers, which take longer than most calls: a page has thousands of letters, and
 * several calls for each.
 */
function withDirectCalls(module: Pdfium & DirectFunctions): Pdfium {
  const functions = module as unknown as Record<string, unknown>
  for (const [name, direct] of Object.entries(module.wasmExports)) {
    const wrapped = `_${name}`
    if (typeof direct === 'function' && typeof functions[wrapped] === 'function') functions[wrapped] = direct
  }
  return module
}

const scratchBytes = 2048

function openError(code: number): ExtractionError {
  if (code === passwordError)
    return new ExtractionError(
      'encrypted_pdf',
      'The pdf needs a password. Save a copy without the password and upload that.',
    )
  if (code === securityError)
    return new ExtractionError(
      'encrypted_pdf',
      'The pdf is encrypted in a way that cannot be opened. Save an unprotected copy and upload that.',
    )
  return corruptFile('The file is damaged or is no pdf.')
}

function readPage<T>(
  pdfium: Pdfium,
  scratch: number,
  source: OpenDocument,
  index: number,
  use: (page: PdfPage) => T,
): T {
  const { page, fields, links, annotations } = openPage(pdfium, scratch, source, index)
  closeKept(pdfium, source)
  let isKept = true
  try {
    const stated = takeStatedTexts(pdfium, page, scratch)
    widenVerticalText(pdfium, stated.objects, scratch)
    const textPage = loadUprightText(pdfium, page)
    if (textPage === 0) throw new Error(`page ${index + 1} has no readable content`)
    try {
      const { characters: raw, unmappedGlyphs } = readCharacters(pdfium, textPage, scratch)
      const read = withMathSigns(raw, (at) => fontNameOf(pdfium, textPage, at, scratch))
      const placed = placeStatedTexts(pdfium, { textPage, scratch }, read, stated)
      const whole = placed?.characters ?? read
      const repaired = repairLetters(whole)
      const shown = shownCharacters(repaired.characters, readBox(pdfium, page, scratch))
      const seen = shown === null ? repaired.characters : repaired.characters.pick(shown)
      const closed = closeSpacedLetters(seen)
      const text = placeFields(closed?.characters ?? seen, fields)
      const { characters, origins } = placeLinks(text, links)
      let pictures: PagePictures | undefined
      const isBold = createBoldness(pdfium, textPage, scratch)
      const originOf = (character: number) => {
        const origin = origins === null ? character : origins[character]!
        if (origin < 0) return origin
        const open = closed === null ? origin : closed.places[origin]!
        const place = shown === null ? open : shown[open]!
        const at = repaired.places === null ? place : repaired.places[place]!
        return placed === null ? at : placed.origins[at]!
      }
      return use({
        characters,
        quarterTurns: (character) =>
          originOf(character) < 0 ? 0 : quarterTurns(pdfium, textPage, originOf(character)),
        isBold: (character) => originOf(character) >= 0 && isBold(originOf(character)),
        rules: () => readRules(pdfium, page, scratch),
        pictures: () => (pictures ??= readPictures(pdfium, page, scratch)),
        render() {
          // A drawn page holds its pictures.
          isKept = false
          return renderPage(pdfium, page)
        },
        hasHiddenText: () => hasHiddenText(pdfium, { page, textPage, scratch }, read),
        notes: noteBlocks(annotations.notes, whole),
        files: annotations.files,
        unmappedGlyphs: unmappedGlyphs - (placed?.mappedGlyphs ?? 0),
      })
    } finally {
      pdfium._FPDFText_ClosePage(textPage)
    }
  } finally {
    if (isKept) source.keptPage = page
    else pdfium._FPDF_ClosePage(page)
  }
}

/** The characters with their accents, in the order of writing, and the places that they had; null where none has changed. */
function repairLetters(given: PdfCharacters): { characters: PdfCharacters; places: number[] | null } {
  let repaired: { characters: PdfCharacters; places: number[] | null } = { characters: given, places: null }
  for (const repair of [composeAccents, orderSyllables]) {
    const next = repair(repaired.characters)
    if (next === null) continue
    const { places } = repaired
    repaired = { ...next, places: places === null ? next.places : next.places.map((place) => places[place]!) }
  }
  return repaired
}

interface OpenDocument {
  document: number
  /** 0 where it has no form. */
  form: number
  /**
   * The page that was read last, 0 where none is open. PDFium forgets the fonts of a closed page: the next one would load those that both
   * have again.
   */
  keptPage: number
}

function closeKept(pdfium: Pdfium, source: OpenDocument) {
  if (source.keptPage !== 0) pdfium._FPDF_ClosePage(source.keptPage)
  source.keptPage = 0
}

/** Opens a page with its filled form fields and annotations: as part of its content, or as `fields`. */
function openPage(
  pdfium: Pdfium,
  scratch: number,
  { document, form }: OpenDocument,
  index: number,
): { page: number; fields: FormField[]; links: ReturnType<typeof readLinks>; annotations: PageAnnotations } {
  const page = pdfium._FPDF_LoadPage(document, index)
  if (page === 0) throw new Error(`page ${index + 1} cannot be opened`)
  if (pdfium._FPDFPage_GetAnnotCount(page) === 0) return { page, fields: [], links: [], annotations: noAnnotations }
  const links = readLinks(pdfium, document, page, scratch, scratchBytes)
  const annotations = readAnnotations(pdfium, page)
  const fields = form === 0 ? [] : takeFields(pdfium, form, page, scratch)
  const flattened = pdfium._FPDFPage_Flatten(page, 0)
  if (flattened !== 1) return { page, fields, links, annotations }
  pdfium._FPDF_ClosePage(page)
  const reopened = pdfium._FPDF_LoadPage(document, index)
  if (reopened === 0) throw new Error(`page ${index + 1} cannot be opened`)
  return { page: reopened, fields, links, annotations }
}

/**
 * PDFium finds lines as the page is shown, so a page that is shown with its text lying on the side comes out in a wrong order.
 * Where most of the text is not upright, the page is turned until it is.
 */
function loadUprightText(pdfium: Pdfium, page: number): number {
  const textPage = pdfium._FPDFText_LoadPage(page)
  const count = textPage === 0 ? 0 : pdfium._FPDFText_CountChars(textPage)
  if (count === 0) return textPage
  const votes = [0, 0, 0, 0]
  for (let sample = 0; sample < sampledCharacters; sample += 1) {
    // Blanks and line ends that PDFium adds have no angle.
    let character = Math.floor((count * (sample + 0.5)) / sampledCharacters)
    const last = Math.min(count - 1, character + 8)
    while (character < last && pdfium._FPDFText_GetUnicode(textPage, character) <= 0x20) character += 1
    if (pdfium._FPDFText_GetUnicode(textPage, character) <= 0x20) continue
    const turns = quarterTurns(pdfium, textPage, character)
    if (turns !== null) votes[turns]! += 1
  }
  const turns = votes.indexOf(Math.max(...votes))
  if (turns === pdfium._FPDFPage_GetRotation(page)) return textPage
  pdfium._FPDFText_ClosePage(textPage)
  pdfium._FPDFPage_SetRotation(page, turns)
  return pdfium._FPDFText_LoadPage(page)
}

const sampledCharacters = 15

function readBox(pdfium: Pdfium, page: number, scratch: number): PageBox | null {
  if (pdfium._FPDF_GetPageBoundingBox(page, scratch) === 0) return null
  const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + 4)
  return right > left && top > bottom ? { left, right, bottom, top } : null
}

/** Reads the places of so many letters into the memory that both sides share before they are copied at once. */
const boxesAtOnce = scratchBytes / 16

function readCharacters(pdfium: Pdfium, textPage: number, scratch: number) {
  // Properties of the module are looked up in a table of hundreds.
  const { _FPDFText_GetUnicode, _FPDFText_HasUnicodeMapError, _FPDFText_GetLooseCharBox, _FPDFText_IsGenerated } =
    pdfium
  const count = pdfium._FPDFText_CountChars(textPage)
  const codes = new Int32Array(count)
  const boxes = new Float32Array(count * 4)
  const generated = new Uint8Array(count)
  let unmappedGlyphs = 0
  for (let from = 0; from < count; from += boxesAtOnce) {
    const to = Math.min(count, from + boxesAtOnce)
    for (let index = from; index < to; index += 1) {
      const code = _FPDFText_GetUnicode(textPage, index)
      codes[index] = code
      _FPDFText_GetLooseCharBox(textPage, index, scratch + (index - from) * 16)
      if (code === 0x20 || code === 0x0a || code === 0x0d) generated[index] = _FPDFText_IsGenerated(textPage, index)
      else if (_FPDFText_HasUnicodeMapError(textPage, index) === 1) unmappedGlyphs += 1
    }
    boxes.set(pdfium.HEAPF32.subarray(scratch / 4, scratch / 4 + (to - from) * 4), from * 4)
  }
  return { characters: PdfCharacters.fromArrays({ codes, boxes, generated }), unmappedGlyphs }
}

/** PDFium's angles go clockwise; here one quarter turn is writing that goes upwards on the page. */
function quarterTurns(pdfium: Pdfium, textPage: number, index: number): number | null {
  const angle = pdfium._FPDFText_GetCharAngle(textPage, index)
  if (angle < 0) return 0
  const turns = angle / (Math.PI / 2)
  const nearest = Math.round(turns)
  if (Math.abs(turns - nearest) >= 0.05) return null
  // A negative size turns letters upside down, which the angle leaves out.
  return (8 - nearest + (pdfium._FPDFText_GetFontSize(textPage, index) < 0 ? 2 : 0)) % 4
}

/** Whether a character is bold, by the name of its font, which is read once for each font of the page. */
function createBoldness(pdfium: Pdfium, textPage: number, scratch: number): (index: number) => boolean {
  const boldFonts = new Map<number, boolean>()
  return (index) => {
    const font = pdfium._FPDFTextObj_GetFont(pdfium._FPDFText_GetTextObject(textPage, index))
    let isBold = boldFonts.get(font)
    if (isBold === undefined) boldFonts.set(font, (isBold = hasBoldName(pdfium, textPage, index, scratch)))
    return isBold
  }
}

function hasBoldName(pdfium: Pdfium, textPage: number, index: number, scratch: number): boolean {
  return /bold|black|heavy|semibold|demi|CMBX|NimbusRomNo9L-Medi/i.test(fontNameOf(pdfium, textPage, index, scratch))
}

/** Empty where the font has none, or a longer one than any program writes. */
function fontNameOf(pdfium: Pdfium, textPage: number, index: number, scratch: number): string {
  const length = pdfium._FPDFText_GetFontInfo(textPage, index, scratch, scratchBytes, 0)
  if (length <= 1 || length > scratchBytes) return ''
  return Buffer.from(pdfium.HEAPU8.slice(scratch, scratch + length - 1)).toString('latin1')
}
