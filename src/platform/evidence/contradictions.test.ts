import { describe, expect, test } from 'vitest'
import { readClaims } from './claims.ts'
import { type EvidenceText, readEvidence } from './evidence.ts'
import { compareClaims, concludeSupport, supports } from './support.ts'

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

const rooms = {
  title: 'Rooms.md',
  text: [
    'The red list is a plain register of faults or risks that no one wants to repair.',
    'Empty boxes move from a lower store to a higher store.When a booking ends, the host checks the room.Taking a key could mean using a room without consent, such as the hall, the attic or the cellar.',
    'Lenders may threaten court action or seizure if you do not pay. You do not pay the rent until the host confirms the booking.',
    'The fee may be waived if you cannot afford it. The host offers:No cleaning fee as long as the stay isn’t longer than a week. No need for a deposit.',
    'The lamps are not currently available at night. Only the public door and the public ramp lead to the public garden.',
  ].join(' '),
}

test.each([
  ['two opposites where the passage has each once', 'Empty boxes move from a higher store to a higher store.'],
  [
    'a denial before the one of a relative clause',
    'The red list is not a plain register of faults or risks that no one wants to repair.',
  ],
  ['an opposite next to the same denial', 'The lamps are not currently unavailable at night.'],
  [
    'an opposite of a word that stays elsewhere',
    'Only the private door and the public ramp lead to the public garden.',
  ],
  [
    'a denial of a sentence that begins without a blank, and that has "without" itself',
    'Taking a key could not mean using a room without consent, such as the hall, the attic or the cellar.',
  ],
  ['"without" next to a denied condition', 'Lenders may threaten without court action or seizure if you do not pay.'],
  ['"only until" for "not until"', 'You only pay the rent until the host confirms the booking.'],
])('a sentence loses its marker with %s', (_, sentence) => {
  expect(supports(sentence, rooms)).toBe(false)
})

test.each([
  ['"only once" for "not until"', 'You only have to pay the rent once the host confirms the booking.'],
  ['"unable to" for "cannot"', 'The fee can be waived if you are unable to afford it.'],
  [
    '"no" with a condition that denies',
    'The host offers advantages such as no cleaning fee and no need for a deposit.',
  ],
  [
    'the same examples',
    'Taking a key could mean using a room without consent, such as the hall, the attic or the cellar.',
  ],
])('a sentence keeps its marker with %s', (_, sentence) => {
  expect(supports(sentence, rooms)).toBe(true)
})

test('an item of a list is not denied by what is denied of it elsewhere', () => {
  const text =
    'Parts with personal marks are stored in the cellar: desks, shelves. When a room closes, the related pipes, cable channels, and marks (including personal marks) are not deleted.'
  const sentence = 'Parts with personal marks include desk lamps, pipes and cable channels, and old chairs.'
  expect(supports(sentence, { title: 'Parts.md', text })).toBe(true)
  const rule = { title: 'Rule.md', text: 'The hall is old. Guests of the hall are not permitted to bring dogs.' }
  expect(supports('The hall is old, and guests bring dogs.', rule)).toBe(false)
})

test('a sentence of the passage is not denied by a shorter one', () => {
  const text =
    'Roles allow you to write policies that state the rights of groups who open a shield. The shield does not use policies.'
  const passage = { title: 'Roles.md', text }
  expect(supports('Role policies are used to state the rights of groups who open a shield.', passage)).toBe(true)
  expect(supports('The shield uses policies.', passage)).toBe(false)
})

describe('of several passages', () => {
  const house = {
    title: 'House.md',
    text: 'Insurance of the furniture is required in this house too. Guests are quiet.',
  }
  const camp = { title: 'Camp.md', text: 'Insurance of the furniture is not required.' }
  const verdictOf = (sentence: string, ...passages: EvidenceText[]) => {
    const claims = readClaims(sentence)
    return concludeSupport(
      claims,
      passages.map((passage) => compareClaims(claims, readEvidence(passage))),
    ).verdict
  }

  test('one that denies something else contradicts no sentence that another one states', () => {
    const sentence = 'Insurance of the furniture is required in this house.'
    expect(verdictOf(sentence, camp)).toBe('unsupported')
    expect(verdictOf(sentence, house, camp)).toBe('supported')
  })

  test('the one that has most of a clause contradicts it', () => {
    const sentence = 'Insurance of the furniture is not required in this house.'
    expect(verdictOf(sentence, house, { title: 'Pool.md', text: 'Guests of the pool bring towels.' })).toBe(
      'unsupported',
    )
  })
})
