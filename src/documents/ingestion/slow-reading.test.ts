import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Clock } from '../../platform/kernel/index.ts'
import { type Lane, watchReading } from './slow-reading.ts'

/** A clock that the test moves by the second; every second is a check. */
function openReading(lane: Lane, othersWait: boolean) {
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
async function readScan({ reading, pass }: ReturnType<typeof openReading>, seconds: number) {
  async function* batches() {
    for (let second = 0; second < seconds; second += 2) {
      await pass(2)
      reading.recognises()
      yield second
    }
  }
  reading.started()
  for await (const _ of reading.watch(batches())) if (reading.signal.aborted) break
}

it('ends the recognition of pages within a slice while others wait, though it gives chunks', async () => {
  const opened = openReading('any', true)
  await readScan(opened, 60)
  expect(opened.reading.signal.aborted).toBe(true)
})

it.each([
  ['any', false],
  ['slow', true],
] as const)('continues in the lane %s if others wait: %s', async (lane, othersWait) => {
  const opened = openReading(lane, othersWait)
  await readScan(opened, 60)
  expect(opened.reading.signal.aborted).toBe(false)
})

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
