import { expect, test } from 'vitest'
import { readByteRange } from './byte-range.ts'

test.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=3-', { first: 3, last: 9 }],
  ['bytes=3-5', { first: 3, last: 5 }],
  ['bytes=3-500', { first: 3, last: 9 }],
  ['bytes=-4', { first: 6, last: 9 }],
  ['bytes=-40', { first: 0, last: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  [undefined, null],
  ['bytes=5-3', null],
  ['bytes=-', null],
  ['bytes=0-1,4-5', null],
  ['lines=0-1', null],
  ['bytes=0x1-2', null],
])('reads %s of 10 bytes', (header, expected) => {
  expect(readByteRange(header, 10)).toEqual(expected)
})

test('has no satisfiable range in an empty file', () => {
  expect(readByteRange('bytes=0-', 0)).toBe('unsatisfiable')
})
