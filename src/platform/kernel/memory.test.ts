import { afterEach, expect, test, vi } from 'vitest'
import { residentBytes } from './memory.ts'

afterEach(() => vi.restoreAllMocks())

test('resident memory is a plausible number of bytes', () => {
  expect(residentBytes()).toBeGreaterThan(20 * 2 ** 20)
  expect(residentBytes()).toBeLessThan(64 * 2 ** 30)
})

test('without /proc, resident memory is the highest value so far', () => {
  vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_resident_set_memory')
  })
  expect(residentBytes()).toBe(process.resourceUsage().maxRSS * 1024)
})
