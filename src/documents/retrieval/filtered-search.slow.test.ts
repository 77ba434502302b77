import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FieldCondition, FilterRange, MetadataFilter } from '../../contract/metadata-filter.ts'
import { createSpaceId, type SpaceId } from '../../platform/kernel/index.ts'
import { testServerUrl } from '../../../test/harness/database.ts'
import { createPostgresEngine, createRetrieval, type Retrieval } from './index.ts'
import { createIndexFixture, engines, type FixtureDocument, type IndexFixture } from './testing/index-fixture.ts'

/** Searches with a filter, compared with a Space that has only the documents that match. */

type Metadata = Record<string, unknown>

const names = ['a', 'b b', '"c"']
const scalar = fc.constantFrom<string | number | boolean>(
  'x',
  'y',
  '2024-05-01',
  1,
  2,
  2.5,
  -3,
  true,
  false,
  '1',
  "o'\\",
)
const value = fc.oneof({ weight: 4, arbitrary: scalar }, fc.array(scalar, { maxLength: 3 }), fc.constant(null))
const metadata = fc.option(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), { nil: null })
const comparable = fc.constantFrom<string | number>('x', '2024-01-01', 1, 2, 0.5)
const range = fc
  .record({ gt: comparable, gte: comparable, lt: comparable, lte: comparable }, { requiredKeys: [] })
  .filter((bounds) => Object.keys(bounds).length > 0)
const condition = fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }), range)
const fields = fc.dictionary(fc.constantFrom(...names), condition, { minKeys: 1, maxKeys: 2 })
const { filter: anyFilter } = fc.letrec<{ filter: MetadataFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2, depthIdentifier: 'filter' },
    fields,
    fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 2, depthIdentifier: 'filter' }) }),
    fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 2, depthIdentifier: 'filter' }) }),
    fc.record({ not: tie('filter') }),
  ) as fc.Arbitrary<MetadataFilter>,
}))

/** As docs/use/filters.md describes it. */
function matches(filter: MetadataFilter, given: Metadata): boolean {
  return Object.entries(filter).every(([name, member]) => {
    if (name === 'and') return (member as MetadataFilter[]).every((one) => matches(one, given))
    if (name === 'or') return (member as MetadataFilter[]).some((one) => matches(one, given))
    if (name === 'not') return !matches(member as MetadataFilter, given)
    const values = [given[name]].flat()
    const wanted = member as FieldCondition
    if (Array.isArray(wanted)) return values.some((one) => wanted.includes(one as string))
    if (typeof wanted !== 'object') return values.includes(wanted)
    return values.some((one) => isWithin(one, wanted))
  })
}

function isWithin(one: unknown, { gt, gte, lt, lte }: FilterRange): boolean {
  const holds = (bound: string | number | undefined, compare: (left: string, right: string) => boolean) =>
    bound === undefined || (typeof one === typeof bound && compare(one as string, bound as string))
  return (
    holds(gt, (left, right) => left > right) &&
    holds(gte, (left, right) => left >= right) &&
    holds(lt, (left, right) => left < right) &&
    holds(lte, (left, right) => left <= right)
  )
}

