import { expect, test } from 'vitest'
import { supports } from './support.ts'

const rules = {
  title: 'Rules of the yard',
  text: [
    'Trailers are lent for 14 days. The gate opens at 7 a.m. Crates may weigh up to 30 kg.',
    'A permit is issued within six working days and is valid for 24 months. Fences are at most 1.80 metres high.',
  ].join(' '),
}
const tarife = {
  title: 'Tarife',
  text: 'Miete | Dauer\nAnhänger | 35 min\nKran | 12 Stunden',
}

test.each([
  ['the same unit', rules, 'Trailers are lent for 14 days.'],
  ['the same in weeks', rules, 'Trailers are lent for two weeks.'],
  ['the same in years', rules, 'A permit is valid for two years.'],
  ['its unit after an adjective', rules, 'A permit is issued within six days.'],
  ['its half of the day', rules, 'The gate opens at 7 am.'],
  ['a short unit', rules, 'Crates may weigh at most 30 kilograms.'],
  ['a unit of a cell', tarife, 'Für einen Anhänger beträgt die Dauer 35 Minuten.'],
])('a number may have %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['days', rules, 'Trailers are lent for 14 hours.'],
  ['working days', rules, 'A permit is issued within six weeks.'],
  ['the morning', rules, 'The gate opens at 7 p.m.'],
  ['a mass', rules, 'Crates may weigh up to 30 tonnes.'],
  ['a length', rules, 'Fences are at most 1.80 feet high.'],
  ['a cell', tarife, 'Für den Kran beträgt die Dauer 12 Tage.'],
])('a number does not have another unit than that of %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})
