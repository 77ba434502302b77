/** A seeded random generator (mulberry32), so that a seed repeats a run. */
export interface Chance {
  /** 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** A whole number; both bounds are inclusive. */
  integer(from: number, to: number): number
  happens(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    happens: (probability) => next() < probability,
    pick: (items) => items[integer(0, items.length - 1)]!,
  }
}
