import { expect, test } from 'vitest'
import { supports } from './support.ts'

const prices = {
  title: 'Prices.csv',
  text: `Product | Weight (kg) | Price (EUR) | Stock
Oak table | 41.5 | 480.00 | 12
Pine table | 28.0 | 219.00 | 45
Pine chair | 5.9 | 49.50 | 260`,
}
const ships = {
  title: 'Ships.csv',
  text: `Ship | Built | Notes
Media | 1947 | scrapped 1989
Conveyor | 1970 | built as a freighter, sunk in 1982
Parthia | 1947 | sold 1961, scrapped 1969`,
}
const haushalt = {
  title: 'Haushalt.pdf',
  text: `Tsd. Euro | 2022 | 2023
Personal | 1.240 | 1.310
Energie | 310 | 455
Miete | 520 | 520`,
}
const towns = {
  title: 'Towns of 1907.csv',
  text: `Town | Founded | Place | Notes
Alden | 1820 | 27 km north | a harbour, sold 1961 and since then used by the ferries of three other towns
Borne | 1907 | 3 km south | a market`,
}
const visitors = { title: 'Visitors.csv', text: 'Year | Visitors\n2019 | 1200\n2020 | 800' }

test.each([
  ['of the column that it names', prices, 'The price of the pine chair is 49.50.'],
  ['of a column that it does not name', prices, 'The pine chair costs 49.50.'],
  ['in a cell with words', ships, 'The Parthia, built as a liner, was scrapped in 1969.'],
  ['in a long cell', towns, 'The harbour of Alden, founded by fishers, was sold in 1961.'],
  ['that the title has as well', towns, 'Borne was founded in 1907.'],
  ['after a year', haushalt, 'Die Ausgaben für Energie betrugen 2023 455 Tsd. Euro.'],
  ['and the year that names the row', visitors, 'In 2020 there were 800 visitors.'],
])('a sentence may have a number %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['another column', prices, 'The price of the pine chair is 5.90.'],
  ['another column of the only row', prices, 'The stock of the oak table is 480.'],
  ['the title', towns, 'Alden was founded in 1907.'],
  ['a cell with words', towns, 'Alden was founded in 27.'],
  ['a row whose name it does not have', ships, 'The Media was built in 1970.'],
  ['another row, after a year', haushalt, 'Die Miete betrug 2023 455 Tsd. Euro.'],
  ["another year's column, after a year", haushalt, 'Die Ausgaben für Energie betrugen 2023 310 Tsd. Euro.'],
])('but not a number of %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})
