import { describe, expect, it } from 'vitest'
import { createGroupCommit } from './group-commit.ts'

function createGated(maximumBatch = 3, maximumQueue = 10) {
  const batches: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const group = createGroupCommit<number>({
    maximumBatch,
    maximumQueue,
    full: () => new Error('full'),
    flush(items) {
      batches.push(items)
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      return gate.promise
    },
  })
  return { group, batches, gates }
}

describe('group commit', () => {
  it('writes what gathered during a flush together, in order, up to the batch size', async () => {
    const { group, batches, gates } = createGated()
    const first = group.add(1)
    await Promise.resolve()
    const rest = [2, 3, 4, 5].map((item) => group.add(item))
    await Promise.resolve()
    expect(batches).toEqual([[1]])
    gates[0]!.resolve()
    await first
    expect(batches).toEqual([[1], [2, 3, 4]])
    gates[1]!.resolve()
    await rest[2]
    gates[2]!.resolve()
    await group.drained()
    expect(batches).toEqual([[1], [2, 3, 4], [5]])
    expect(group.size()).toBe(0)
  })

  it('fails the items of a failed flush only', async () => {
    const { group, gates } = createGated(1)
    const [first, second] = [group.add(1), group.add(2)]
    await Promise.resolve()
    gates[0]!.reject(new Error('disk'))
    await expect(first).rejects.toThrow('disk')
    gates[1]!.resolve()
    await expect(second).resolves.toBeUndefined()
  })

  it('refuses items beyond its queue instead of growing', async () => {
    const { group, gates } = createGated(1, 2)
    const kept = [group.add(1), group.add(2)]
    await expect(group.add(3)).rejects.toThrow('full')
    await Promise.resolve()
    gates[0]!.resolve()
    await kept[0]
    gates[1]!.resolve()
    await kept[1]
  })
})
