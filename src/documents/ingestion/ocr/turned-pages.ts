import type { GreyImage } from './engine.ts'

/** Clockwise, in degrees. */
export type Turn = 90 | 180 | 270

export function turnImage(image: GreyImage, turn: Turn): GreyImage {
  const { width, height, pixels, dotsPerInch } = image
  if (turn === 180) return { ...image, pixels: pixels.toReversed() }
  const turned = new Uint8Array(pixels.length)
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const to = turn === 90 ? column * height + height - 1 - row : (width - 1 - column) * height + row
      turned[to] = pixels[row * width + column]!
    }
  return { width: height, height: width, dotsPerInch, pixels: turned }
}

/** The middle third of a page: enough to see whether its text can be read. */
export function middleBand(image: GreyImage): GreyImage {
  const from = Math.floor(image.height / 3)
  const height = Math.max(1, from)
  return { ...image, height, pixels: image.pixels.subarray(from * image.width, (from + height) * image.width) }
}

/**
 * Whether lines of text run from top to bottom: the brightness of columns then changes more from one to the next than that of rows, because
 * of the white between the lines.
 */
export function isSideways({ width, height, pixels }: GreyImage): boolean {
  const rows = new Float64Array(height)
  const columns = new Float64Array(width)
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const brightness = pixels[row * width + column]!
      rows[row]! += brightness
      columns[column]! += brightness
    }
  return roughness(columns, height) > roughness(rows, width)
}

/** Mean square of the differences of neighbours, of which each is the sum of so many dots. */
function roughness(sums: Float64Array, dots: number): number {
  let total = 0
  for (let at = 1; at < sums.length; at += 1) total += ((sums[at]! - sums[at - 1]!) / dots) ** 2
  return total / Math.max(1, sums.length - 1)
}
