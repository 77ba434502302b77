import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError, createOrganisationId, createSpaceId, type OrganisationId } from '../../platform/kernel/index.ts'
import { countStoredTexts, loadIndexProgress } from './corpus/index-progress.store.ts'
import { vectorTable } from './corpus/embedding-versions.store.ts'
import { createHashingEmbedder, type Embedder, reindexStep } from './index.ts'
import { createIndexFixture, type IndexFixture } from './testing/index-fixture.ts'

let fixture: IndexFixture
beforeEach(async () => {
  fixture = await createIndexFixture()
})
afterEach(() => fixture[Symbol.asyncDispose]())

const next = createHashingEmbedder({ dimensions: 128 })
const texts = ['Badgers dig setts.', 'Otters swim.', 'Herons wait.']
const step = (embedder: Embedder) =>
  reindexStep({ index: fixture.index, embedder, signal: AbortSignal.timeout(30_000) })

describe('the change to another embedding model', () => {
  it('leaves out what is refused for an organisation, and ends when it no longer is', async () => {
    const poor = { organisationId: createOrganisationId(), spaceId: createSpaceId() }
    await fixture.add(texts)
    await fixture.add(texts, poor)
    let refused: OrganisationId | undefined = poor.organisationId
    const embedder: Embedder = {
      ...next,
      embed(request) {
        if (request.organisationId === refused) throw new AppError('insufficient_quota', 'No budget.')
        return next.embed(request)
      },
    }
    const version = await fixture.index.embeddingVersions.prepare(embedder)
    const round = [await step(embedder), await step(embedder), await step(embedder)]
    expect(round).toContainEqual({ state: 'building', embeddedChunks: 3 })
    expect(round).toContainEqual({ state: 'refused', organisationId: poor.organisationId, reason: 'No budget.' })
    expect(round[2]).toEqual({ state: 'incomplete' })
    const { corpus } = fixture.databases
    expect(await loadIndexProgress(corpus, version)).toMatchObject({ documentsDone: 1, documentsTotal: 2 })
    refused = undefined
    expect(await step(embedder)).toEqual({ state: 'building', embeddedChunks: 3 })
    expect(await loadIndexProgress(corpus, version)).toMatchObject({ documentsDone: 2, documentsTotal: 2 })
    expect(await step(embedder)).toEqual({ state: 'complete' })
  })

  it('that is abandoned gives documents of the meantime their vectors of the model before', async () => {
    await fixture.add(texts)
    await step(fixture.embedder)
    await fixture.index.embeddingVersions.prepare(next)
    await fixture.publish(await fixture.stage(await fixture.createDocument(), ['A stoat hunts.'], next))
    const former = await fixture.index.embeddingVersions.prepare(fixture.embedder)
    expect(await step(fixture.embedder)).toEqual({ state: 'building', embeddedChunks: 1 })
    expect(await step(fixture.embedder)).toEqual({ state: 'complete' })
    const [vectors] = await fixture.databases.corpus.query<{ rows: number }>(
      `select count(*)::int as rows from ${vectorTable(former)}`,
    )
    expect(vectors!.rows).toBe(texts.length + 1)
  })

  it('that fails for another reason throws it', async () => {
    await fixture.add(texts)
    const embedder: Embedder = { ...next, embed: () => Promise.reject(new AppError('upstream_error', 'It is down.')) }
    await fixture.index.embeddingVersions.prepare(embedder)
    await expect(step(embedder)).rejects.toThrow('It is down.')
  })
})

it('counts the tokens of stored texts with the names that are embedded with them', async () => {
  const { corpus } = fixture.databases
  expect(await countStoredTexts(corpus)).toEqual({ documents: 0, chunks: 0, tokens: 0 })
  await fixture.add(texts, { name: 'a name of 24 characters!' })
  const counted = await countStoredTexts(corpus)
  const [{ tokens }] = (await corpus.query<{ tokens: number }>('select sum(tokens)::int as tokens from chunks')) as [
    { tokens: number },
  ]
  expect(counted).toEqual({ documents: 1, chunks: 3, tokens: tokens + (3 * 24) / 4 })
})
