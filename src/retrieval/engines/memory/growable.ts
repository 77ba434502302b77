type Numbers = Uint8Array | Uint32Array | Float32Array

/** A typed array that grows by doubling: one value each call, amortised in constant time. */
export interface Growable<T extends Numbers> {
  /** All places, also those behind `length`; a new array after growth, so do not keep it. */
  values: T
  length: number
  /** Makes room for `count` values in all. */
  reserve(count: number): void
  push(value: number): void
}

export function createGrowable<T extends Numbers>(create: (length: number) => T, room = 64): Growable<T> {
  const growable: Growable<T> = {
    values: create(room),
    length: 0,
    reserve(count) {
      if (count <= growable.values.length) return
      const larger = create(Math.max(count, growable.values.length * 2))
      larger.set(growable.values)
      growable.values = larger
    },
    push(value) {
      growable.reserve(growable.length + 1)
      growable.values[growable.length++] = value
    },
  }
  return growable
}
