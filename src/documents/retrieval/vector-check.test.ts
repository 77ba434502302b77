import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganisationId, createSpaceId, silentLog, type SpaceId } from '../../platform/kernel/index.ts'
import { createRetrieval, type Embedder, type SearchExplanation } from './index.ts'
import { createHashingEmbedder } from './embedders/hashing-embedder.ts'
import { createIndexFixture, engines, type IndexFixture } from './testing/index-fixture.ts'
import { checkDueSpaces, chooseWeight } from './vector-check.ts'
import { createVectorShares } from './fusion.ts'

/** Reciprocal ranks with the weights 0, 0.1 … 0.6. */
const row = (...ranks: number[]) => Array.from({ length: 7 }, (_, at) => ranks[Math.min(at, ranks.length - 1)]!)
const repeat = (times: number, one: number[]) => Array.from({ length: times }, () => one)

describe('the choice of a weight', () => {
  it('is 0 where vectors are worse, where they change nothing, and where they are better by chance', () => {
    expect(chooseWeight(repeat(40, row(1, 0.5)))).toMatchObject({ weight: 0, lexicalRank: 1, fusedRank: 1 })
    expect(chooseWeight(repeat(40, row(0.5)))).toMatchObject({ weight: 0, questions: 40 })
    const byChance = [...repeat(10, row(0.5, 1)), ...repeat(9, row(0.5, 0)), ...repeat(20, row(1))]
    expect(chooseWeight(byChance).weight).toBe(0)
  })

  it('is the smallest one that is about as good as the best', () => {
    expect(chooseWeight(repeat(40, row(0.5, 0.5625, 0.625, 0.75, 0.75, 0.25)))).toMatchObject({
      weight: 0.3,
      fusedRank: 0.75,
    })
    const noisy = [...repeat(20, row(0.5, 0.5, 1)), ...repeat(19, row(0.5, 0.5, 0.5)), row(0.5, 0.5, 0.5, 1)]
    expect(chooseWeight(noisy).weight).toBe(0.2)
  })
})

const subjects = ['harbour', 'library', 'museum', 'garden', 'stadium', 'theatre', 'castle', 'station']
/** Sentences that differ in few words, so that half of the words of one often match another. */
const textOf = (at: number) =>
  `The ${subjects[at % 8]} office number ${at} registers visiting ${subjects[(at >> 3) % 8]} groups before sunset every Friday evening.`

describe.each(engines)('the check of Spaces %s', (_name, createEngine) => {
  let fixture: IndexFixture
  let spaceId: SpaceId
  let asked: string[]
  const hashing = createHashingEmbedder()
  const semantic: Embedder = {
    ...hashing,
    id: 'semantic',
    semantics: true,
    async embed(request) {
      if (request.purpose === 'query') asked.push(...request.texts)
      return hashing.embed(request)
    },
  }
  const check = (embedder: Embedder = semantic) =>
    checkDueSpaces({ index: fixture.index, embedder, log: silentLog, signal: AbortSignal.timeout(60_000) })
  const rows = () =>
    fixture.databases.corpus.query<{ weight: number | null; chunks: number; questions: number }>(
      'select weight, chunks, questions from vector_checks order by space_id',
    )

  beforeAll(async () => {
    asked = []
    fixture = await createIndexFixture({ embedder: semantic, createEngine })
    spaceId = createSpaceId()
    await fixture.add(
      Array.from({ length: 64 }, (_, at) => textOf(at)),
      { spaceId },
    )
    await fixture.add(['Too small a Space to choose a weight by its questions.'], { spaceId: createSpaceId() })
    await fixture.index.engine.warm()
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  async function explain(): Promise<SearchExplanation> {
    let explanation: SearchExplanation | undefined
    await createRetrieval({ index: fixture.index, embedder: semantic }).search({
      organisationId: fixture.organisationId,
      spaceId,
      filter: null,
      query: 'the castle office',
      limit: 3,
      explain: { limit: 1, report: (found) => void (explanation = found) },
      signal: AbortSignal.timeout(30_000),
    })
    return explanation!
  }

  it('chooses once for each Space that is large enough, and searches state how', async () => {
    expect((await explain()).share).toEqual({ weight: 0.2, origin: 'start', check: null })
    expect(await check()).toBe(1)
    const [row] = await rows()
    expect(row).toMatchObject({ chunks: 64, questions: expect.any(Number) })
    expect(row!.questions).toBeGreaterThanOrEqual(24)
    const { share, vectorWeight } = await explain()
    expect(share).toMatchObject({ weight: row!.weight, origin: 'checked', check: { questions: row!.questions } })
    expect(vectorWeight).toBe(row!.weight)
    const before = asked.length
    expect(await check()).toBe(0)
    expect(asked).toHaveLength(before)
  })

  it('does not choose for the built-in embedder, nor for one whose vectors do not answer searches', async () => {
    expect(await check(hashing)).toBe(0)
    expect(await check({ ...semantic, id: 'another' })).toBe(0)
  })

  it('chooses again when the Space has more than doubled, and an hour after a failure', async () => {
    await fixture.add(
      Array.from({ length: 70 }, (_, at) => textOf(64 + at)),
      { spaceId },
    )
    const broken = { ...semantic, embed: () => Promise.reject(new Error('no budget')) }
    expect(await check(broken)).toBe(1)
    expect(await rows()).toEqual([{ weight: null, chunks: 134, questions: 0 }])
    expect((await explain()).share.origin).toBe('start')
    expect(await check()).toBe(0)
    await fixture.databases.corpus.execute(`update vector_checks set checked_at = now() - interval '61 minutes'`)
    expect(await check()).toBe(1)
    expect((await rows())[0]!.weight).not.toBeNull()
  })

  it('removes the choice of a Space without documents, and of an embedding version that was dropped', async () => {
    const { corpus } = fixture.databases
    await corpus.execute('delete from documents where space_id = $1', [spaceId])
    await check()
    expect(await rows()).toEqual([])
  })

  it('reads a choice once a minute', async () => {
    let nowMs = 0
    const shares = createVectorShares(fixture.databases.corpus, { nowMs: () => nowMs })
    const [version] = await fixture.index.embeddingVersions.load()
    const scope = { organisationId: createOrganisationId(), spaceId: createSpaceId() }
    const vector = { version: version!, vector: new Float32Array(384), hasSemantics: true }
    const of = () => shares.of(scope, [vector], AbortSignal.timeout(30_000))
    expect((await of()).origin).toBe('start')
    await fixture.databases.corpus.execute(
      `insert into vector_checks (organisation_id, space_id, version_id, weight, chunks, questions)
       values ($1, $2, $3, 0.4, 40, 30)`,
      [scope.organisationId, scope.spaceId, version!.id],
    )
    nowMs = 59_999
    expect((await of()).origin).toBe('start')
    nowMs = 60_000
    expect(await of()).toMatchObject({ weight: 0.4, origin: 'checked' })
    // Of another organisation, the row does not exist.
    const stranger = { ...scope, organisationId: createOrganisationId() }
    expect((await shares.of(stranger, [vector], AbortSignal.timeout(30_000))).origin).toBe('start')
  })

  it('ends when the embedding version is dropped meanwhile', async () => {
    await fixture.add(
      Array.from({ length: 64 }, (_, at) => textOf(at)),
      { spaceId: createSpaceId() },
    )
    const dropped = { ...semantic, embed: dropThenEmbed }
    expect(await check(dropped)).toBe(0)
    async function dropThenEmbed(request: Parameters<Embedder['embed']>[0]) {
      await fixture.databases.corpus.execute('delete from embedding_generations')
      return semantic.embed(request)
    }
  })
})
