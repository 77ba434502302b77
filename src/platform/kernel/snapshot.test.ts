import { expect, test } from 'vitest'
import { createSnapshot } from './snapshot.ts'

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
