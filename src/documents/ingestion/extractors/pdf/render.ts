export interface RenderFunctions {
  HEAPU8: Uint8Array
  _FPDF_GetPageWidthF(page: number): number
  _FPDF_GetPageHeightF(page: number): number
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, buffer: number, stride: number): number
  _FPDFBitmap_Destroy(bitmap: number): void
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, colour: number): number
  _FPDFBitmap_GetBuffer(bitmap: number): number
  _FPDFBitmap_GetStride(bitmap: number): number
  _FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    x: number,
    y: number,
    width: number,
    height: number,
    rotate: number,
    flags: number,
  ): void
}

/** A picture of a page in shades of grey, row by row from the top: 0 is black. */
export interface PageImage {
  width: number
  height: number
  dotsPerInch: number
  pixels: Uint8Array
}

/** Letters of 8 points are 15 dots high in it, as text recognition needs; more takes longer and finds no more. */
const usualDotsPerInch = 200
/** A page of A2 at the usual resolution; larger ones are made smaller. */
const maximumPixels = 16_000_000

/** Numbers of PDFium's public header fpdfview.h: 8 bits of grey; annotations too, in grey. */
const greyFormat = 1
const withAnnotations = 0x01
const inGrey = 0x08
const white = 0xffffffff

/** Draws the page. Null for one without a size, or without memory. */
export function renderPage(pdfium: RenderFunctions, page: number): PageImage | null {
  const inches = [pdfium._FPDF_GetPageWidthF(page) / 72, pdfium._FPDF_GetPageHeightF(page) / 72] as const
  const dotsPerInch = Math.min(usualDotsPerInch, Math.floor(Math.sqrt(maximumPixels / (inches[0] * inches[1]))))
  const width = Math.round(inches[0] * dotsPerInch)
  const height = Math.round(inches[1] * dotsPerInch)
  if (!(width > 0 && height > 0)) return null
  const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, greyFormat, 0, 0)
  if (bitmap === 0) return null
  try {
    pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white)
    pdfium._FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withAnnotations | inGrey)
    const from = pdfium._FPDFBitmap_GetBuffer(bitmap)
    const stride = pdfium._FPDFBitmap_GetStride(bitmap)
    const pixels = new Uint8Array(width * height)
    for (let row = 0; row < height; row += 1) {
      const at = from + row * stride
      pixels.set(pdfium.HEAPU8.subarray(at, at + width), row * width)
    }
    return { width, height, dotsPerInch, pixels }
  } finally {
    pdfium._FPDFBitmap_Destroy(bitmap)
  }
}
