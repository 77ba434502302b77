import { expect, it } from 'vitest'
import { AppError } from './errors.ts'
import { createFairTurns } from './fair-turns.ts'

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
