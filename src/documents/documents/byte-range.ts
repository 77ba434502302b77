/** First and last byte of a part of a file, both inclusive. */
export interface ByteRange {
  first: number
  last: number
}

/**
 * The part that a `range` header requests. Null: the whole file, also for several ranges, other units and malformed headers, which
 * a server may ignore (RFC 9110, section 14.2).
 */
export function readByteRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    // The last bytes of the file.
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { first: sizeBytes - length, last: sizeBytes - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= sizeBytes) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1) }
}
