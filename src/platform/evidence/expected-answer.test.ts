import { expect, test } from 'vitest'
import { answerTypeOf } from './expected-answer.ts'

test.each([
  ['When does it open?', 'date'],
  ['Since when is it open?', 'date'],
  ['Is my data deleted when I cancel?', 'choice'],
  ['Where is my data?', 'place'],
  ['Can I stay where I am?', 'choice'],
  ['Who founded it?', 'person'],
  ['To whom do I write?', 'person'],
  ['Do you count people who hide?', 'choice'],
  ['Wie verberge ich eine Datei?', 'steps'],
  ['Wie lange darf ich bleiben?', 'number'],
])('%s asks for: %s', (question, type) => {
  expect(answerTypeOf(question)).toBe(type)
})
