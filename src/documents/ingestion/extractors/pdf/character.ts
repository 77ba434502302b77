/** A character of a page, in PDFium's order, which is the order of the content stream with bidi runs put in logical order. */
export interface PdfCharacter {
  code: number
  /** True for blanks and line ends that PDFium adds where the layout shows them. */
  generated: boolean
  /** Box in page units (1/72 inch), y upwards; by the font's height, not the glyph's. */
  left: number
  right: number
  bottom: number
  top: number
}
