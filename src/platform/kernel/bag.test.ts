import { expect, it } from 'vitest'
import { createRandom } from '../../../test/harness/random.ts'
import { Bag } from './bag.ts'

it('has what was added and not removed, as a Set has', () => {
  const random = createRandom(29)
  const bag = new Bag<number>()
  const expected = new Map<number, () => void>()
  for (let number = 0; number < 2_000; number++) {
    if (random() < 0.55) expected.set(number, bag.add(number))
    else {
      const [removed, remove] = [...expected][Math.floor(random() * expected.size)] ?? []
      remove?.()
      // Again: changes nothing.
      remove?.()
      expected.delete(removed!)
    }
    expect(bag.items().toSorted((a, b) => a - b)).toEqual([...expected.keys()])
    expect(bag.size).toBe(expected.size)
  }
})

it('removes those that are over, also where one removes others meanwhile', () => {
  const bag = new Bag<number>()
  const removals = Array.from({ length: 10 }, (_, number) => bag.add(number))
  const seen: number[] = []
  bag.removeIf((number) => {
    seen.push(number)
    if (number === 2) removals[3]!()
    return number % 2 === 0
  })
  expect(seen).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9])
  expect(bag.items().toSorted()).toEqual([1, 5, 7, 9])
})
