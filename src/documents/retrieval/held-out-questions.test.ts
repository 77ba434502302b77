import { expect, it } from 'vitest'
import { makeHeldOutQuestions } from './vector-check.ts'

const chunk = (chunkId: string, text: string, ...headingPath: string[]) => ({ chunkId, text, headingPath })

it('asks by every second word of content of a sentence, and by the heading', () => {
  const text = 'Yes. The harbour office registers visiting boats before sunset every Friday evening. No.'
  expect(makeHeldOutQuestions([chunk('a', text, 'Rules', 'Visiting boats')])).toEqual([
    { chunkId: 'a', text: 'Visiting boats' },
    { chunkId: 'a', text: 'office visiting sunset' },
  ])
})

it('does not ask by a heading that several chunks have, nor by one word', () => {
  const questions = makeHeldOutQuestions([
    chunk('a', 'Short.', 'Opening hours'),
    chunk('b', 'Short.', 'Opening hours'),
    chunk('c', 'Short.', 'Introduction'),
    chunk('d', 'Short.', 'Fees of marinas'),
  ])
  expect(questions).toEqual([{ chunkId: 'd', text: 'Fees of marinas' }])
})

it('asks in scripts without spaces, and leaves out texts without a sentence of six words', () => {
  const questions = makeHeldOutQuestions([
    chunk('a', '港口办公室在每个星期五晚上日落之前登记来访的船只。'),
    chunk('b', '| 1 | 2 |'),
    chunk('c', ''),
  ])
  expect(questions.map(({ chunkId }) => chunkId)).toEqual(['a'])
  expect(questions[0]!.text.split(' ').length).toBeGreaterThanOrEqual(3)
})
