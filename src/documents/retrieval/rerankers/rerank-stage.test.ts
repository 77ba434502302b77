import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../../test/harness/fake-clock.ts'
import {
  AppError,
  createDocumentId,
  createOrganisationId,
  createSpaceId,
  createUuid,
  type Log,
  type OrganisationId,
  silentLog,
} from '../../../platform/kernel/index.ts'
import type { StoredPassage } from '../corpus/passages.store.ts'
import { createRerankStage, type RerankOutcome, type RerankStageOptions } from './rerank-stage.ts'
import { maximumDocumentCharacters, maximumQueryCharacters, type Reranker, type RerankRequest } from './reranker.ts'

function passage(text: string): StoredPassage {
  return {
    chunkId: createUuid(),
    documentId: createDocumentId(),
    documentName: 'file.txt',
    url: null,
    text,
    headingPath: ['Chapter'],
    tableHeader: null,
    chunkIndex: 0,
    pageFrom: null,
    pageTo: null,
    pageStarts: null,
    characterFrom: 0,
    characterTo: text.length,
    rowFrom: null,
    rowTo: null,
  }
}

function rerankerOf(score: (request: RerankRequest) => Promise<number[]>): Reranker {
  return { id: 'test', label: 'test', score, async close() {} }
}

const organisationId = createOrganisationId()
function question(fields: { signal?: AbortSignal; organisationId?: OrganisationId; text?: string } = {}) {
  return {
    text: 'which one?',
    organisationId,
    spaceId: createSpaceId(),
    signal: AbortSignal.timeout(20_000),
    ...fields,
  }
}

function stageOf(score: Reranker['score'], options: Partial<RerankStageOptions> = {}) {
  const observed: RerankOutcome[] = []
  const stage = createRerankStage({
    reranker: rerankerOf(score),
    observe: (outcome) => observed.push(outcome),
    log: silentLog,
    ...options,
  })
  return { stage, observed }
}

