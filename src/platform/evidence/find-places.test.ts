import { expect, test } from 'vitest'
import { supports } from './support.ts'

const races = {
  title: 'Season 1971',
  text: [
    'Team | Builder | Chassis | Engine | Driver',
    'North Racing | Alder | A7 | Kestrel V8 | Nils Oberg',
    'North Racing | Alder | A7 | Kestrel V8 | Ruth Salas',
    'Team Quito | Birch | 811 | Heron V12 | David Alder',
    'Emil Lund | Cedar | C3 | Kestrel V8 | Emil Lund',
  ].join('\n'),
}
const staff = { title: 'Staff', text: 'Contact | Mary Field\nOffice | Harbour House\nPayment terms | Net 30' }

test.each([
  ['of one row', 'Nils Oberg drove for North Racing in an Alder A7.'],
  ['of several rows in one column', 'Nils Oberg and Ruth Salas drove for North Racing.'],
  ['of rows that are compared', 'Emil Lund and Ruth Salas both had a Kestrel V8.'],
  ['of two rows next to each other', 'Birch built the car of Team Quito, Cedar that of Emil Lund.'],
  ['that are a part of another one', 'David Alder started for Team Quito with a Heron V12.'],
])('a sentence may have values %s', (_, sentence) => {
  expect(supports(sentence, races)).toBe(true)
})

test.each([
  ['with the value of another column of another row', 'The engine of the Cedar C3 was a Heron V12.'],
  ['with the team of another driver', 'Nils Oberg drove for Team Quito.'],
  ['at its beginning', 'Cedar built the car of Ruth Salas.'],
])('a sentence has values of two rows %s', (_, sentence) => {
  expect(supports(sentence, races)).toBe(false)
})

test('rows of a name and a value are read in one sentence', () => {
  expect(supports('Mary Field is the contact of the office Harbour House.', staff)).toBe(true)
})

const tours = {
  title: 'Tours',
  text: [
    'Tour | Weekday | Guide | Start',
    'Harbour | Monday | Lopez | Pier, North Quay',
    'Castle | Tuesday | Brandt | main gate',
    'Old town | Sunday | Singh | town hall',
    'Brewery | Sunday | Marek | cellar',
  ].join('\n'),
}

test.each([
  ['in small letters', 'The castle tour starts at the main gate on Tuesday.'],
  ['in one column', 'The old town tour and the brewery tour are both on Sunday.'],
  ['that is denied of another row', 'The castle tour is not on Sunday.'],
  ['whose column is denied of another row', 'Brandt does not guide the brewery tour.'],
  ['that is denied next to the right one', 'The harbour tour is not on Sunday but on Monday.'],
])('a sentence may have a value %s', (_, sentence) => {
  expect(supports(sentence, tours)).toBe(true)
})

test.each([
  ['names a row in small letters', 'The castle tour is guided by Lopez.'],
  ['has a value in small letters', 'The brewery tour starts at the town hall.'],
  ['has a part of a cell', 'The castle tour starts at North Quay.'],
  ['denies the value of its row', 'The castle tour is not on Tuesday.'],
  ['denies the value of its row next to one of another', 'The castle tour is not on Tuesday but on Sunday.'],
])('a sentence is wrong that %s', (_, sentence) => {
  expect(supports(sentence, tours)).toBe(false)
})

const accounts = {
  title: 'Accounts.md',
  text: [
    '1. **Guest** can browse the catalogue and save a wish list',
    '2. **Member** receives discounts and a monthly newsletter',
    '3. **Supplier** uploads price lists and confirms deliveries',
    'The auditor: reads the ledgers of all branches',
  ].join('\n'),
}

test.each(['A guest can save a wish list.', 'Suppliers confirm deliveries and upload price lists.'])(
  'a line of a list states what its term does: %s',
  (sentence) => {
    expect(supports(sentence, accounts)).toBe(true)
  },
)

test.each(['Members read the ledgers of all branches.', 'A supplier receives discounts and the monthly newsletter.'])(
  'a term does not do what another line states: %s',
  (sentence) => {
    expect(supports(sentence, accounts)).toBe(false)
  },
)

const prices = { title: 'Prices', text: '|Item|Price|\n|---|---|\n|Map|4.50|\n|Film|1.20|\n|Game|3.10|' }

test('a sentence has the price of its row in a table of Markdown, and not that of another one', () => {
  expect(supports('The film costs 1.20.', prices)).toBe(true)
  expect(supports('The film costs 4.50.', prices)).toBe(false)
})
