import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Clock } from '../../platform/kernel/index.ts'
import { type Lane, SlowReadingError, watchReading } from './slow-reading.ts'

/** A clock that the test moves by the second; every second is a check. */
function openReading(lane: Lane, othersWait: boolean, lighterWait = false) {
  let nowMs = 0
  let check = () => {}
  const clock = {
    monotonicMs: () => nowMs,
    every: (_ms: number, task: () => void) => {
      check = task
      return () => {}
    },
  } as unknown as Clock
  const reading = watchReading(clock, lane, {
    signal: new AbortController().signal,
    othersWait: () => Promise.resolve(othersWait),
    lighterWait: () => Promise.resolve(lighterWait),
  })
  return {
    reading,
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        nowMs += 1_000
        check()
        await turn()
      }
    },
  }
}

/** A chunk each two seconds, as a scan gives them. */
async function readScan({ reading, pass }: ReturnType<typeof openReading>, pages: number, areKept = true) {
  let read = 0
  async function* batches() {
    while (read < pages) {
      await pass(2)
      read += 1
      reading.recognised(areKept)
      await turn()
      yield read
    }
  }
  reading.started()
  for await (const _ of reading.watch(batches())) if (reading.signal.aborted) break
  return read
}

it('ends the recognition of pages within a slice while others wait, though it gives chunks', async () => {
  const opened = openReading('any', true)
  await readScan(opened, 30)
  expect(opened.reading.signal.aborted).toBe(true)
})

it('ends a scan after a page in the lane of slow documents, when a slice of pages was read', async () => {
  const opened = openReading('slow', true)
  // The slice begins with the first page, at 2 s.
  expect(await readScan(opened, 30)).toBe(6)
  expect(opened.reading.signal.reason).toBeInstanceOf(SlowReadingError)
})

it.each([
  ['any', false, true],
  ['slow', false, true],
  ['slow', true, false],
] as const)(
  'continues in the lane %s if others wait: %s, and pages are kept: %s',
  async (lane, othersWait, areKept) => {
    const opened = openReading(lane, othersWait)
    await readScan(opened, 30, areKept)
    expect(opened.reading.signal.aborted).toBe(false)
  },
)

it('continues a file that gives chunks without recognition', async () => {
  const { reading, pass } = openReading('any', true)
  async function* batches() {
    for (let second = 0; second < 60; second += 2) {
      await pass(2)
      yield second
    }
  }
  reading.started()
  for await (const _ of reading.watch(batches()));
  expect(reading.signal.aborted).toBe(false)
})

it.each([
  ['any', true, 2],
  ['small', true, 2],
  ['any', false, 10],
  ['small', false, Infinity],
  ['slow', true, Infinity],
] as const)(
  'ends a file without a chunk in the lane %s, if an organisation with less used time waits: %s, after %s seconds',
  async (lane, lighterWait, seconds) => {
    const { reading, pass } = openReading(lane, true, lighterWait)
    reading.started()
    let passed = 0
    for (; !reading.signal.aborted && passed < 60; passed += 1) await pass(1)
    expect(reading.signal.aborted ? passed : Infinity).toBe(seconds)
  },
)

it('ends a small file that gives chunks for two seconds if an organisation with less used time waits', async () => {
  const { reading, pass } = openReading('small', true, true)
  async function* batches() {
    for (let second = 0; second < 10; second += 1) {
      yield second
      await pass(1)
    }
  }
  reading.started()
  let read = 0
  for await (const _ of reading.watch(batches())) {
    if (reading.signal.aborted) break
    read += 1
  }
  expect(read).toBe(2)
})
