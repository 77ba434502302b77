import { type PdfCharacter, PdfCharacters } from './character.ts'

/** PDFium's functions for the texts of annotations. */
export interface TextFunctions {
  HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  _FPDFAnnot_GetStringValue(annotation: number, key: number, buffer: number, bytes: number): number
}

/** PDFium's functions for form fields. `form` is the handle of openForm. */
export interface FormFunctions extends TextFunctions {
  HEAP32: Int32Array
  HEAPF32: Float32Array
  _FPDF_GetFormType(document: number): number
  _FPDFDOC_InitFormFillEnvironment(document: number, info: number): number
  _FPDFDOC_ExitFormFillEnvironment(form: number): void
  _FPDFPage_GetAnnotCount(page: number): number
  _FPDFPage_GetAnnot(page: number, index: number): number
  _FPDFPage_CloseAnnot(annotation: number): void
  _FPDFPage_RemoveAnnot(page: number, index: number): number
  _FPDFAnnot_GetSubtype(annotation: number): number
  _FPDFAnnot_GetFlags(annotation: number): number
  _FPDFAnnot_GetRect(annotation: number, rectangle: number): number
  _FPDFAnnot_GetAP(annotation: number, mode: number, buffer: number, bytes: number): number
  _FPDFAnnot_GetFormFieldType(form: number, annotation: number): number
  _FPDFAnnot_GetFormFieldFlags(form: number, annotation: number): number
  _FPDFAnnot_GetFormFieldValue(form: number, annotation: number, buffer: number, bytes: number): number
  _FPDFAnnot_IsChecked(form: number, annotation: number): number
}

/** Numbers of PDFium's public headers fpdf_annot.h and fpdf_formfill.h, and of the pdf standard (flags). */
const widget = 20
export const hiddenFlags = 2 | 32
const checkBox = 2
const radioButton = 3
const comboBox = 4
const listBox = 5
const textField = 6
const passwordFlag = 1 << 13
/** Types of FPDF_GetFormType; 2 is a form that only its program can show. */
export const noForm = 0
export const dynamicXfaForm = 2

const formInfoBytes = 1024
/** Fields of one page that are read; more are generated, not filled in. */
const maximumFields = 5_000
const maximumValueBytes = 128 * 1024
const largestFontSize = 12
const smallestFontSize = 4

/** The handle with which fields are read; 0 where there is no form. Close it with closeForm before the document. */
export function openForm(pdfium: FormFunctions, document: number): { form: number; info: number } {
  if (pdfium._FPDF_GetFormType(document) === noForm) return { form: 0, info: 0 }
  const info = pdfium._malloc(formInfoBytes)
  pdfium.HEAPU8.fill(0, info, info + formInfoBytes)
  // Which version of the structure it takes depends on how it was built.
  for (const version of [1, 2]) {
    pdfium.HEAP32[info / 4] = version
    const form = pdfium._FPDFDOC_InitFormFillEnvironment(document, info)
    if (form !== 0) return { form, info }
  }
  pdfium._free(info)
  return { form: 0, info: 0 }
}

export function closeForm(pdfium: FormFunctions, { form, info }: { form: number; info: number }): void {
  if (form === 0) return
  pdfium._FPDFDOC_ExitFormFillEnvironment(form)
  pdfium._free(info)
}

export interface FormField {
  text: string
  isMark: boolean
  left: number
  right: number
  bottom: number
  top: number
}

/**
 * What is filled into the fields of a page but not drawn as text: check marks, and values whose appearance is left to the viewer.
 * Takes those fields off the page, so that the drawing of a check mark does not become a letter.
 */
export function takeFields(pdfium: FormFunctions, form: number, page: number, scratch: number): FormField[] {
  const fields: FormField[] = []
  const count = Math.min(pdfium._FPDFPage_GetAnnotCount(page), maximumFields)
  for (let index = count - 1; index >= 0; index -= 1) {
    const annotation = pdfium._FPDFPage_GetAnnot(page, index)
    if (annotation === 0) continue
    const field = readField(pdfium, form, annotation, scratch)
    pdfium._FPDFPage_CloseAnnot(annotation)
    if (!field) continue
    fields.push(field)
    pdfium._FPDFPage_RemoveAnnot(page, index)
  }
  fields.sort((one, other) => other.top - one.top || one.left - other.left)
  return fields
}

function readField(pdfium: FormFunctions, form: number, annotation: number, scratch: number): FormField | null {
  if (pdfium._FPDFAnnot_GetSubtype(annotation) !== widget) return null
  if ((pdfium._FPDFAnnot_GetFlags(annotation) & hiddenFlags) !== 0) return null
  const text = textOf(pdfium, form, annotation)
  if (text === null || pdfium._FPDFAnnot_GetRect(annotation, scratch) === 0) return null
  const at = scratch / 4
  const [left, top, right, bottom] = pdfium.HEAPF32.slice(at, at + 4) as unknown as [number, number, number, number]
  return {
    text,
    isMark: text.startsWith('[') && text.length === 3,
    left: Math.min(left, right),
    right: Math.max(left, right),
    bottom: Math.min(bottom, top),
    top: Math.max(bottom, top),
  }
}

