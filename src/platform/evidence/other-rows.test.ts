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
