import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MixedLoad, startMixedLoad } from '../harness/mixed-load.ts'

/** `npm run bench:memory` does the same for 100,000 requests. */

let load: MixedLoad

beforeAll(async () => {
  load = await startMixedLoad()
})
afterAll(() => load?.stop())

/** After this many requests, code and caches are loaded. */
const warmUpRequests = 800
const measuredRequests = 1_600
/**
 * Noise is about 1 MB. A closure kept for each request (2.5 KB) would add 4 MB, the rows of each of the 80 lists 130 MB.
 */
const allowedGrowthBytes = 3_000_000

test('mixed requests leave no memory behind', { timeout: 300_000 }, async () => {
  await load.run(warmUpRequests)
  const before = await load.measure()
  await load.run(measuredRequests)
  const after = await load.measure()
  expect(after.heapBytes - before.heapBytes).toBeLessThan(allowedGrowthBytes)
  expect(after.externalBytes - before.externalBytes).toBeLessThan(allowedGrowthBytes)
})