function textOf(pdfium: FormFunctions, form: number, annotation: number): string | null {
  const type = pdfium._FPDFAnnot_GetFormFieldType(form, annotation)
  if (type === checkBox || type === radioButton) return isChecked(pdfium, form, annotation, type) ? '[x]' : '[ ]'
  if (type !== comboBox && type !== listBox && type !== textField) return null
  if (type === textField && (pdfium._FPDFAnnot_GetFormFieldFlags(form, annotation) & passwordFlag) !== 0) return null
  const drawn = readText(pdfium, (buffer, bytes) => pdfium._FPDFAnnot_GetAP(annotation, 0, buffer, bytes))
  // Operators that show text: then flattening the page makes it part of the content.
  if (/\b(?:Tj|TJ)\b|\)\s*['"]/.test(drawn)) return null
  const value = readText(pdfium, (buffer, bytes) =>
    pdfium._FPDFAnnot_GetFormFieldValue(form, annotation, buffer, bytes),
  )
  return value.trim() === '' ? null : value
}

/** By its appearance state, which most programs write; by its value where there is none. */
function isChecked(pdfium: FormFunctions, form: number, annotation: number, type: number): boolean {
  const state = readValue(pdfium, annotation, 'AS')
  if (state !== '') return state !== 'Off'
  if (pdfium._FPDFAnnot_IsChecked(form, annotation) !== 0) return true
  const value = readText(pdfium, (buffer, bytes) =>
    pdfium._FPDFAnnot_GetFormFieldValue(form, annotation, buffer, bytes),
  )
  return type === checkBox && value !== '' && value !== 'Off'
}

/** A text of an annotation's dictionary; empty where it has none. */
export function readValue(pdfium: TextFunctions, annotation: number, name: string): string {
  const key = pdfium._malloc(name.length + 1)
  pdfium.HEAPU8.set([...Buffer.from(name, 'latin1'), 0], key)
  try {
    return readText(pdfium, (buffer, bytes) => pdfium._FPDFAnnot_GetStringValue(annotation, key, buffer, bytes))
  } finally {
    pdfium._free(key)
  }
}

/** Calls a function that reports how many bytes it needs, then fills a buffer with UTF-16 and its end. */
export function readText(
  pdfium: Pick<TextFunctions, 'HEAPU8' | '_malloc' | '_free'>,
  read: (buffer: number, bytes: number) => number,
): string {
  const bytes = Math.min(read(0, 0), maximumValueBytes)
  if (bytes <= 2) return ''
  const buffer = pdfium._malloc(bytes)
  try {
    read(buffer, bytes)
    return Buffer.from(pdfium.HEAPU8.slice(buffer, buffer + bytes - 2)).toString('utf16le')
  } finally {
    pdfium._free(buffer)
  }
}

/**
 * The characters of a page with those of its fields: a value behind the text to its left, a mark before the text to its right.
 * `origins` has the index of each drawn character, and -1 for those of fields; null where all are in their places.
 */
export function placeFields(
  drawn: PdfCharacters,
  fields: readonly FormField[],
): { characters: PdfCharacters; origins: number[] | null } {
  if (fields.length === 0) return { characters: drawn, origins: null }
  const inserted = new Map<number, PdfCharacter[]>()
  const given = drawn.toArray()
  for (const field of fields) {
    const place = placeOf(field, drawn)
    const characters = toCharacters(field)
    const former = inserted.get(place) ?? []
    inserted.set(place, [...former, ...withGap(field, characters, given[place - 1])])
  }
  const characters: PdfCharacter[] = []
  const origins: number[] = []
  for (let index = 0; index <= given.length; index += 1) {
    for (const character of inserted.get(index) ?? []) {
      characters.push(character)
      origins.push(-1)
    }
    if (index === given.length) break
    characters.push(given[index]!)
    origins.push(index)
  }
  return { characters: PdfCharacters.of(characters), origins }
}

/** Where its characters go: the index of the drawn character that they come before. */
function placeOf(field: FormField, drawn: PdfCharacters): number {
  const middle = (field.top + field.bottom) / 2
  let before = -1
  let after = -1
  for (let index = 0; index < drawn.length; index += 1) {
    if (drawn.code(index) <= 0x20 || middle > drawn.top(index) + slack || middle < drawn.bottom(index) - slack) continue
    const left = drawn.left(index)
    const right = drawn.right(index)
    if (right <= field.left + slack && (before === -1 || right > drawn.right(before))) before = index
    if (left >= field.right - slack && (after === -1 || left < drawn.left(after))) after = index
  }
  if (field.isMark && after !== -1) return after
  return before === -1 ? drawn.length : before + 1
}

/** Fields and their labels may overlap by this much. */
const slack = 2

/** With the blank or line end that separates it from its label, or from the text before it. */
function withGap(field: FormField, characters: PdfCharacter[], label: PdfCharacter | undefined): PdfCharacter[] {
  const first = characters[0]!
  const last = characters.at(-1)!
  if (field.isMark) return [...characters, gap(0x20, last.right, last)]
  const isOnLine = label !== undefined && label.top > first.bottom && label.bottom < first.top
  return [isOnLine ? gap(0x20, label.right, first) : gap(0x0a, first.left, first), ...characters]
}

function gap(code: number, at: number, { bottom, top }: PdfCharacter): PdfCharacter {
  return { code, generated: true, left: at, right: at, bottom, top }
}

/** The value as characters in its field's place, so that it is read on the line of its label. */
function toCharacters({ text, left, right, bottom, top }: FormField): PdfCharacter[] {
  const lines = text.split(/\r\n|[\r\n]/)
  const height = (top - bottom) / lines.length
  const size = Math.min(largestFontSize, Math.max(smallestFontSize, height * 0.8))
  const characters: PdfCharacter[] = []
  for (const [index, line] of lines.entries()) {
    const codes = Array.from(line, (character) => character.codePointAt(0)!)
    const width = Math.min(size * 0.5, (right - left) / Math.max(1, codes.length))
    const middle = top - height * (index + 0.5)
    const box = { bottom: middle - size / 2, top: middle + size / 2 }
    if (index > 0) characters.push({ code: 0x0a, generated: true, left, right: left, ...box })
    for (const [place, code] of codes.entries())
      characters.push({ code, generated: false, left: left + width * place, right: left + width * (place + 1), ...box })
  }
  return characters
}