describe('the order of a reranker', () => {
  const scored = fc.array(
    fc.record({
      text: fc.oneof(fc.constantFrom('same', 'same ', 'other'), fc.string()),
      score: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
    { maxLength: 60 },
  )
  it('has every passage once: the compared ones by score, equal ones and the rest as they were', async () => {
    await fc.assert(
      fc.asyncProperty(scored, fc.integer({ min: 2, max: 100 }), async (given, size) => {
        const passages = given.map(({ text }) => passage(text))
        const scoreOf = new Map(given.map(({ score }, index) => [passages[index]!.chunkId, score]))
        let compared = 0
        const { stage } = stageOf(
          async ({ documents }) => {
            compared = documents.length
            // The stage compares distinct texts in order; each has a score of this test.
            const distinct = passages.filter(
              (one, at) => passages.findIndex(({ text }) => normal(text) === normal(one.text)) === at,
            )
            return distinct.slice(0, documents.length).map(({ chunkId }) => scoreOf.get(chunkId)!)
          },
          { passages: size },
        )
        const { passages: ordered, scores, outcome } = await stage.rerank(passages, question())
        expect(new Set(ordered)).toEqual(new Set(passages))
        expect(ordered).toHaveLength(passages.length)
        expect(scores.size).toBe(outcome === 'reranked' ? compared : 0)
        const place = new Map(passages.map((one, at) => [one, at]))
        for (const [at, one] of ordered.entries()) {
          const next = ordered[at + 1]
          if (!next) break
          const [here, there] = [scores.get(one.chunkId), scores.get(next.chunkId)]
          if (here === undefined || there === undefined)
            expect([here, there]).not.toEqual([undefined, expect.anything()])
          else expect(here).toBeGreaterThanOrEqual(there)
          if (here === there) expect(place.get(one)).toBeLessThan(place.get(next)!)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('compares the best passages only, with their headings, and cuts texts that are too long', async () => {
    const requests: RerankRequest[] = []
    const { stage } = stageOf(
      async (request) => {
        requests.push(request)
        return request.documents.map((_, index) => index)
      },
      { passages: 3 },
    )
    const long = `begin ${'😀'.repeat(5_000)} end`
    const passages = [passage('a'), passage(long), passage('a'), passage('b'), passage('c')]
    const { passages: ordered } = await stage.rerank(passages, question({ text: long }))
    expect(requests[0]!.documents).toHaveLength(3)
    expect(requests[0]!.documents[0]).toBe('file.txt › Chapter\na')
    expect(requests[0]!.documents[1]!.length).toBeLessThanOrEqual(maximumDocumentCharacters)
    expect(requests[0]!.query.length).toBeLessThanOrEqual(maximumQueryCharacters)
    expect(requests[0]!.query).toMatch(/^begin .* end$/s)
    expect(requests[0]!.documents[1]!.isWellFormed()).toBe(true)
    // The repeat of `a` and the fourth distinct text were not compared.
    expect(ordered.map(({ text }) => text.slice(0, 5))).toEqual(['b', 'begin', 'a', 'a', 'c'])
  })

  it('is not asked for a single passage', async () => {
    const { stage, observed } = stageOf(() => Promise.reject(new Error('not called')))
    await stage.rerank([passage('a'), passage('a')], question())
    await stage.rerank([], question())
    expect(observed).toEqual(['skipped', 'skipped'])
  })
})

describe('the order of the search is kept', () => {
  const passages = ['a', 'b', 'c'].map(passage)
  const never: Reranker['score'] = () => new Promise(() => {})

  it.each<[string, Reranker['score'], RerankOutcome]>([
    ['when the reranker stalls and ignores its signal', never, 'timeout'],
    ['when it fails', () => Promise.reject(new Error('broken')), 'failed'],
    [
      'when it throws',
      () => {
        throw new Error('broken')
      },
      'failed',
    ],
    ['when there are too few scores', async () => [1, 2], 'failed'],
    ['when there are too many scores', async () => [1, 2, 3, 4], 'failed'],
    ['when a score is NaN', async () => [1, Number.NaN, 3], 'failed'],
    ['when a score is infinite', async () => [1, 2, Number.POSITIVE_INFINITY], 'failed'],
    ['when its provider was late', () => Promise.reject(new AppError('upstream_timeout', 'late')), 'timeout'],
  ])('%s', async (_name, score, expected) => {
    const { stage, observed } = stageOf(score, { timeoutMs: 50 })
    expect(await stage.rerank(passages, question())).toEqual({ outcome: expected, passages, scores: new Map() })
    expect(observed).toEqual([expected])
  })

  it('and the log has the reason without any text', async () => {
    const lines: unknown[] = []
    const log = { ...silentLog, warn: (...line: unknown[]) => void lines.push(line) } as Log
    const { stage } = stageOf(
      () => Promise.reject(new AppError('invalid_request', 'The provider rejected: which one? Secret.')),
      { log },
    )
    await stage.rerank([passage('Secret.'), passage('b')], question())
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).toContain('invalid_request')
    expect(JSON.stringify(lines)).not.toMatch(/Secret|which one/)
  })

  it('but a client that has left ends the search', async () => {
    const left = new AbortController()
    const { stage } = stageOf(() => {
      left.abort(new Error('gone'))
      return new Promise(() => {})
    })
    await expect(stage.rerank(passages, question({ signal: left.signal }))).rejects.toThrow('gone')
  })
})

describe('a reranker that fails three times', () => {
  const passages = ['a', 'b'].map(passage)

  it('rests for the organisation, longer after each further failure, until it works again', async () => {
    const clock = createFakeClock()
    let works = false
    const { stage, observed } = stageOf(
      async () => {
        if (!works) throw new Error('broken')
        return [1, 2]
      },
      { clock },
    )
    const rerank = (id = organisationId) => stage.rerank(passages, question({ organisationId: id }))
    for (let call = 0; call < 4; call++) await rerank()
    expect(observed.splice(0)).toEqual(['failed', 'failed', 'failed', 'resting'])
    await rerank(createOrganisationId())
    expect(observed.splice(0)).toEqual(['failed'])
    await clock.advance(10_000)
    await rerank()
    await clock.advance(19_000)
    await rerank()
    expect(observed.splice(0)).toEqual(['failed', 'resting'])
    await clock.advance(1_000)
    works = true
    for (let call = 0; call < 3; call++) await rerank()
    expect(observed).toEqual(['reranked', 'reranked', 'reranked'])
  })

  it.each(['insufficient_quota', 'rate_limit_exceeded', 'invalid_request'] as const)(
    'does not rest because of %s',
    async (code) => {
      const { stage, observed } = stageOf(() => Promise.reject(new AppError(code, 'no', { retryAfterSeconds: 1 })))
      for (let call = 0; call < 5; call++) await stage.rerank(passages, question())
      expect(new Set(observed)).toEqual(new Set(['failed']))
    },
  )
})

function normal(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
