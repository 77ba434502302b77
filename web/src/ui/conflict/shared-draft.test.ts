import { expect, test } from 'vitest'
import { differing, mergeDrafts } from './shared-draft.ts'

const before = { name: 'Team', calls: 3, models: ['a'] }

test('fields differ by their values', () => {
  expect(differing(before, { ...before, models: ['a'] })).toEqual([])
  expect(differing(before, { name: 'team', calls: 3, models: ['a', 'b'] })).toEqual(['name', 'models'])
})

test('changes of different fields are joined', () => {
  expect(mergeDrafts(before, { ...before, name: 'Ours' }, { ...before, models: [] })).toEqual({
    draft: { name: 'Ours', calls: 3, models: [] },
    conflicts: [],
  })
})

test('a field that both changed is a conflict unless both gave it the same value', () => {
  const mine = { name: 'Ours', calls: 5, models: ['a'] }
  expect(mergeDrafts(before, mine, { name: 'Theirs', calls: 5, models: ['b'] })).toEqual({
    draft: { name: 'Ours', calls: 5, models: ['b'] },
    conflicts: ['name'],
  })
})

test('a secret that both replaced is a conflict, though the stored one is never shown', () => {
  const stored = { ...before, key: '' }
  const mine = { ...stored, key: 'my new key' }
  expect(mergeDrafts(stored, mine, stored, ['key'])).toEqual({ draft: mine, conflicts: ['key'] })
  expect(mergeDrafts(stored, { ...stored, name: 'Ours' }, stored, ['key']).conflicts).toEqual([])
})

test('what the other person changed and I did not is never overwritten', () => {
  expect(mergeDrafts(before, before, { name: 'Theirs', calls: 9, models: [] }).draft).toEqual({
    name: 'Theirs',
    calls: 9,
    models: [],
  })
})
