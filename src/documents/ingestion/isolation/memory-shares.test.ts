import { expect, test } from 'vitest'
import { chooseToEnd, type HeldMemory, residentBytesOf } from './memory-shares.ts'

const reader = (child: string, bytes: number, mayMove = true): HeldMemory<string> => ({
  child,
  bytes,
  isReading: true,
  mayMove,
})
const idle = (child: string, bytes: number) => ({ ...reader(child, bytes), isReading: false })

test.each([
  ['none while all fit', [reader('a', 500), reader('b', 400)], []],
  ['the largest reader that may move', [reader('a', 600), reader('b', 500), reader('slow', 700, false)], ['a', 'b']],
  ['idle ones first', [reader('a', 600), idle('b', 300), idle('c', 400)], ['c']],
  ['never the only reader', [reader('a', 2_000), idle('b', 100)], ['b']],
  ['no reader of small needs', [reader('slow', 900, false), reader('b', 200), reader('c', 300)], []],
  ['one of two large ones', [reader('a', 700), reader('b', 600), reader('c', 150)], ['a']],
])('children that end so that all fit into memory: %s', (_, held, expected) => {
  expect(chooseToEnd(held, 1_000, 300)).toEqual(expected)
})

test('the memory of an ended process is none', () => {
  expect(residentBytesOf(2 ** 30)).toBe(0)
  if (process.platform === 'linux') expect(residentBytesOf(process.pid)).toBeGreaterThan(1024 * 1024)
})
