import { expect, test } from 'vitest'
import { splitTables } from './read-passages.ts'

test('rows know the names of their cells, and text around a table stays text', () => {
  const parts = splitTables('Before.\nname | age\nAnn | 12\nBob | 13\nAfter.')
  expect(parts.map(({ text, rows }) => [text, rows.map(({ cells, names }) => [cells, names])])).toEqual([
    ['Before.', []],
    [
      '',
      [
        [
          ['Ann', '12'],
          ['name', 'age'],
        ],
        [
          ['Bob', '13'],
          ['name', 'age'],
        ],
      ],
    ],
    ['After.', []],
  ])
})

test('a first row with figures is no header', () => {
  expect(splitTables('Ann | 12\nBob | 13')[0]!.rows.map(({ cells }) => cells[0])).toEqual(['Ann', 'Bob'])
})
