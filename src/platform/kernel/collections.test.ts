import { expect, it, test } from 'vitest'
import { createRandom } from '../../../test/harness/random.ts'
import { Bag, createSnapshot } from './collections.ts'

interface Row {
  id: string
  name: string | null
}

const rowsOf = (...rows: Row[]) => {
  const snapshot = createSnapshot(({ id }: Row) => id, { name: ({ name }) => name })
  snapshot.replaceAll(rows)
  return snapshot
}

test('a row is found by its id and its other key, until it is removed', () => {
  const snapshot = rowsOf({ id: '1', name: 'one' }, { id: '2', name: null })
  expect(snapshot.find('name', 'one')).toBe(snapshot.get('1'))
  expect([...snapshot.all()]).toHaveLength(2)
  snapshot.replaceMany(['1', '2'], [{ id: '2', name: 'two' }])
  expect([snapshot.get('1'), snapshot.find('name', 'one'), snapshot.find('name', 'two')?.id]).toEqual([
    undefined,
    undefined,
    '2',
  ])
  snapshot.replaceAll([])
  expect([snapshot.size(), snapshot.find('name', 'two')]).toEqual([0, undefined])
})

test('a key that has moved to another row stays there when its former row is loaded later', () => {
  const snapshot = rowsOf({ id: '1', name: 'one' })
  snapshot.replaceMany(['2'], [{ id: '2', name: 'one' }])
  snapshot.replaceMany(['1'], [{ id: '1', name: 'other' }])
  expect(snapshot.find('name', 'one')?.id).toBe('2')
})

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
