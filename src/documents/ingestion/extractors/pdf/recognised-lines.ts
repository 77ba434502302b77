import type { RecognisedPage } from '../../ocr/recogniser.ts'
import { PdfCharacters } from './character.ts'
import type { Line } from './reading-order.ts'
import type { PageImage } from './render.ts'
import { median } from './segment.ts'

/** Heights of lines depend on their letters; only a clearly higher one is a heading. */
const headingShare = 1.4

/** The lines of a recognised page as those of a page with text. */
export function toLines(
  { lines }: RecognisedPage,
  { height, dotsPerInch }: Omit<PageImage, 'width' | 'pixels'>,
): Line[] {
  const units = 72 / dotsPerInch
  const usual = median(lines.map(({ top, bottom }) => bottom - top)) * units
  return lines.map((line) => {
    const hyphenated = /\p{Ll}-$/u.test(line.text)
    const own = (line.bottom - line.top) * units
    const place = {
      left: line.left * units,
      right: line.right * units,
      bottom: (height - line.bottom) * units,
      top: (height - line.top) * units,
      size: own >= usual * headingShare ? own : usual,
    }
    const text = hyphenated ? line.text.slice(0, -1) : line.text
    const segment = { ...place, text, hyphenated, bold: false, characters: PdfCharacters.none, hasNarrowGaps: false }
    return { ...place, segments: [segment] }
  })
}
