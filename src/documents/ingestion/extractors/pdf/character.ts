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

/** The same of many characters, in arrays of equal length. */
interface CharacterArrays {
  codes: Int32Array
  /** Four numbers each: left, top, right, bottom. */
  boxes: Float32Array
  /** 1 for generated ones. */
  generated: Uint8Array
}

/**
 * Characters one after the other. They are in arrays, because a page has thousands, and objects for them take longer than the layout of
 * their lines. A slice shares the arrays.
 */
export class PdfCharacters {
  readonly length: number
  /** False where not even the text around has right-to-left letters, as on most pages. */
  private readonly mayHaveRightToLeft: boolean
  private readonly arrays: CharacterArrays
  private readonly codes: Int32Array
  private readonly boxes: Float32Array
  private readonly from: number

  private constructor(arrays: CharacterArrays, from: number, length: number, mayHaveRightToLeft: boolean) {
    this.length = length
    this.mayHaveRightToLeft = mayHaveRightToLeft
    this.arrays = arrays
    this.codes = arrays.codes
    this.boxes = arrays.boxes
    this.from = from
  }

  static readonly none = PdfCharacters.of([])

  static fromArrays(arrays: CharacterArrays): PdfCharacters {
    return new PdfCharacters(arrays, 0, arrays.codes.length, hasRightToLeftCode(arrays.codes))
  }

  static of(characters: readonly PdfCharacter[]): PdfCharacters {
    const arrays = newArrays(characters.length)
    for (const [at, { code, generated, left, top, right, bottom }] of characters.entries()) {
      arrays.codes[at] = code
      arrays.generated[at] = generated ? 1 : 0
      arrays.boxes.set([left, top, right, bottom], at * 4)
    }
    return PdfCharacters.fromArrays(arrays)
  }

  code(at: number): number {
    return this.codes[this.from + at]!
  }

  isGenerated(at: number): boolean {
    return this.arrays.generated[this.from + at] === 1
  }

  left(at: number): number {
    return this.boxes[(this.from + at) * 4]!
  }

  top(at: number): number {
    return this.boxes[(this.from + at) * 4 + 1]!
  }

  right(at: number): number {
    return this.boxes[(this.from + at) * 4 + 2]!
  }

  bottom(at: number): number {
    return this.boxes[(this.from + at) * 4 + 3]!
  }

  /** True for blanks, tabs and characters without a code. */
  isBlank(at: number): boolean {
    return isBlankCode(this.codes[this.from + at]!)
  }

  hasRightToLeft(): boolean {
    if (!this.mayHaveRightToLeft) return false
    for (let at = 0; at < this.length; at += 1) if (isRightToLeftCode(this.code(at))) return true
    return false
  }

  slice(from: number, to: number): PdfCharacters {
    return new PdfCharacters(this.arrays, this.from + from, to - from, this.mayHaveRightToLeft)
  }

  /**
   * The box around all that are not blank, and their usual height; null where all are blank. `height` is null where they have several. In
   * one loop, because every line asks for it.
   */
  extent(): { left: number; right: number; bottom: number; top: number; height: number | null } | null {
    const { codes, boxes } = this
    let left = Infinity
    let right = -Infinity
    let bottom = Infinity
    let top = -Infinity
    let first = NaN
    let isEven = true
    for (let place = this.from, end = this.from + this.length; place < end; place += 1) {
      if (isBlankCode(codes[place]!)) continue
      const ownTop = boxes[place * 4 + 1]!
      const ownBottom = boxes[place * 4 + 3]!
      left = Math.min(left, boxes[place * 4]!)
      right = Math.max(right, boxes[place * 4 + 2]!)
      bottom = Math.min(bottom, ownBottom)
      top = Math.max(top, ownTop)
      const height = ownTop - ownBottom
      if (Number.isNaN(first)) first = height
      else if (!(Math.abs(height - first) < 0.1)) isEven = false
    }
    return left === Infinity ? null : { left, right, bottom, top, height: isEven ? first : null }
  }

  /** The places of those that one of the `reach` ones before them equals, controls and blanks apart. */
  repeatedWithin(reach: number): number[] {
    const { codes, from } = this
    const places: number[] = []
    for (let at = 1; at < this.length; at += 1) {
      const code = codes[from + at]!
      if (code <= 0x20) continue
      for (let before = Math.max(0, at - reach); before < at; before += 1) {
        if (codes[from + before] !== code) continue
        places.push(at)
        break
      }
    }
    return places
  }

  /** A copy with other codes at some places. */
  withCodes(codes: ReadonlyMap<number, number>): PdfCharacters {
    const copy = this.pick(Array.from({ length: this.length }, (_, at) => at))
    for (const [at, code] of codes) copy.codes[at] = code
    return copy
  }

  /** A copy of some of them. */
  pick(places: readonly number[]): PdfCharacters {
    const { codes, boxes, generated } = newArrays(places.length)
    for (let at = 0; at < places.length; at += 1) {
      const place = this.from + places[at]!
      codes[at] = this.codes[place]!
      generated[at] = this.arrays.generated[place]!
      for (let side = 0; side < 4; side += 1) boxes[at * 4 + side] = this.boxes[place * 4 + side]!
    }
    return PdfCharacters.fromArrays({ codes, boxes, generated })
  }

  concat(...others: PdfCharacters[]): PdfCharacters {
    const parts = [this, ...others]
    const arrays = newArrays(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const { arrays: given, from, length } of parts) {
      arrays.codes.set(given.codes.subarray(from, from + length), at)
      arrays.generated.set(given.generated.subarray(from, from + length), at)
      arrays.boxes.set(given.boxes.subarray(from * 4, (from + length) * 4), at * 4)
      at += length
    }
    return PdfCharacters.fromArrays(arrays)
  }

  /** As objects, for lines whose order changes. */
  toArray(): PdfCharacter[] {
    return Array.from({ length: this.length }, (_, at) => ({
      code: this.code(at),
      generated: this.isGenerated(at),
      left: this.left(at),
      right: this.right(at),
      bottom: this.bottom(at),
      top: this.top(at),
    }))
  }
}

function newArrays(length: number): CharacterArrays {
  return {
    codes: new Int32Array(length),
    boxes: new Float32Array(length * 4),
    generated: new Uint8Array(length),
  }
}

/** A loop, because the method of an array with a function for each code takes several times as long. */
function hasRightToLeftCode(codes: Int32Array): boolean {
  for (let at = 0; at < codes.length; at += 1) if (isRightToLeftCode(codes[at]!)) return true
  return false
}

/** True for letters and signs of the scripts that are written from right to left. */
export function isRightToLeftCode(code: number): boolean {
  if (code < 0x590) return false
  return (
    code <= 0x8ff ||
    (code >= 0xfb1d && code <= 0xfdff) ||
    (code >= 0xfe70 && code <= 0xfefc) ||
    (code >= 0x10800 && code <= 0x10fff) ||
    (code >= 0x1e800 && code <= 0x1efff)
  )
}

/** PDFium's mark for a hyphen that splits a word at the line's end. */
export const partingHyphen = 0x02

export const isLineEndCode = (code: number | undefined) => code === 0x0d || code === 0x0a

export function isLetterCode(code: number | undefined): boolean {
  return code !== undefined && /\p{L}/u.test(String.fromCodePoint(Math.min(code, 0x10ffff)))
}

/** True for blanks, tabs and characters without a code. */
export function isBlankCode(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0xa0 || code === 0
}
