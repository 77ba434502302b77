import { expect, test } from 'vitest'
import { supports } from './support.ts'

const manual = {
  title: 'Manual',
  text: [
    'The tray is dishwasher-safe, the pump is not. Gloves are recommended but not compulsory.',
    'Unknown keys of the file are not ignored. New limits of the file take effect after a restart.',
    'The hall opens at 9:00 and is open until 18:00. Guests pay 8 euros; members enter free.',
    'Cheques, coins and vouchers are not accepted. Add a label to the box. This is not visible to guests.',
    'When the season ends, the hall is locked. You can still ring, but you cannot visit the gallery.',
    'The yearly renewal of a card is free.',
    'The least recently used entries are removed from the store.',
  ].join(' '),
}
const retours = {
  title: 'Retours',
  text: "Les frais de retour sont à la charge du client, sauf si l'article est défectueux.",
}
const regeln = {
  title: 'Regeln',
  text: 'Die Frist kann verlängert werden, sofern das Medium nicht vorbestellt ist.',
}

test.each([
  ['denies a predicate of two parts', manual, 'The pump is not dishwasher-safe.'],
  ['denies that something is compulsory', manual, 'Gloves are not mandatory, but recommended.'],
  ['denies what an unknown thing does', manual, 'Unknown keys are not ignored.'],
  ['has the order of events in reverse', manual, 'A restart is needed before new limits of the file take effect.'],
  ['states the closing time', manual, 'The hall closes at 18:00.'],
  ['states a price next to what is free', manual, 'Guests pay 8 euros to enter.'],
  ['denies the items of a list without a last comma', manual, 'Neither cheques nor coins are accepted.'],
  ['denies of "this" what it stands for', manual, 'The label of the box is not visible to guests.'],
  ['has a noun for a verb and a period in one word', manual, 'To renew a card each year is free.'],
  ['has a limit next to what is least used', manual, 'The store holds up to the entries that were used recently.'],
  [
    'denies in the case of an exception',
    retours,
    "Si l'article est défectueux, le client ne paie pas les frais de retour.",
  ],
  [
    'denies in the case of a German exception',
    regeln,
    'Ist das Medium vorbestellt, kann die Frist nicht verlängert werden.',
  ],
])('a true sentence that %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['affirms a predicate that is denied of its subject', manual, 'The pump is dishwasher-safe.'],
  ['makes compulsory what is not', manual, 'Gloves are mandatory for all guests.'],
  ['affirms what is denied of something unknown', manual, 'Unknown keys of the file are ignored.'],
  ['affirms what a clause denies around it', manual, 'You can visit the gallery when the season ends.'],
  ['ignores an exception', retours, "Si l'article est défectueux, les frais de retour sont à la charge du client."],
])('a false sentence that %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})
