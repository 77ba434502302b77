import type { PathFunctions } from './tables/drawn-rules.ts'

export interface PictureFunctions extends PathFunctions {
  _FPDF_GetPageWidthF(page: number): number
  _FPDF_GetPageHeightF(page: number): number
}

/** What a page shows apart from text. */
export interface PagePictures {
  /** True where it shows pictures or drawings. */
  hasAny: boolean
  /** Share of the page that its largest picture covers, 0 to 1. */
  largestShare: number
}

/** Numbers of PDFium's public header fpdf_edit.h. */
const pathObject = 2
const imageObject = 3
const shadingObject = 4
const formObject = 5
/** Fewer lines are a frame or a rule, not a drawing. */
const drawingPaths = 20
const maximumObjects = 20_000

export function readPictures(pdfium: PictureFunctions, page: number, scratch: number): PagePictures {
  const count = Math.min(pdfium._FPDFPage_CountObjects(page), maximumObjects)
  const area = pdfium._FPDF_GetPageWidthF(page) * pdfium._FPDF_GetPageHeightF(page)
  let paths = 0
  let pictures = 0
  let largest = 0
  for (let index = 0; index < count; index += 1) {
    const object = pdfium._FPDFPage_GetObject(page, index)
    const type = object === 0 ? 0 : pdfium._FPDFPageObj_GetType(object)
    if (type === pathObject) paths += 1
    if (type !== imageObject && type !== shadingObject && type !== formObject) continue
    pictures += 1
    if (pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) continue
    const at = scratch / 4
    const [left, bottom, right, top] = pdfium.HEAPF32.subarray(at, at + 4) as unknown as [
      number,
      number,
      number,
      number,
    ]
    if (type === imageObject) largest = Math.max(largest, (right - left) * (top - bottom))
  }
  return { hasAny: pictures > 0 || paths >= drawingPaths, largestShare: area > 0 ? Math.min(1, largest / area) : 0 }
}
