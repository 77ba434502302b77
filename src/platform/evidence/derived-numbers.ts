import type { Figure } from './read-figures.ts'
import { exact } from './read-number.ts'

/** Most numbers that are added; it bounds the time. */
const maximumOperands = 24

/**
 * Whether a number is the sum of all numbers of a group, or the sum or difference of two of them. The groups: the numbers of the sentence that were
 * found, those of each part of the passages for the same subject, and all of them. The sentence must show that it computes, as in
 * "together 30".
 */
export function derivedFrom(
  own: readonly number[],
  parts: readonly (readonly number[])[],
): (figure: Figure) => boolean {
  const results = new Set<number>()
  const ofParts = parts.map((numbers) => numbers.filter((value) => value > 1))
  for (const operands of [own, ...ofParts, [...new Set([...own, ...ofParts.flat()])]]) {
    if (operands.length < 2 || operands.length > maximumOperands) continue
    results.add(exact(operands.reduce((sum, operand) => sum + operand, 0)))
    for (const [at, left] of operands.entries()) {
      for (const right of operands.slice(at + 1)) {
        results.add(exact(left + right))
        results.add(exact(Math.abs(left - right)))
      }
    }
  }
  return (figure) => {
    const value = plainValueOf(figure)
    return value !== null && results.has(value)
  }
}

/** The value of a number with one reading and no scale. */
export function plainValueOf(figure: Figure): number | null {
  if (figure.type !== 'number' || figure.scales.length > 0 || figure.readings.length !== 1) return null
  const [reading] = figure.readings
  return reading!.length === 1 ? reading![0]! : null
}
