import { createRandom } from '../../test/harness/random.ts'

/** A seeded random generator, so that a seed repeats a run. */
export interface Chance {
  /** 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** A whole number; both bounds are inclusive. */
  integer(from: number, to: number): number
  happens(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

export function createChance(seed: number): Chance {
  const next = createRandom(seed)
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    happens: (probability) => next() < probability,
    pick: (items) => items[integer(0, items.length - 1)]!,
  }
}
