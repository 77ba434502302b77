/** A measured value at a time. */
export interface Sample {
  minutes: number
  value: number
}

/** Change per minute of the line that fits best (least squares). 0 for fewer than two samples. */
export function slopeOf(samples: readonly Sample[]): number {
  const mean = (pick: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + pick(sample), 0) / samples.length
  const meanMinutes = mean(({ minutes }) => minutes)
  const meanValue = mean(({ value }) => value)
  let products = 0
  let squares = 0
  for (const { minutes, value } of samples) {
    products += (minutes - meanMinutes) * (value - meanValue)
    squares += (minutes - meanMinutes) ** 2
  }
  return squares === 0 ? 0 : products / squares
}
