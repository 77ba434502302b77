import { expect, test } from 'vitest'
import { suggestQuestions } from './suggest-questions.ts'

const part = (text: string, heading: string | null = null) => ({ text, heading })

test('suggests golden questions, then headings that are questions, then other headings as questions', () => {
  const outline = [
    part('Wer Kinder hat, kann sie nehmen.\nWie lange dauert sie?\nDrei Jahre.', 'Handbuch 2026'),
    part('Weitere Regeln\nmit Umbruch', '2.1. Elternzeit'),
  ]
  expect(suggestQuestions(['Wann ist\n geöffnet?'], outline)).toEqual([
    'Wann ist geöffnet?',
    'Wie lange dauert sie?',
    'Handbuch 2026?',
    'Elternzeit?',
  ])
})

test('suggests at most six different questions, and none from an empty Space', () => {
  const many = Array.from({ length: 20 }, (_, index) => part('', `Heading number ${index >> 1}`))
  expect(suggestQuestions([], many)).toHaveLength(6)
  expect(suggestQuestions([], [])).toEqual([])
})
