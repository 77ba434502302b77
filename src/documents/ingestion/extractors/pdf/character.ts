/** A character of a page, in PDFium's order, which is the order of the content stream with bidi runs put in logical order. */
export interface PdfCharacter {
  readonly code: number
  /** True for blanks and line ends that PDFium adds where the layout shows them. */
  readonly generated: boolean
  /** Box in page units (1/72 inch), y upwards; by the font's height, not the glyph's. */
  readonly left: number
  readonly right: number
  readonly bottom: number
  readonly top: number
}

/**
 * The characters of one page with their boxes in one array, four numbers each: left, top, right, bottom. A page has thousands, and an object
 * that holds four numbers takes five allocations.
 */
export class PlacedCharacter implements PdfCharacter {
  readonly code: number
  readonly generated: boolean
  private readonly boxes: Float32Array
  private readonly at: number

  constructor(code: number, generated: boolean, boxes: Float32Array, at: number) {
    this.code = code
    this.generated = generated
    this.boxes = boxes
    this.at = at
  }

  get left(): number {
    return this.boxes[this.at]!
  }

  get top(): number {
    return this.boxes[this.at + 1]!
  }

  get right(): number {
    return this.boxes[this.at + 2]!
  }

  get bottom(): number {
    return this.boxes[this.at + 3]!
  }
}
