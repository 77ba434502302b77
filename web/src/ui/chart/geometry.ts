/** Null: not measured. */
export type ChartValue = number | null

/** Width of a character of the axes, in pixels: of a wide font, so that no label is cut off. */
const characterWidth = 7
const minimumAxisWidth = 64
const labelGap = 24
const maximumBarWidth = 48
const roomySlot = 8

export interface Frame {
  /** Values with a label and a line, ascending from 0. The last one is the top of the plot. */
  ticks: number[]
  /** Pixels for the labels of the values. */
  axisWidth: number
  /** Of the plot, in pixels. */
  width: number
  height: number
  /** The width of a place. */
  slot: number
}

/** Divides the place of a chart into its axes and its plot. */
export function createFrame(
  size: { width: number; height: number; count: number },
  ticks: number[],
  format: (value: number) => string,
): Frame {
  const labelWidth = Math.max(...ticks.map((tick) => textWidth(format(tick))))
  const axisWidth = Math.max(minimumAxisWidth, labelWidth + 12)
  const width = Math.max(0, size.width - axisWidth)
  return { ticks, axisWidth, width, height: size.height, slot: width / Math.max(1, size.count) }
}

/** Whether there is room for a dot on each value, and between the parts of a bar. */
export function isRoomy({ slot }: Frame): boolean {
  return slot >= roomySlot
}

export function textWidth(text: string): number {
  return text.length * characterWidth
}

/** Ticks from 0 to a value that is at least `maximum`, in three to five even steps where that is possible. */
export function valueTicks(maximum: number, wholeNumbers = false): number[] {
  const top = Number.isFinite(maximum) && maximum > 1e-12 ? Math.min(maximum, 1e300) : 1
  const power = 10 ** Math.floor(Math.log10(top / 4))
  const factors = wholeNumbers && power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10]
  // Rounding of doubles must not add a step.
  const step = factors.map((factor) => factor * power).find((size) => size >= (top / 4) * (1 - 1e-9)) ?? 10 * power
  const used = wholeNumbers ? Math.max(1, step) : step
  const count = Math.ceil(top / used - 1e-9)
  return Array.from({ length: count + 1 }, (_, place) => Number((place * used).toPrecision(12)))
}

/** The places of which the axis has a label, and where its centre is: as many as fit, the last one among them. */
export function labelPlaces({ width, axisWidth, slot }: Frame, count: number, labelWidth: number) {
  const centre = (place: number) => Math.min((place + 0.5) * slot, width - labelWidth / 2)
  // The last label may be moved to the left.
  const moved = (count - 0.5) * slot - centre(count - 1)
  const stride = Math.max(1, Math.ceil((labelWidth + labelGap + moved) / slot))
  const places: { place: number; centre: number }[] = []
  for (let place = count - 1; place >= 0; place -= stride) {
    if (centre(place) - labelWidth / 2 < -axisWidth) break
    places.push({ place, centre: centre(place) })
  }
  return places
}

/** One path for each series, the first at the bottom. */
export function stackedBars(series: readonly ChartValue[][], frame: Frame): string[] {
  const count = series[0]?.length ?? 0
  const width = Math.min(maximumBarWidth, frame.slot * 0.8)
  const sums = Array.from({ length: count }, () => 0)
  return series.map((values) => {
    let path = ''
    for (const [place, value] of values.entries()) {
      if (value === null || !(value > 0)) continue
      const bottom = yOf(frame, sums[place]!)
      const top = yOf(frame, (sums[place]! += value))
      const left = round((place + 0.5) * frame.slot - width / 2)
      path += `M${left} ${bottom}V${top}h${round(width)}V${bottom}z`
    }
    return path
  })
}

/** A line with a gap where a value is missing, and dots: of every value if there is room, otherwise of those without a neighbour. */
export function linePaths(values: readonly ChartValue[], frame: Frame): { line: string; dots: string } {
  const hasDots = isRoomy(frame)
  let [line, dots] = ['', '']
  for (const [place, value] of values.entries()) {
    if (value === null) continue
    const continues = (values[place - 1] ?? null) !== null
    const at = `${round((place + 0.5) * frame.slot)} ${yOf(frame, value)}`
    line += (continues ? 'L' : 'M') + at
    if (hasDots || (!continues && (values[place + 1] ?? null) === null)) dots += `M${at}h0`
  }
  return { line, dots }
}

/** The largest value of lines, or of stacked bars. */
export function largestOf(series: readonly ChartValue[][], isStacked: boolean): number {
  const count = series[0]?.length ?? 0
  let largest = 0
  for (let place = 0; place < count; place += 1) {
    const values = series.map((one) => one[place] ?? 0)
    largest = Math.max(largest, isStacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values))
  }
  return largest
}

export function yOf({ ticks, height }: Pick<Frame, 'ticks' | 'height'>, value: number): number {
  return round(height * (1 - value / ticks.at(-1)!))
}

const round = (pixels: number) => Math.round(pixels * 10) / 10
