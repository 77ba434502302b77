import { expect, test } from 'vitest'
import { supports } from './support.ts'

const library = {
  title: 'Bibliothek.md',
  text: `Der Ausweis gilt zwölf Monate. Gruppen bis zehn Personen melden sich an.

Medium | Leihfrist (Tage) | Gebühr | Bestand
Buch | 28 | 0,00 € | 41.200
DVD | 7 | 1,50 € | 3.480
Hörbuch | 14 | 0,80 € | 2.150
Noten | 35 | 0,50 € | 5.310`,
}
const report = {
  title: 'Report.pdf',
  text: `$ million | 2022 | 2023 | 2024
Revenue | 412.5 | 438.2 | 465.9
Research | 24.6 | 27.1 | 31.8
 | 437.1 | 465.3 | 497.7`,
}

const areas = {
  title: 'Areas.csv',
  text: 'Town | Area (km²)\nTeresa | 18.61\nBinangonan | 66.34\nPililla | 69.95',
}

const losses = {
  title: 'Annual report.pdf',
  text: `In thousands | 2021 | 2020
Marketing expenses | (1,845) | (2,106)
Research expenses | (922) | (810)
Net (loss) income attributable to common stock | $(29.7) | $139.0
Common stock | 94.3 | 89.3`,
}
/** The day of a first match is no number of goals. */
const players = {
  title: 'Players.csv',
  text: 'Name | Caps | Goals | First cap\nZé Roberto | 84 | 6 | 12 August 1995\nCafu | 97 | 33 | 26 June 1999',
}
const pumps = {
  title: 'Pumps.csv',
  text: 'Part | Group | Price | Stock value\nAB-1047 | Pumps | $35.00 | $8,050.00\nAB-2210 | Valves | $12.40 | $3,720.00\nCX-3381 | Pumps | $110.00 | $9,900.00',
}
const rain = { title: 'Rain.csv', text: 'Year | Rainy days\n2011 | 142\n2012 | 155\n2013 | 131\n2014 | 168' }
const dogs = {
  title: 'Dogs.csv',
  text: 'Breed | Dogs | Mean weight in kg\nBeagle | 145 | 11.2\nBoxer | 88 | 29.5\nCollie | 61 | 24.1',
}
const lottery = {
  title: 'Lottery.md',
  text: 'All prizes for Fantasy 5, Daily 3 and Daily 4 are paid out in one payment, less 25% or 33% federal withholding.',
}

test.each([
  [
    'rows are named by another form of their word',
    library,
    'DVDs und Hörbücher haben zusammen einen Bestand von 5.630.',
  ],
  [
    'sentences next to the table do not count',
    library,
    'Die Leihfrist für Noten ist 7 Tage länger als die für ein Buch.',
  ],
  ['years between two named ones', report, 'The average revenue from 2022 to 2024 was $438.87 million.'],
  ['the number of added cells', report, 'Research adds up to 83.5 over the three years.'],
  ['a sum that is rounded', areas, 'Together, Teresa and Binangonan have an area of 85 km².'],
  ['a difference that is rounded', areas, 'The area of Teresa and Binangonan differs by 47.7 km².'],
  [
    'a loss, whose sign counts',
    losses,
    'Net income attributable to common stock decreased by 121.37% from 2020 to 2021.',
  ],
  ['costs, whose sign does not', losses, 'Marketing and research expenses together were 2,767 in 2021.'],
  [
    'a row whose name is part of that of another one',
    losses,
    'In 2020, net (loss) income attributable to common stock and common stock together amounted to 228.3.',
  ],
  ['the sum of a column', library, 'Insgesamt umfasst der Bestand 52.140 Medien.'],
  [
    'the average of named rows, and their number',
    areas,
    'On average, the two towns Teresa and Pililla have an area of 44.28 km².',
  ],
  ['verbs of change in German', library, 'Die Leihfrist sank von Buch zu Hörbuch um 14 Tage.'],
  ['rows that are named by years', rain, 'From 2011 to 2012, the number of rainy days rose by 13.'],
  ['a share of two years', rain, 'In 2013, there were 78.0% as many rainy days as in 2014.'],
  ['rows that are named by codes', pumps, 'The difference in stock value between CX-3381 and AB-1047 is $1,850.00.'],
  ['a column that a word of the sentence names by accident', dogs, 'Boxer dogs are 22.4% heavier than Collie dogs.'],
  ['a row of sums without a name', report, 'The difference in the total between 2022 and 2023 was 28.2.'],
])('a computed number counts: %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['DVDs und Hörbücher haben zusammen einen Bestand von 5.360.', library],
  ['Die Leihfrist für Noten ist 9 Tage länger als die für ein Buch.', library],
  ['The average revenue from 2022 to 2024 was $428.87 million.', report],
  ['The difference in the total between 2022 and 2023 was 38.2.', report],
  ['Together, Teresa and Binangonan have an area of 84 km².', areas],
  ['The area of Teresa and Binangonan differs by 47.8 km².', areas],
  ['Net income attributable to common stock decreased by 112.37% from 2020 to 2021.', losses],
  ['Insgesamt umfasst der Bestand 52.410 Medien.', library],
  ['On average, Cafu and Zé Roberto scored 22.5 (Goals).', players],
  ['From 2011 to 2012, the number of rainy days rose by 17.', rain],
  ['In 2013, there were 72.0% as many rainy days as in 2014.', rain],
  ['The difference in stock value between CX-3381 and AB-1047 is $1,950.00.', pumps],
  ['Boxer dogs are 24.4% heavier than Collie dogs.', dogs],
  // 33 less 5 is an accident.
  ['All prizes for Fantasy 5, Daily 3 and Daily 4 are paid out in one payment, less 28% or 33% withholding.', lottery],
])('a wrong result does not: %s', (sentence, passage) => {
  expect(supports(sentence, passage)).toBe(false)
})

test.each([
  ['Children under twelve pay nothing.', 'Children under eight pay nothing. There were 12,400 visits.'],
  ['Los menores de catorce años entran con un adulto.', 'Los menores de doce años entran con un adulto.'],
  ['每人最多可以借十五本书。', '每人最多可以借十本书。'],
])('a number in words is compared, and with no other reading of a larger one: %s', (sentence, text) => {
  expect(supports(sentence, { title: 'a.md', text })).toBe(false)
})
