type Numbers = Uint8Array | Uint32Array | Float32Array

/** A typed array that grows by doubling: `push` takes amortised constant time. */
export interface Growable<T extends Numbers> {
  /** Includes unused places from `length` on; replaced when it grows, so do not keep a reference. */
  values: T
  length: number
  /** Makes room for `count` values in total. */
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
