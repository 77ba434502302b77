import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type OrganisationId, systemClock } from '../../platform/kernel/index.ts'
import { queued, type QueuedWrite, writeDeadlineMs, WriteQueue } from './write-queue.ts'

interface TestWrite extends QueuedWrite {
  name: number
  answer: Promise<string>
  resolve(answer: string): void
}

const one = 'one' as OrganisationId
const other = 'other' as OrganisationId

function makeWrite(name: number, mayExpire = true, mayWait = false, owner: OrganisationId | null = one): TestWrite {
  const { promise: answer, resolve, reject } = Promise.withResolvers<string>()
  answer.catch(() => {})
  return { name, answer, resolve, reject, ...queued(owner, mayExpire, mayWait) }
}

function createGated(maximumBatch = 3, maximumWaiting?: number) {
  const batches: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  let nowMs = 0
  let tick = () => {}
  const queue = new WriteQueue<TestWrite>({
    clock: {
      ...systemClock,
      monotonicMs: () => nowMs,
      every(_ms, task) {
        tick = task
        return () => {}
      },
    },
    maximumBatch,
    maximumWaiting,
    async flush(writes) {
      batches.push(writes.map(({ name }) => name))
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      await gate.promise
      for (const write of writes) write.resolve('written')
    },
  })
  const pass = (ms: number) => {
    nowMs += ms
    tick()
  }
  return { queue, batches, gates, pass }
}

