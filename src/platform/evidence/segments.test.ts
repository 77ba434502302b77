import { expect, test } from 'vitest'
import { joinWrappedLines, splitTables, withPlainTables } from './segments.ts'

test.each([
  {
    title: 'a line that continues in small letters',
    text: 'The office is open on all days of the\nweek.',
    joined: 'The office is open on all days of the week.',
  },
  {
    title: 'a full line before a name',
    text: 'The harbour of the town was built by engineers who came from\nRiverton.',
    joined: 'The harbour of the town was built by engineers who came from Riverton.',
  },
  { title: 'a heading', text: 'How the office is paid\nThe office is paid by all.' },
  { title: 'a list', text: 'Take these things with you to the house:\n- a lamp\n- a rope' },
  { title: 'rows of a table', text: 'the name of the first | the age\nanother | name' },
  {
    title: 'lines of a text that is not broken',
    text: `${'A long line of a text with many words. '.repeat(5)}\nThe steps that people take in this order\nClick on it`,
  },
])('$title', ({ text, joined = text }) => {
  expect(joinWrappedLines(text)).toBe(joined)
})

test('only full lines are joined where short ones may be rows of a list', () => {
  const list = 'The office has these rooms for all guests:\na hall with forty seats for meetings\na kitchen'
  expect(joinWrappedLines(list, { isFull: true })).toBe(list)
})

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

test('tables of Markdown have the rows of other tables, with or without spaces around their bars', () => {
  const loans = ['Loans:', '', '| Item | Weeks |', '|:---|---:|', '| Map | 2 |', '|Film \\| set|1|', '', 'a|b'].join(
    '\n',
  )
  expect(withPlainTables(loans)).toBe('Loans:\n\nItem | Weeks\nMap | 2\nFilm | set | 1\n\na|b')
})
