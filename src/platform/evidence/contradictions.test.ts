import { expect, test } from 'vitest'
import { supports } from './support.ts'

const guide = {
  title: 'Guide.md',
  text: [
    'If you cannot afford the fee, you can ask the office for a waiver.',
    'Dissolved salts move along the membrane and do not require energy for this process.',
    'Each bracket of the tournament is fixed; there is no reseeding.',
    'Anyone who does not have their own lawyer can see the adviser for free.',
    'Many of the cabins, towers and walls on the island have survived.',
    'You can appeal if you are sued and you lose.',
    'Members joined on or before 7 September 1980, and served at least 90 days abroad.',
    'Members joined after 7 September 1980, and served at least 24 months in the reserve.',
    'The council stopped exports to the coast except for food after the council took over the mills.',
    'Probate is not required for small estates. A probate is generally required for estates in debt.',
    'Is there life on other moons of the planet? We have no evidence of life on other moons.',
    'It doesn’t matter where the visitor lives.',
    'The atomic number is not the same as the mass number, which denotes all particles of the nucleus.',
  ].join(' '),
}
const leitfaden = {
  title: 'Leitfaden.md',
  text: 'Der Ausweis gilt zwölf Monate und darf im Lesesaal nicht verliehen werden. Der Eingang liegt am Fluss.',
}

test.each([
  ['a condition', 'If you can afford the fee, you can ask the office for a waiver.'],
  ['a denial after "and"', 'Dissolved salts move along the membrane and require energy for this process.'],
  ['a denial of one word', 'Each bracket of the tournament is fixed; there is a reseeding.'],
  ['the denial of a clause about the subject', 'If you have your own lawyer, you can see the adviser for free.'],
  ['"many" by "none"', 'None of the cabins, towers and walls on the island have survived.'],
  ['"you" by "nobody"', 'Nobody can appeal if you are sued and you lose.'],
  [
    'a word that a similar sentence has',
    'Members joined on or after 7 September 1980, and served at least 90 days abroad.',
  ],
  [
    'a word after an exception',
    'The council stopped exports to the coast except for food before the council took over the mills.',
  ],
])('a sentence that repeats one of the passage and reverses %s', (_, sentence) => {
  expect(supports(sentence, guide)).toBe(false)
})

test.each([
  ['the same', 'If you cannot afford the fee, you can ask the office for a waiver.'],
  ['another of two alike', 'Members joined after 7 September 1980, and served at least 24 months in the reserve.'],
  ['a denial by its opposite', 'Probate is optional for small estates.'],
  ['a denial, next to a question about it', 'We have no evidence of life on other moons of the planet.'],
  ['what only looks like a denial', 'It does not matter where the visitor lives.'],
  ['a part after a distant denial', 'The mass number denotes all particles of the nucleus.'],
])('a sentence that repeats %s', (_, sentence) => {
  expect(supports(sentence, guide)).toBe(true)
})

test('a denial that is left out in German', () => {
  const sentence = (denial: string) => `Der Ausweis gilt zwölf Monate und darf im Lesesaal ${denial}verliehen werden.`
  expect(supports(sentence(''), leitfaden)).toBe(false)
  expect(supports(sentence('nicht '), leitfaden)).toBe(true)
})
