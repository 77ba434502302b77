import { describe, expect, it } from 'vitest'
import { planMerge, planNewVectors, type SegmentUsage, sizesFrom, type VectorUsage } from './segment-plan.ts'

const sizes = sizesFrom(20_000)
const segment = (id: number, chunks: number): SegmentUsage => ({ id, chunks, rows: chunks })
const usage = (given: Partial<VectorUsage>): VectorUsage => ({
  tailChunks: 0,
  tailIdleSeconds: 0,
  idleSeconds: 0,
  segments: [],
  ...given,
})

describe('new documents', () => {
  it('are compared exactly in a Space below the threshold', () => {
    expect(planNewVectors(usage({ tailChunks: 19_999, tailIdleSeconds: 1_000 }), sizes)).toBeNull()
    expect(planNewVectors(usage({ tailChunks: 20_000 }), sizes)).toMatchObject({ kind: 'build' })
  })

  it('get a segment when they are many, or some and nothing new comes', () => {
    const segments = [segment(1, 50_000)]
    expect(planNewVectors(usage({ segments, tailChunks: 9_999 }), sizes)).toBeNull()
    expect(planNewVectors(usage({ segments, tailChunks: 10_000 }), sizes)).toMatchObject({ kind: 'build' })
    expect(planNewVectors(usage({ segments, tailChunks: 2_000, tailIdleSeconds: 60 }), sizes)).toMatchObject({
      kind: 'build',
    })
    expect(planNewVectors(usage({ segments, tailChunks: 1_999, tailIdleSeconds: 1e6 }), sizes)).toBeNull()
  })

  it('get none in a Space that has shrunk', () => {
    const shrunk = usage({ segments: [segment(1, 10)], tailChunks: 9_000, tailIdleSeconds: 100 })
    expect(planNewVectors(shrunk, sizes)).toBeNull()
    expect(planMerge(shrunk, sizes)).toEqual({ kind: 'retire', segments: [1] })
  })
})

describe('segments', () => {
  it('are removed when none of their documents is left', () => {
    expect(planMerge(usage({ segments: [segment(1, 50_000), segment(2, 0)] }), sizes)).toEqual({
      kind: 'retire',
      segments: [2],
    })
  })

  it('are merged when together they reach the next size, and otherwise kept', () => {
    const small = [segment(1, 50_000), segment(2, 50_000)]
    expect(planMerge(usage({ segments: [segment(9, 130_000), ...small] }), sizes)).toBeNull()
    expect(planMerge(usage({ segments: [segment(9, 130_000), ...small, segment(3, 20_000)] }), sizes)).toEqual({
      kind: 'merge',
      segments: [1, 2, 3],
    })
  })

  it('are merged early in a Space where nothing is published, except next to a far larger one', () => {
    const equal = Array.from({ length: 8 }, (_, id) => segment(id, 10_000 + id))
    expect(planMerge(usage({ segments: equal, idleSeconds: 119 }), sizes)).toBeNull()
    expect(planMerge(usage({ segments: equal, idleSeconds: 120 }), sizes)).toEqual({
      kind: 'merge',
      segments: equal.map(({ id }) => id),
    })
    const uneven = [segment(1, 90_000), segment(2, 5_000), segment(3, 6_000)]
    expect(planMerge(usage({ segments: uneven, idleSeconds: 1e6 }), sizes)).toEqual({ kind: 'merge', segments: [2, 3] })
    expect(planMerge(usage({ segments: [segment(1, 90_000), segment(4, 11_000)], idleSeconds: 1e6 }), sizes)).toBeNull()
  })

  it('stay few in a Space that gets some documents an hour, and each chunk is copied at most nine times', () => {
    let segments: SegmentUsage[] = []
    let copied = 0
    let nextId = 1
    const total = 1_000_000
    for (let done = 0; done < total; done += 2_500) {
      segments = [...segments, segment(nextId++, 2_500)]
      for (;;) {
        const action = planMerge(usage({ segments, idleSeconds: 3_600 }), sizes)
        if (action?.kind !== 'merge') break
        const merged = segments.filter(({ id }) => action.segments.includes(id))
        const chunks = merged.reduce((sum, one) => sum + one.chunks, 0)
        copied += chunks
        segments = [...segments.filter((one) => !merged.includes(one)), segment(nextId++, chunks)]
      }
      expect(segments.filter(({ chunks }) => chunks < 120_000).length).toBeLessThan(7)
    }
    expect(copied / total).toBeLessThan(9)
  })

  it('are not merged into one that takes hours, where very many are there at once', () => {
    let segments = Array.from({ length: 42 }, (_, id) => segment(id, 119_000))
    for (let nextId = 100; ; nextId++) {
      const action = planMerge(usage({ segments, idleSeconds: 1e6 }), sizes)
      if (action?.kind !== 'merge') break
      const isMerged = ({ id }: SegmentUsage) => action.segments.includes(id)
      const chunks = segments.filter(isMerged).reduce((sum, one) => sum + one.chunks, 0)
      segments = [...segments.filter((one) => !isMerged(one)), segment(nextId, chunks)]
    }
    expect(segments.map(({ chunks }) => chunks)).toEqual([119_000, 1_547_000, 1_547_000, 1_547_000, 238_000])
  })

  it('stay few while a Space grows to three million chunks, and each chunk is copied at most four times', () => {
    let segments: SegmentUsage[] = []
    let copied = 0
    let most = 0
    let nextId = 1
    const total = 3_000_000
    for (let done = 0; done < total; done += 10_000) {
      segments = [...segments, segment(nextId++, 10_000)]
      copied += 10_000
      for (;;) {
        const action = planMerge(usage({ segments }), sizes)
        if (action?.kind !== 'merge') break
        const chunks = segments
          .filter(({ id }) => action.segments.includes(id))
          .reduce((sum, one) => sum + one.chunks, 0)
        copied += chunks
        segments = [...segments.filter(({ id }) => !action.segments.includes(id)), segment(nextId++, chunks)]
      }
      most = Math.max(most, segments.length)
    }
    expect(copied / total).toBeLessThan(4)
    expect(most).toBeLessThan(30)
  })
})
