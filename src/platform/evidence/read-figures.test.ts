import { expect, test } from 'vitest'
import { readShares } from './read-figures.ts'
import { supports } from './support.ts'

const museum = {
  title: 'Museum.md',
  text: [
    'A quarter of the seats is reserved for members, and two thirds of the tickets are sold online.',
    'One in ten visitors comes by bike. Ticket prices doubled last year, while 40 % of the costs are covered by the city.',
    'Third parties get no data. Repairs were cut by a third.',
  ].join(' '),
}

test.each([
  ['a quarter', '25 % of the seats are reserved for members.'],
  ['two thirds', '67% of the tickets are sold online.'],
  ['one in ten', '10 percent of visitors come by bike.'],
  ['doubled', 'Last year, ticket prices rose by 100 %.'],
  ['40 %', 'Two in five euros of the costs are covered by the city.'],
  ['the same share', 'A quarter of the seats is reserved for members.'],
])('a passage with %s supports a share in another form', (_, sentence) => {
  expect(supports(sentence, museum)).toBe(true)
})

test.each([
  'Half of the seats is reserved for members.',
  'Three quarters of the tickets are sold online.',
  'One in five visitors comes by bike.',
  'Half of the costs are covered by the city.',
  'Repairs were cut by half.',
  '30 % of the seats are reserved for members.',
  'The city covers 40.3 % of the costs.',
])('a passage with another share does not support: %s', (sentence) => {
  expect(supports(sentence, museum)).toBe(false)
})

test.each([
  'half an hour',
  'the second half of the season',
  'a third party',
  'a quarter of an hour',
  'one second in the lead',
  'costs of 2,767 in 2021',
  'a share of 31.8 in 24 cities',
])('%s is no share', (text) => {
  expect(readShares(text).shares).toEqual([])
})

test.each([
  ['ein Viertel der Plätze', 25],
  ['die Hälfte der Plätze', 50],
  ['jeder Fünfte', 20],
  ['un tiers des places', 100 / 3],
  ['la mitad de las plazas', 50],
  ['three out of four', 75],
])('%s is a share', (text, percent) => {
  expect(readShares(text).shares.map((share) => share.percent)).toEqual([percent])
})

test.each([
  ['Für Karten fällt eine Gebühr von 3 % an.', 'Für Karten fällt eine Gebühr von 1 % an.'],
  ['A fee of 3 % applies to cards, and one of 2 % to transfers.', 'A fee of 1 % applies to cards.'],
])('an article is no share of 1: %s', (text, sentence) => {
  expect(supports(sentence, { title: 'Fees', text })).toBe(false)
  expect(supports(sentence.replace('1', '3'), { title: 'Fees', text })).toBe(true)
})