describe.each(engines)('a search with a filter %s', (_, createEngine) => {
  let fixture: IndexFixture
  let retrieval: Retrieval

  beforeAll(async () => {
    fixture = await createIndexFixture({ createEngine })
    retrieval = createRetrieval({ index: fixture.index, embedder: fixture.embedder })
  })
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  const search = async (spaceId: SpaceId, filter: MetadataFilter | null, limit: number) => {
    const { organisationId } = fixture
    const query = 'the price of red lanterns'
    await fixture.index.engine.warm()
    return retrieval.search({ organisationId, spaceId, filter, query, limit, signal: AbortSignal.timeout(30_000) })
  }
  const chunksOf = (index: number) => [
    `Lantern ${index} is red. ${'The price of lanterns. '.repeat(index % 4)}`,
    `Roses of the garden ${index} ${index % 3 === 0 ? 'and a price' : ''}`,
  ]

  it('finds what a Space with only the matching documents finds, in the same order with the same scores', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(metadata, { minLength: 4, maxLength: 9 }), anyFilter, async (given, filter) => {
        const [all, matching] = [createSpaceId(), createSpaceId()]
        for (const [index, own] of given.entries()) {
          const document = { name: 'lanterns.txt', metadata: own }
          await fixture.add(chunksOf(index), { ...document, spaceId: all })
          if (matches(filter, own ?? {})) await fixture.add(chunksOf(index), { ...document, spaceId: matching })
        }
        const shown = (found: Awaited<ReturnType<typeof search>>) =>
          found.map(({ text, score }) => ({ text, score: score.toFixed(4) })).toSorted(byScore)
        expect(shown(await search(all, filter, 20))).toEqual(shown(await search(matching, null, 20)))
      }),
      { numRuns: 12 },
    )
  })

  it('is restricted before candidates are ranked: better documents outside of the filter take no place', async () => {
    const spaceId = createSpaceId()
    const better = Array.from(
      { length: 120 },
      (__, index) => `The price of red lanterns ${index}: the price, red lanterns.`,
    )
    await fixture.add(better, { spaceId, metadata: { customer: 'corvo' } })
    const own = await fixture.add(['A lantern beside many other words without a meaning.'], {
      spaceId,
      metadata: { customer: 'acme' },
    })
    const found = await search(spaceId, { customer: 'acme' }, 5)
    expect(found.map(({ documentId }) => documentId)).toEqual([own.id])
    expect(await search(spaceId, { customer: 'nobody' }, 5)).toEqual([])
    expect(await search(spaceId, { not: { customer: ['acme', 'corvo'] } }, 5)).toEqual([])
  })

  it('follows a change of the metadata at once', async () => {
    const spaceId = createSpaceId()
    const document = await fixture.add(['A red lantern.'], { spaceId, metadata: { customer: 'acme' } })
    const found = async (customer: string) => (await search(spaceId, { customer }, 5)).length
    expect([await found('acme'), await found('corvo')]).toEqual([1, 0])
    await setMetadata(document, '{"customer": "corvo"}')
    expect([await found('acme'), await found('corvo')]).toEqual([0, 1])
  })

  it('never matches metadata that the database cannot compare, nor documents of another Space', async () => {
    const spaceId = createSpaceId()
    const document = await fixture.add(['A red lantern.'], { spaceId })
    await fixture.add(['A red lantern.'], { spaceId: createSpaceId(), metadata: { customer: 'acme' } })
    for (const text of ['{"customer": "acme", "x": "\\u0000"}', '{"customer": "acme", "x": 1e999999}']) {
      await setMetadata(document, text)
      expect(await search(spaceId, { customer: 'acme' }, 5)).toEqual([])
      expect(await search(spaceId, { not: { customer: 'corvo' } }, 5)).toEqual([])
    }
  })

  const setMetadata = ({ id }: FixtureDocument, text: string) =>
    fixture.databases.corpus.execute('update documents set metadata = $2::text::json where id = $1', [id, text])
})

const byScore = (left: { text: string; score: string }, right: { text: string; score: string }) =>
  Number(right.score) - Number(left.score) || (left.text < right.text ? -1 : 1)

describe.skipIf(testServerUrl() === undefined)('with the indexes of a large Space', () => {
  it('finds the matching chunks behind any number of better ones, and all of them where few match', async () => {
    await using fixture = await createIndexFixture({
      createEngine: (database) =>
        createPostgresEngine({ database, planFiltered: () => ({ terms: 'index', vectors: 'index' }) }),
    })
    const { index, embedder, organisationId, spaceId } = fixture
    const better = Array.from({ length: 400 }, (_, row) => `The price of red lanterns ${row}: the price, red lanterns.`)
    for (let from = 0; from < better.length; from += 100) {
      await fixture.add(better.slice(from, from + 100), { metadata: { customer: 'corvo', part: from } })
    }
    const own = await fixture.add(
      Array.from({ length: 7 }, (_, row) => `A lantern ${row} next to many other words that state little.`),
      { metadata: { customer: 'acme' } },
    )
    const options = { vectorIndexFromChunks: 20, bm25IndexFromChunks: 20 }
    await index.engine.indexNew(options)
    const { built } = await index.engine.maintain(options)
    await fixture.databases.corpus.execute('analyze')
    const retrieval = createRetrieval({ index, embedder })
    const search = (filter: MetadataFilter, limit: number) =>
      retrieval.search({
        organisationId,
        spaceId,
        filter,
        query: 'the price of red lanterns',
        limit,
        signal: AbortSignal.timeout(30_000),
      })
    expect(built.length).toBeGreaterThan(0)
    const found = await search({ customer: 'acme' }, 5)
    expect(found.map(({ documentId }) => documentId)).toEqual(Array(5).fill(own.id))
    expect(await search({ customer: 'acme' }, 20)).toHaveLength(7)
    expect(await search({ part: { gte: 100, lt: 300 } }, 200)).toHaveLength(200)
    expect(await search({ customer: 'nobody' }, 5)).toEqual([])
  })
})
