import { describe, expect, test } from 'vitest'
import { sharedDataFolder } from '../test/harness/shared-data.ts'
import { evaluations } from './evaluations.ts'
import { formatMeasure, isMet } from './measure.ts'

/** An evaluation on one core of a busy machine. */
const longestMs = 600_000

test('no two evaluations have the same title', () => {
  const titles = evaluations.map(({ title }) => title)
  expect(new Set(titles).size).toBe(titles.length)
})

for (const { title, folder, run } of evaluations) {
  const place = sharedDataFolder(folder)
  describe.skipIf(place === undefined)(`${title} (the shared data folder ${folder} must be there)`, () => {
    test('every measure meets its bound', { timeout: longestMs }, async () => {
      const measures = await run(place!)
      expect(measures.length).toBeGreaterThan(0)
      expect(measures.filter((measure) => !isMet(measure)).map(formatMeasure)).toEqual([])
    })
  })
}
