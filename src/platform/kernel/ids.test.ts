import { describe, expect, it } from 'vitest'
import { createRequestId, createUuid, isUuid } from './ids.ts'

/** More than one block of random bytes. */
const many = 3_000

describe('a time-ordered id', () => {
  it('is a UUID of version 7 with its time first', () => {
    const atMs = Date.UTC(2026, 10, 22)
    for (let index = 0; index < many; index++) {
      const id = createUuid(atMs)
      expect(isUuid(id), id).toBe(true)
      expect(id[14], id).toBe('7')
      expect('89ab', id).toContain(id[19])
      expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(atMs)
    }
  })

  it('is never made twice in the same millisecond, also when a new block of random bytes begins', () => {
    const ids = Array.from({ length: many }, () => createUuid(0))
    expect(new Set(ids).size).toBe(many)
    // Each random digit varies.
    for (const at of [15, 20, 24, 35]) expect(new Set(ids.map((id) => id[at])).size).toBeGreaterThan(10)
  })

  it('of a request has the same digits without dashes', () => {
    expect(createRequestId()).toMatch(/^req_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  })
})
