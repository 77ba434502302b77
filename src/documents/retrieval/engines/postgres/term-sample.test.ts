import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Queryable } from '../../../../platform/database/index.ts'
import { createSpaceId } from '../../../../platform/kernel/index.ts'
import { createIndexFixture, type IndexFixture } from '../../testing/index-fixture.ts'
import { createTermSamples } from './term-sample.store.ts'

let fixture: IndexFixture
let statements = 0
let database: Queryable
const signal = new AbortController().signal

beforeAll(async () => {
  fixture = await createIndexFixture()
  const { corpus } = fixture.databases
  database = {
    ...corpus,
    query(...given) {
      statements++
      return corpus.query(...given)
    },
  }
  await fixture.add(['Bees make honey.', 'Wasps do not make honey.', 'Honey honey honey.'])
})
afterAll(() => fixture[Symbol.asyncDispose]())

it('counts chunks, not occurrences, and leaves out terms of a single chunk', async () => {
  const sample = await createTermSamples().load(database, fixture, signal)
  // make, honey, and the name of the document.
  expect([...sample.values()].toSorted()).toEqual([2, 3, 3])
})

it('is counted once in ten minutes, also for searches at the same time', async () => {
  let nowMs = 0
  const samples = createTermSamples(() => nowMs)
  statements = 0
  const [first, second] = await Promise.all([
    samples.load(database, fixture, signal),
    samples.load(database, fixture, signal),
  ])
  nowMs = 599_999
  expect(await samples.load(database, fixture, signal)).toBe(first)
  expect([second === first, statements]).toEqual([true, 1])
  nowMs = 600_001
  await samples.load(database, fixture, signal)
  expect(statements).toBe(2)
})

it('is counted again after a failure, and keeps those of the Spaces that were searched last', async () => {
  const samples = createTermSamples()
  const broken: Queryable = { ...database, query: () => Promise.reject(new Error('the database is gone')) }
  await expect(samples.load(broken, fixture, signal)).rejects.toThrow('the database is gone')
  await samples.load(database, fixture, signal)
  for (let other = 0; other < 20; other++) {
    await samples.load(database, { ...fixture, spaceId: createSpaceId() }, signal)
    if (other < 10) await samples.load(database, fixture, signal)
  }
  statements = 0
  await samples.load(database, fixture, signal)
  expect(statements).toBe(0)
  for (let other = 0; other < 20; other++)
    await samples.load(database, { ...fixture, spaceId: createSpaceId() }, signal)
  statements = 0
  await samples.load(database, fixture, signal)
  expect(statements).toBe(1)
})
