import { expect, test } from 'vitest'
import { LoopTurns } from './loop-turns.ts'

/** An event loop whose callbacks run in `turn`; each step of work takes half a millisecond. */
function createLoop() {
  let nowMs = 0
  let loop = 0
  let deferred: (() => void)[] = []
  const done: string[] = []
  const turns = new LoopTurns({
    nowMs: () => nowMs,
    loopCount: () => loop,
    defer: (callback) => void deferred.push(callback),
  })
  async function step(owner: string, steps = 1): Promise<void> {
    for (let number = 0; number < steps; number++) {
      const turn = turns.enter(owner)
      if (turn) await turn
      nowMs += 0.5
      done.push(owner)
    }
  }
  return {
    done,
    step,
    /** Runs the phase of deferred callbacks, with their microtasks, and begins the next turn of the loop. */
    async turn(): Promise<string[]> {
      const before = done.length
      for (const callback of deferred.splice(0)) {
        callback()
        await new Promise((resolve) => setImmediate(resolve))
      }
      loop++
      return done.slice(before)
    },
    pending: () => deferred.length,
    connect: () => turns.connectionArrived(),
  }
}

test('steps run at once until the slice of a turn of the event loop is used', () => {
  const loop = createLoop()
  for (let number = 0; number < 10; number++) void loop.step('one')
  expect(loop.done).toEqual(['one', 'one', 'one', 'one'])
})

test('few of the steps that one event lets continue run at once', () => {
  const turns = new LoopTurns({ nowMs: () => 0, loopCount: () => 0, defer: () => {} })
  const waiting = Array.from({ length: 1_000 }, () => turns.enter('flood')).filter((turn) => turn !== undefined)
  expect(1_000 - waiting.length).toBe(32)
})

test('one step of another owner waits for one step of the flood, however many of those wait', async () => {
  const loop = createLoop()
  for (let number = 0; number < 1_000; number++) void loop.step('flood')
  void loop.step('other')
  expect(await loop.turn()).toEqual(['flood', 'other', 'flood', 'flood'])
})

test('each turn runs a slice of steps, and all end', async () => {
  const loop = createLoop()
  for (let number = 0; number < 200; number++) void loop.step('flood', 2)
  const sizes: number[] = []
  while (loop.pending() > 0) sizes.push((await loop.turn()).length)
  expect(loop.done).toHaveLength(400)
  expect(Math.max(...sizes)).toBe(4)
})

test('a step after the turns of the flood runs at once again', async () => {
  const loop = createLoop()
  for (let number = 0; number < 9; number++) void loop.step('flood')
  while (loop.pending() > 0) await loop.turn()
  void loop.step('other')
  expect(loop.done.at(-1)).toBe('other')
})

test('while a connection arrives in each turn of the event loop, one step runs in every eighth', async () => {
  const loop = createLoop()
  loop.connect()
  for (let number = 0; number < 100; number++) void loop.step('flood')
  const sizes: number[] = []
  for (let turn = 0; turn < 16; turn++) {
    loop.connect()
    sizes.push((await loop.turn()).length)
  }
  expect(sizes).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
  expect(await loop.turn()).toHaveLength(4)
})

test('shares the real event loop: input is read between the slices of a flood', async () => {
  const turns = new LoopTurns()
  const loopCount = () => performance.nodeTiming.uvMetricsInfo.loopCount
  const loops = new Set<number>()
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const turn = turns.enter('flood')
      if (turn) await turn
      loops.add(loopCount())
      const untilMs = performance.now() + 5
      while (performance.now() < untilMs);
    }),
  )
  // Each step is longer than a slice.
  expect(loops.size).toBeGreaterThan(40)
})
