import { expect, test } from 'vitest'
import { createWarningList, maximumWarningPages, maximumWarnings } from './warning-list.ts'

test('joins warnings of the same code and message and lists their pages in ascending order', () => {
  const list = createWarningList()
  list.add({ code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [7] })
  list.add({ code: 'encoding_guessed', message: 'The encoding is a guess.' })
  list.add({ code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [3, 7] })
  expect(list.toArray()).toEqual([
    { code: 'damaged_parts', message: 'Damaged pages were left out.', pages: [3, 7] },
    { code: 'encoding_guessed', message: 'The encoding is a guess.' },
  ])
})

test('bounds the number of warnings, their pages and their messages, and counts the omitted ones', () => {
  const list = createWarningList()
  for (let page = 1; page <= 5000; page++) list.add({ code: 'pages_without_text', message: 'No text.', pages: [page] })
  for (let n = 0; n < 100; n++) list.add({ code: 'damaged_parts', message: `${n} ${'x'.repeat(10_000)}` })
  const warnings = list.toArray()
  expect(warnings).toHaveLength(maximumWarnings)
  expect(warnings[0]).toEqual({
    code: 'pages_without_text',
    message: 'No text. (4900 more pages are not listed.)',
    pages: Array.from({ length: maximumWarningPages }, (_, index) => index + 1),
  })
  expect(warnings.at(-1)).toEqual({ code: 'further_warnings', message: '82 more warnings are not listed.' })
  expect(JSON.stringify(warnings).length).toBeLessThan(20_000)
})
