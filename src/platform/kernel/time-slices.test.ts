import { expect, test } from 'vitest'
import { runForOrganisation } from './organisation-context.ts'
import { createTimeSlices } from './time-slices.ts'

const step = () => {
  const untilMs = performance.now() + 2
  while (performance.now() < untilMs);
}

/** Sliced work of an organisation. */
function work(organisation: string, steps: number, order: string[]): Promise<void> {
  return runForOrganisation(organisation, async () => {
    const slice = createTimeSlices()
    for (let number = 0; number < steps; number++) {
      await slice()
      step()
      order.push(organisation)
    }
  })
}

test('the work of many documents of one organisation takes one turn for each of those of another one', async () => {
  const order: string[] = []
  const flood = Array.from({ length: 10 }, () => work('flood', 10, order))
  await Promise.all([...flood, work('other', 10, order)])
  expect(order).toHaveLength(110)
  // The first step of each runs at once; after that both organisations take turns.
  expect(order.lastIndexOf('other')).toBeLessThan(50)
})

test('one turn of the event loop runs a slice of the work, however many do it', async () => {
  const stepsOfLoop = new Map<number, number>()
  const ready = new Promise((resolve) => setImmediate(resolve))
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      await ready
      const slice = createTimeSlices()
      step()
      for (let number = 0; number < 3; number++) {
        await slice()
        const loop = performance.nodeTiming.uvMetricsInfo.loopCount
        stepsOfLoop.set(loop, (stepsOfLoop.get(loop) ?? 0) + 1)
        step()
      }
    }),
  )
  expect(Math.max(...stepsOfLoop.values())).toBe(1)
})
