import { expect, it, test } from 'vitest'
import { AppError } from './errors.ts'
import { createFairTurns, LoopTurns } from './fairness.ts'

/** An event loop whose callbacks run in `turn`; each step of work takes a quarter of a slice. */
function createLoop() {
  let nowMs = 0
  let loop = 0
  const deferred: (() => void)[] = []
  const proceeding: (() => void)[] = []
  const done: string[] = []
  const turns = new LoopTurns({
    nowMs: () => nowMs,
    loopCount: () => loop,
    defer: (callback) => void deferred.push(callback),
    proceed: (callback) => void proceeding.push(callback),
  })
  async function step(owner: string, steps = 1, isFirst = false): Promise<void> {
    for (let number = 0; number < steps; number++) {
      const turn = turns.enter(owner, isFirst)
      if (turn) await turn
      nowMs += 0.0625
      done.push(owner)
    }
  }
  return {
    done,
    step,
    /** A step with a callback. */
    run(owner: string, fault?: Error): void {
      turns.run(owner, () => {
        if (fault) throw fault
        nowMs += 0.0625
        done.push(owner)
      })
    },
    /** Runs the phase of deferred callbacks, with their microtasks, and begins the next turn of the loop. */
    async turn(): Promise<string[]> {
      const before = done.length
      proceeding.push(...deferred.splice(0))
      for (let callback = proceeding.shift(); callback; callback = proceeding.shift()) {
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

test('few steps of another owner run in the same turn, after the slice of the flood', async () => {
  const loop = createLoop()
  for (let number = 0; number < 1_000; number++) void loop.step('flood')
  for (let number = 0; number < 5; number++) void loop.step('other')
  const owners = await loop.turn()
  expect(owners.filter((owner) => owner === 'other')).toHaveLength(5)
  expect(owners.filter((owner) => owner === 'flood')).toHaveLength(2)
})

test('many steps of several owners run in one slice', async () => {
  const loop = createLoop()
  for (let number = 0; number < 100; number++) for (const owner of ['a', 'b', 'c']) void loop.step(owner)
  expect(await loop.turn()).toHaveLength(4)
})

test('each turn runs a slice of steps, and all end', async () => {
  const loop = createLoop()
  for (let number = 0; number < 200; number++) void loop.step('flood', 2)
  const sizes: number[] = []
  while (loop.pending() > 0) sizes.push((await loop.turn()).length)
  expect(loop.done).toHaveLength(400)
  // Only few wait in the last ones.
  expect(new Set(sizes.slice(0, 90))).toEqual(new Set([4]))
})

test('a step after the turns of the flood runs at once again', async () => {
  const loop = createLoop()
  for (let number = 0; number < 9; number++) void loop.step('flood')
  while (loop.pending() > 0) await loop.turn()
  void loop.step('other')
  expect(loop.done.at(-1)).toBe('other')
})

test('while a connection arrives in each turn of the event loop, its owner has one step in eight turns, and others one in each', async () => {
  const loop = createLoop()
  loop.connect()
  for (let number = 0; number < 100; number++) void loop.step('flood', 1, true)
  for (let number = 0; number < 5; number++) void loop.step('other')
  const turns: string[] = []
  for (let turn = 0; turn < 16; turn++) {
    loop.connect()
    turns.push((await loop.turn()).join())
  }
  const other = 'other'
  expect(turns).toEqual(['flood', other, other, other, other, other, '', '', 'flood', '', '', '', '', '', '', ''])
  expect(await loop.turn()).toHaveLength(4)
})

test('steps with a callback run at once or in their turn, and a fault of one stops no other', async () => {
  const loop = createLoop()
  for (let number = 0; number < 5; number++) loop.run('one')
  expect(loop.done).toEqual(['one', 'one', 'one', 'one'])
  loop.run('one', new Error('broken'))
  loop.run('one')
  await expect(loop.turn()).rejects.toThrow('broken')
  expect(loop.done).toHaveLength(5)
  expect(await loop.turn()).toEqual(['one'])
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

const signal = new AbortController().signal
const createTurns = (places?: number) =>
  createFairTurns({
    ...(places !== undefined && { places }),
    maximumWaiting: 128,
    tooMany: () => new AppError('overloaded', 'Too much waits.'),
  })

/** Work that ends when the test ends it. */
function createWork() {
  const started: string[] = []
  const ends: (() => void)[] = []
  return {
    started,
    start: (name: string) => () => {
      started.push(name)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    /** Ends what is running, until nothing waits. */
    async endAll(): Promise<void> {
      while (ends.length > 0) {
        ends.shift()!()
        for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      }
    },
  }
}

it('lets organisations take turns, however much work each has', async () => {
  const turns = createTurns()
  const { started, start, endAll } = createWork()
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']
  const all = names.map((name) => turns.run(name[0]!, signal, start(name)))
  await Promise.resolve()
  expect(started).toEqual(['a1'])
  await endAll()
  await Promise.all(all)
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

it('continues after a failure, and leaves out what was aborted while it waited', async () => {
  const turns = createTurns()
  const { started, start, endAll } = createWork()
  const left = new AbortController()
  const first = turns.run('a', signal, () => Promise.reject(new Error('broken')))
  const second = turns.run('a', left.signal, start('a2'))
  const third = turns.run('b', signal, start('b1'))
  left.abort(new Error('gone'))
  await expect(first).rejects.toThrow('broken')
  await expect(second).rejects.toThrow('gone')
  await endAll()
  await third
  expect(started).toEqual(['b1'])
  await expect(turns.run('a', left.signal, start('a3'))).rejects.toThrow('gone')
  const last = turns.run('a', signal, start('a4'))
  await Promise.resolve()
  await endAll()
  await last
  expect(started).toEqual(['b1', 'a4'])
})

it('keeps a place free for the next organisation, however much work one has', async () => {
  const turns = createTurns(3)
  const { started, start, endAll } = createWork()
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
  const all = names.map((name) => turns.run(name[0]!, signal, start(name)))
  await Promise.resolve()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  await endAll()
  await Promise.all(all)
  // The work of 'a' that ended first leaves no place to 'a', of which one runs, but one to 'c'.
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

it('rejects work of an organisation of which too much waits, and of no other', async () => {
  const turns = createTurns()
  const { start, endAll } = createWork()
  const all = Array.from({ length: 65 }, (_, index) => turns.run('a', signal, start(`a${index}`)))
  await expect(turns.run('a', signal, start('a65'))).rejects.toMatchObject({ code: 'overloaded' })
  const other = turns.run('b', signal, start('b'))
  await endAll()
  await Promise.all([...all, other])
})
