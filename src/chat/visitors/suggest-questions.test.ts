import { expect, test } from 'vitest'
import { suggestQuestions } from './suggest-questions.ts'

const part = (text: string, heading: string | null = null, documentName = 'handbook.md') => ({
  documentId: documentName,
  documentName,
  text,
  heading,
})

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

test('lets the files take turns, and suggests the name of one without headings', () => {
  const manual = Array.from({ length: 9 }, (_, index) => part('', `Chapter number ${index}`, 'manual.pdf'))
  const others = [
    part('Day,Hours\nMonday,9 to 5', null, 'opening-hours_2026.csv'),
    part('Who guides the tours?', 'Tours for schools', 'slides.pptx'),
    part('a,b', null, '12.csv'),
  ]
  expect(suggestQuestions([], [...manual, ...others])).toEqual([
    'Who guides the tours?',
    'Chapter number 0?',
    'opening hours 2026?',
    'Tours for schools?',
    'Chapter number 1?',
    'Chapter number 2?',
  ])
})
