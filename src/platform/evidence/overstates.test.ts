import { expect, test } from 'vitest'
import { supports } from './support.ts'

const rules = {
  title: 'Rules',
  text: [
    'The contract renews for twelve months unless a party gives notice. Seats can be reserved on intercity trains only.',
    'Up to five unused vouchers may be moved to the next season. Filming is allowed only with a permit of the office.',
    'The tower is open on Mondays, except in winter. All visitors receive a map. Coats can be left at the entrance.',
  ].join(' '),
}
const regeln = {
  title: 'Regeln',
  text: 'Die Frist kann verlängert werden, sofern niemand wartet. Der Keller wird alle zwei Wochen gereinigt.',
}
const regole = { title: 'Regole', text: 'I cani sono ammessi solo al guinzaglio. La mensa chiude a Natale.' }

test.each([
  ['with the exception', rules, 'The contract always renews for twelve months unless notice is given.'],
  ['with the limit', rules, 'All intercity trains, and only those, have seats that can be reserved.'],
  ['with the condition', rules, 'Filming is allowed with a permit.'],
  ['of all, as the passage does', rules, 'Every visitor receives a map.'],
  ['that has no limit', rules, 'Coats can be left at the entrance.'],
  ['of intervals', regeln, 'Alle zwei Wochen wird der Keller gereinigt.'],
])('a sentence may state a rule %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['always', rules, 'The contract always renews for twelve months.'],
  ['of all', rules, 'Seats can be reserved on all trains.'],
  ['of all instead of some', rules, 'All unused vouchers may be moved to the next season.'],
  ['without its condition', rules, 'Filming is allowed.'],
  ['at any time', rules, 'The tower is open on Mondays at any time of the year.'],
  ['always, in German', regeln, 'Die Frist kann immer verlängert werden.'],
  ['with the opposite of its condition', regole, 'I cani sono ammessi senza guinzaglio.'],
])('a sentence does not state a rule with a limit %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})
