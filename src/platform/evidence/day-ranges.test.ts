import { describe, expect, it } from 'vitest'
import { includedDays } from './day-ranges.ts'

describe('days of the week that a text includes', () => {
  it.each([
    ['open Mon-Wed', 'en', ['monday', 'tuesday', 'wednesday']],
    ['Friday to Monday', 'en', ['friday', 'saturday', 'sunday', 'monday']],
    ['Sunday to Sunday', 'en', ['sunday']],
    ['Di.–Do. geöffnet', 'de', ['dienstag', 'mittwoch', 'donnerstag']],
    ['on weekends', 'en', ['saturday', 'sunday']],
    // A long s is an s to a pattern without case.
    ['Monday to ſunday, ſun to mon', 'en', []],
    ['on Monday', 'en', []],
  ] as const)('finds those of %j', (text, language, days) => {
    expect(includedDays(text, language)).toEqual(days)
  })
})
