import { unreadableAnswer } from './wire-failure.ts'

/** A row of numbers as a vector. Throws ProviderError on anything else: one NaN would spoil every distance to it. */
export function readVector(row: unknown): Float32Array {
  const whole = Array.isArray(row) && row.length > 0 && row.every((value) => Number.isFinite(value))
  if (!whole) throw unreadableAnswer('an embedding', true)
  return Float32Array.from(row as number[])
}

/** Rows of numbers as vectors; at least one. Throws ProviderError on anything else. */
export function readVectors(rows: unknown): Float32Array[] {
  if (!Array.isArray(rows) || rows.length === 0) throw unreadableAnswer('an embedding', true)
  return rows.map(readVector)
}
