import { expect, it } from 'vitest'
import { planFiltered } from './filtered-plan.ts'

it('reads an index for filters that match much of a Space, and compares the matching chunks of the others', () => {
  const plan = (matching: number, all = 100_000) => planFiltered({ matching, all, limit: 80 })
  expect(plan(50_000)).toEqual({ terms: 'index', vectors: 'index' })
  expect(plan(30_000)).toEqual({ terms: 'index', vectors: 'index' })
  expect(plan(10_000)).toEqual({ terms: 'index', vectors: 'scan' })
  expect(plan(5_000)).toEqual({ terms: 'index', vectors: 'scan' })
  expect(plan(1_000)).toEqual({ terms: 'scan', vectors: 'scan' })
  expect(plan(0)).toEqual({ terms: 'scan', vectors: 'scan' })
  // In a larger Space an index is read longer for as many matches.
  expect(plan(5_000, 1_000_000)).toEqual({ terms: 'scan', vectors: 'scan' })
})
