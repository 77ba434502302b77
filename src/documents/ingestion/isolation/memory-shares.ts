import { readFileSync } from 'node:fs'

/** What a child of a pool holds. */
export interface HeldMemory<Child> {
  child: Child
  bytes: number
  isReading: boolean
  /** Its file can be read later, when others need less. */
  mayMove: boolean
}

/**
 * The children that have to end so that all of them fit into `maximumBytes`: idle ones, then readers with more than `smallBytes` whose file
 * can be read later. One reader is always left.
 */
export function chooseToEnd<Child>(
  held: readonly HeldMemory<Child>[],
  maximumBytes: number,
  smallBytes: number,
): Child[] {
  let sum = held.reduce((bytes, one) => bytes + one.bytes, 0)
  let readers = held.filter(({ isReading }) => isReading).length
  const chosen: Child[] = []
  const byNeed = held.toSorted(
    (one, other) => Number(one.isReading) - Number(other.isReading) || other.bytes - one.bytes,
  )
  for (const { child, bytes, isReading, mayMove } of byNeed) {
    if (sum <= maximumBytes) break
    if (isReading && (!mayMove || readers === 1 || bytes <= smallBytes)) continue
    if (isReading) readers -= 1
    sum -= bytes
    chosen.push(child)
  }
  return chosen
}

/** The resident memory of another process; 0 where it has ended, or the system has no /proc. */
export function residentBytesOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