describe('a queue of writes', () => {
  test('writes what the answers of a batch cause in the same turn together', async () => {
    const { queue, batches, gates } = createGated()
    const callers = [1, 2, 3].map(async (name) => {
      const first = makeWrite(name)
      queue.add(first)
      await first.answer
      // Calls differ in what they do after an answer.
      for (let steps = 0; steps < 5 * name; steps += 1) await Promise.resolve()
      const second = makeWrite(10 * name)
      queue.add(second)
      await second.answer
    })
    await expect.poll(() => gates.length).toBe(1)
    gates[0]!.resolve()
    await expect.poll(() => gates.length).toBe(2)
    gates[1]!.resolve()
    await Promise.all(callers)
    expect(batches).toEqual([
      [1, 2, 3],
      [10, 20, 30],
    ])
    queue.close()
  })

  test('writes what several callbacks of one turn of the loop add together', async () => {
    const { queue, batches, gates } = createGated()
    for (const name of [1, 2]) setImmediate(() => queue.add(makeWrite(name)))
    await expect.poll(() => gates.length).toBe(1)
    gates[0]!.resolve()
    await queue.drained()
    expect(batches).toEqual([[1, 2]])
  })

  test('writes what may wait with the next write that may not', async () => {
    // Its time does not pass, however busy the machine is.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { queue, batches, gates } = createGated()
    queue.add(makeWrite(1, true, true))
    for (let turn = 0; turn < 10; turn += 1) await nextTurn()
    expect(batches).toEqual([])
    queue.add(makeWrite(2))
    await nextTurn()
    expect(batches).toEqual([[1, 2]])
    gates[0]!.resolve()
    await queue.drained()
    queue.close()
  })

  test('writes what may wait soon, although nothing else comes, also behind a flush', async () => {
    const { queue, batches, gates } = createGated()
    queue.add(makeWrite(1, true, true))
    await expect.poll(() => gates.length).toBe(1)
    queue.add(makeWrite(2, true, true))
    gates[0]!.resolve()
    await expect.poll(() => gates.length).toBe(2)
    gates[1]!.resolve()
    await queue.drained()
    expect(batches).toEqual([[1], [2]])
    queue.close()
  })

  test('writes what may wait when it is hurried, or has to be empty', async () => {
    const { queue, batches, gates } = createGated()
    queue.add(makeWrite(1, true, true))
    queue.hurry()
    await nextTurn()
    expect(batches).toEqual([[1]])
    gates[0]!.resolve()
    await queue.drained()
    queue.add(makeWrite(2, true, true))
    const drained = queue.drained()
    await expect.poll(() => gates.length).toBe(2)
    gates[1]!.resolve()
    await drained
    expect(batches).toEqual([[1], [2]])
    queue.close()
  })

  test('writes what gathered during a flush together, in order, up to the batch size', async () => {
    const { queue, batches, gates } = createGated()
    const first = makeWrite(1)
    queue.add(first)
    await expect.poll(() => gates.length).toBe(1)
    const rest = [2, 3, 4, 5].map((name) => makeWrite(name))
    for (const write of rest) queue.add(write)
    await nextTurn()
    expect(batches).toEqual([[1]])
    gates[0]!.resolve()
    await expect.poll(() => batches).toEqual([[1], [2, 3, 4]])
    expect(await first.answer).toBe('written')
    gates[1]!.resolve()
    await rest[2]!.answer
    await expect.poll(() => gates.length).toBe(3)
    gates[2]!.resolve()
    await queue.drained()
    expect(batches).toEqual([[1], [2, 3, 4], [5]])
  })

  test('gives organisations equal parts of a batch, each in its order', async () => {
    const { queue, batches, gates } = createGated(4)
    const add = (owner: OrganisationId | null, ...names: number[]) => {
      for (const name of names) queue.add(makeWrite(name, true, false, owner))
    }
    add(one, 1, 2, 3, 4, 5, 6, 7)
    add(other, 21, 22)
    add(null, 90)
    add(other, 23)
    for (let flush = 0; flush < 3; flush += 1) {
      await expect.poll(() => gates.length).toBe(flush + 1)
      gates[flush]!.resolve()
    }
    await queue.drained()
    expect(batches).toEqual([
      [1, 2, 21, 22],
      [3, 4, 5, 6],
      [7, 90, 23],
    ])
  })

  test('writes those that came first where more organisations wait than fit in a batch', async () => {
    const { queue, batches, gates } = createGated(2)
    const names = [1, 1, 2, 3, 4, 5].entries()
    for (const [place, owner] of names) queue.add(makeWrite(place, true, false, `owner ${owner}` as OrganisationId))
    for (let flush = 0; flush < 4; flush += 1) {
      await expect.poll(() => gates.length).toBe(flush + 1)
      gates[flush]!.resolve()
      if (flush === 0) queue.add(makeWrite(6, true, false, 'owner 6' as OrganisationId))
    }
    await queue.drained()
    expect(batches).toEqual([[0, 2], [1, 3], [4, 5], [6]])
  })

  test('has room for an organisation with few writes while another one has its share of the queue', async () => {
    const { queue, gates } = createGated(100, 8)
    for (let name = 1; name <= 4; name += 1) {
      expect(queue.hasRoom(one)).toBe(true)
      queue.add(makeWrite(name))
    }
    expect(queue.hasRoom(one)).toBe(false)
    expect(queue.hasRoom(other)).toBe(true)
    expect(queue.isFull).toBe(false)
    // What has begun is never refused.
    for (let name = 5; name <= 8; name += 1) queue.add(makeWrite(name))
    expect(queue.isFull).toBe(true)
    await expect.poll(() => gates.length).toBe(1)
    gates[0]!.resolve()
    await queue.drained()
    expect(queue.hasRoom(one)).toBe(true)
    expect(queue.isFull).toBe(false)
  })

  test('fails the writes of a failed flush only', async () => {
    const { queue, gates } = createGated(1)
    const [first, second] = [makeWrite(1), makeWrite(2)]
    queue.add(first)
    queue.add(second)
    await expect.poll(() => gates.length).toBe(1)
    gates[0]!.reject(new Error('disk'))
    await expect(first.answer).rejects.toThrow('disk')
    await expect.poll(() => gates.length).toBe(2)
    gates[1]!.resolve()
    await expect(second.answer).resolves.toBe('written')
  })

  test('rejects writes that wait too long with 503, those under way too, and no settlement', async () => {
    const { queue, gates, pass } = createGated(1)
    const [underWay, settlement, waiting] = [makeWrite(1), makeWrite(2, false), makeWrite(3)]
    for (const write of [underWay, settlement, waiting]) queue.add(write)
    await Promise.resolve()
    pass(1_000)
    const late = makeWrite(4)
    queue.add(late)
    pass(writeDeadlineMs - 500)
    for (const write of [underWay, waiting]) await expect(write.answer).rejects.toMatchObject({ code: 'overloaded' })
    expect([underWay, settlement, waiting, late].map(({ isExpired }) => isExpired)).toEqual([true, false, true, false])
    for (let flush = 0; flush < 4; flush += 1) {
      await expect.poll(() => gates.length).toBe(flush + 1)
      gates[flush]!.resolve()
    }
    expect(await settlement.answer).toBe('written')
    expect(await late.answer).toBe('written')
  })

  test('rejects old writes of an organisation although another one has a new write in the same batch', async () => {
    const { queue, batches, gates, pass } = createGated(2)
    const early = [1, 2, 3, 4].map((name) => makeWrite(name))
    for (const write of early) queue.add(write)
    await expect.poll(() => gates.length).toBe(1)
    pass(writeDeadlineMs - 1_000)
    const late = makeWrite(5, true, false, other)
    queue.add(late)
    gates[0]!.resolve()
    await expect.poll(() => gates.length).toBe(2)
    expect(batches[1]).toEqual([3, 5])
    pass(1_000)
    await expect(early[3]!.answer).rejects.toMatchObject({ code: 'overloaded' })
    gates[1]!.resolve()
    expect(await late.answer).toBe('written')
    await expect.poll(() => gates.length).toBe(3)
    gates[2]!.resolve()
    await queue.drained()
  })

  test('is stalled while an attempt to write takes more than 3 seconds', async () => {
    const { queue, pass } = createGated()
    const gate = Promise.withResolvers<void>()
    const attempt = queue.attempt(() => gate.promise)
    expect(queue.isStalled).toBe(false)
    pass(3_001)
    expect(queue.isStalled).toBe(true)
    gate.resolve()
    await attempt
    expect(queue.isStalled).toBe(false)
  })
})
