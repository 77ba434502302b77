import { expect, test } from 'vitest'
import type { Queryable } from '../../../../platform/database/index.ts'
import { createSegmentNotes } from './lance-search.store.ts'

test('notes of a segment that were evicted while they were loaded take no room twice', async () => {
  const waiting = new Map<number, ((megabytes: number) => void)[]>()
  const queryable = {
    query: (_: string, [id]: [number]) =>
      new Promise((resolve) => {
        const answer = (megabytes: number) =>
          resolve([{ counts: new Uint8Array(8), chunkIds: new Uint8Array(megabytes * 2 ** 20) }])
        waiting.set(id, [...(waiting.get(id) ?? []), answer])
      }),
  } as unknown as Queryable
  const notes = createSegmentNotes()
  const load = (id: number) => notes.load(queryable, id, undefined)
  const answer = (id: number, megabytes: number) => {
    for (const one of waiting.get(id)!) one(megabytes)
  }
  const evicted = load(1)
  const large = load(2)
  answer(2, 257)
  await large
  const again = load(1)
  expect(waiting.get(1)).toHaveLength(2)
  answer(1, 80)
  await Promise.all([evicted, again])
  const other = load(3)
  answer(3, 120)
  await other
  await load(1)
  expect(waiting.get(1)).toHaveLength(2)
})
