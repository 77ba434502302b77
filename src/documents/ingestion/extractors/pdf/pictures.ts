import { objectTypes, type PathFunctions } from './tables/drawn-rules.ts'

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
  /** Its larger pictures. */
  boxes: PictureBox[]
}

/** The place of a picture, in units of the page. */
interface PictureBox {
  left: number
  right: number
  bottom: number
  top: number
  /** Of the page's area. */
  share: number
}

/** Fewer lines are a frame or a rule, not a drawing. */
const drawingPaths = 20
const maximumObjects = 20_000
/** Smaller pictures are logos and signs; each of the others is compared with each letter of the page. */
const minimumShare = 0.02
const maximumBoxes = 50

export function readPictures(pdfium: PictureFunctions, page: number, scratch: number): PagePictures {
  const count = Math.min(pdfium._FPDFPage_CountObjects(page), maximumObjects)
  const area = pdfium._FPDF_GetPageWidthF(page) * pdfium._FPDF_GetPageHeightF(page)
  let paths = 0
  let pictures = 0
  let largestShare = 0
  const boxes: PictureBox[] = []
  for (let index = 0; index < count; index += 1) {
    const object = pdfium._FPDFPage_GetObject(page, index)
    const type = object === 0 ? 0 : pdfium._FPDFPageObj_GetType(object)
    if (type === objectTypes.path) paths += 1
    if (type !== objectTypes.image && type !== objectTypes.shading && type !== objectTypes.form) continue
    pictures += 1
    if (pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) continue
    const at = scratch / 4
    const [left, bottom, right, top] = pdfium.HEAPF32.subarray(at, at + 4) as unknown as [
      number,
      number,
      number,
      number,
    ]
    if (type !== objectTypes.image || area <= 0) continue
    const share = Math.min(1, ((right - left) * (top - bottom)) / area)
    largestShare = Math.max(largestShare, share)
    if (share >= minimumShare && boxes.length < maximumBoxes) boxes.push({ left, right, bottom, top, share })
  }
  return { hasAny: pictures > 0 || paths >= drawingPaths, largestShare, boxes }
}
