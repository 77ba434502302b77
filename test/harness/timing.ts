import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { expect, vi } from 'vitest'

/** The middle one: single outliers of a busy machine do not move it. */
export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1]!
}

/** Processor time of the calling thread so far, in milliseconds. Only for ratios of two measurements: machines differ. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The size of the larger input of `expectLinear`, relative to the smaller. */
const growth = 8
/** Linear work grows eight times, quadratic work 64 times. The bound is in the middle by ratio, so that either may be measured 2.8 times wrong. */
const maximumGrowth = 22
/** A garbage collection may fall into any measurement; each side counts by its fastest one. */
const maximumRounds = 5
/** The system may count processor time in steps of 4 ms, so shorter work is repeated until it takes this long. */
const measurableMs = 20

/** Work that grows faster only while it fits into the caches of the processor does not at this multiple of the size. */
const beyondCaches = 4

/**
 * Fails when `run(8 * size)` takes more than 22 times the processor time of `run(size)`, and four times both sizes too. `run` may build its input.
 */
export async function expectLinear(
  run: (size: number) => unknown,
  size: number,
  what = 'eight times the size',
): Promise<void> {
  const ratioAt = (small: number) =>
    costRatio(
      () => run(growth * small),
      () => run(small),
      maximumGrowth,
    )
  let ratio = await ratioAt(size)
  if (ratio >= maximumGrowth) ratio = await ratioAt(beyondCaches * size)
  expect(ratio, `processor time of ${what}, relative to the reference`).toBeLessThan(maximumGrowth)
}

/**
 * Fails when `run` takes more than `maximumRatio` times the processor time of `reference`. Only the calling thread counts. Both are
 * measured in turn, so that a slow or a busy processor slows both.
 */
export async function expectCost(
  run: () => unknown,
  reference: () => unknown,
  maximumRatio: number,
  what: string,
): Promise<void> {
  const ratio = await costRatio(run, reference, maximumRatio)
  expect(ratio, `processor time of ${what}, relative to the reference`).toBeLessThan(maximumRatio)
}

/** The ratio of both; measured in further rounds while it is `maximumRatio` or more. */
async function costRatio(run: () => unknown, reference: () => unknown, maximumRatio: number): Promise<number> {
  // The first run compiles the code.
  await reference()
  let repeats = 1
  let referenceMs = await meanMs(reference, repeats)
  while (referenceMs * repeats < measurableMs && repeats < 10_000) {
    repeats *= 4
    referenceMs = await meanMs(reference, repeats)
  }
  const runs = Math.ceil(repeats / maximumRatio)
  let ratio = maximumRatio
  let runMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < maximumRounds && ratio >= maximumRatio && ratio < 10 * maximumRatio; round++) {
    if (round > 0) referenceMs = Math.min(referenceMs, await meanMs(reference, repeats))
    runMs = Math.min(runMs, await meanMs(run, runs))
    ratio = runMs / referenceMs
  }
  return ratio
}

/** Whether `run(8 * size)` takes so long that the growth can be measured; quadratic work at thousands of units does. */
export async function isMeasurable(run: (size: number) => unknown, size: number): Promise<boolean> {
  return (await meanMs(() => run(growth * size), 1)) >= measurableMs
}

async function meanMs(run: () => unknown, times: number): Promise<number> {
  const startMs = threadMs()
  for (let time = 0; time < times; time++) await run()
  return (threadMs() - startMs) / times
}

/**
 * Runs `act`, and resolves to the largest increase of `work()` between two turns that `act` left to other work of the event loop
 * (`setImmediate`). Slices of time (`createTimeSlices`) end each time that their end is checked, because the clock jumps at each reading.
 */
export async function workPerTurn(act: () => Promise<unknown>, work: () => number): Promise<number> {
  let largest = 0
  let before = work()
  const endTurn = () => {
    largest = Math.max(largest, work() - before)
    before = work()
  }
  await watchTurns(act, endTurn)
  endTurn()
  return largest
}

/** Runs `act`, and resolves to the number of turns that it left to other work of the event loop, as in `workPerTurn`. */
export async function countTurns(act: () => Promise<unknown>): Promise<number> {
  let turns = 0
  await watchTurns(act, () => turns++)
  return turns
}

async function watchTurns(act: () => Promise<unknown>, endTurn: () => void): Promise<void> {
  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 1_000))
  const within = new AsyncLocalStorage<true>()
  // Other work of the process has turns too, such as that of open databases.
  const isTurn = (type: string) => type === 'Immediate' && within.getStore() === true
  const immediates = createHook({ init: (_id, type) => void (isTurn(type) && endTurn()) }).enable()
  try {
    await within.run(true, act)
  } finally {
    immediates.disable()
    clock.mockRestore()
  }
}
