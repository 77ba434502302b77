import { describe, expect, test } from 'vitest'
import { supports } from './support.ts'

const pool = {
  title: 'Pool',
  text: [
    'Guests of the hotel pay nothing. Adults pay 7 euros. The shelf for helmets is free.',
    'The kiosk is shut on Tuesdays. The ticket is not transferable, and tins are not for resale.',
    'Scooters may be used in the lower yard only. Trainees are exempt from the night shift.',
    'Parrots have to stay outside, apart from those of the keepers. A voucher is not refundable.',
  ].join(' '),
}
const hostel = {
  title: 'Hostel',
  text: [
    'There is no lift. Stays are limited to 14 nights. Linen is sold separately.',
    'The locker has no weekly fee for cyclists; all others pay 6.50 euros. The yard is only for the staff.',
  ].join(' '),
}
const club = {
  title: 'Club',
  text: [
    'Honorary members are exempt; groups that have not returned the key of an earlier tent are not eligible. A group can apply once a year. Bookings are not necessary.',
    'Poles may be no higher than 4 metres. Lockers are for members over 16.',
    'Families with three or more children pay 3 euros, and no more than three tickets are sold.',
    'Porters cannot approve their own shifts; these are approved by the staff office.',
  ].join(' '),
}
const verein = { title: 'Verein', text: 'Ehrenmitglieder sind vom Beitrag befreit.' }
const bad = {
  title: 'Bad',
  text: 'Der Spind kostet nichts. Die Karte ist nicht übertragbar. Der Steg ist mit dem Rad nicht erreichbar.',
}
const piscine = {
  title: 'Piscine',
  text: 'La carte n’est pas cessible. Les chiens ne sont pas admis. Le vestiaire est gratuit.',
}
const piscina = { title: 'Piscina', text: 'La tessera non è cedibile. Lo spogliatoio non costa nulla.' }
const zwembad = { title: 'Zwembad', text: 'Op dinsdag is de kiosk gesloten. De kaart is niet overdraagbaar.' }

describe('a denial in other words keeps its marker', () => {
  test.each([
    ['free for who pays nothing', pool, 'Admission is free for guests of the hotel.'],
    ['no charge for what is free', pool, 'No charge is made for the shelf for helmets.'],
    ['not open for shut', pool, 'The kiosk is not open on Tuesdays.'],
    ['passed on for transferable', pool, 'The ticket may not be passed on.'],
    ['resold for resale', pool, 'Tins may not be resold.'],
    ['another place for "only"', pool, 'Scooters are not allowed in the upper yard.'],
    ['"apart from" for an exception', pool, 'Parrots are not allowed inside, except those of the keepers.'],
    ['money back for refundable', pool, 'With a voucher, you do not get your money back.'],
    ['not necessary for no need', club, 'You do not need a booking to visit the club.'],
    ['not higher than a limit', club, 'A pole must not be higher than 4 metres.'],
    ['the others by age', club, 'Members under 16 do not get a locker.'],
    [
      'a condition for a group that is named',
      club,
      'If a group has not brought back the key of a previous tent, it cannot apply.',
    ],
    ['"befreit" in German', verein, 'Ehrenmitglieder müssen keinen Beitrag zahlen.'],
    ['"refusés" in French', piscine, 'Les chiens sont refusés.'],
    ['a verb for a word with -bar', bad, 'Die Karte darf nicht übertragen werden.'],
    ['"weitergeben" for "übertragbar"', bad, 'Die Karte darf nicht weitergegeben werden.'],
    ['at most for a limit', hostel, 'A stay cannot be longer than 14 nights.'],
    ['not included for sold separately', hostel, 'Linen is not included.'],
    ['no fee for who pays nothing', hostel, 'Cyclists pay nothing for the locker.'],
    ['free in German', bad, 'Der Spind ist kostenlos.'],
    ['"céder" for "cessible"', piscine, 'La carte ne peut pas être cédée.'],
    ['free in French', piscine, 'Le vestiaire ne coûte rien.'],
    ['"cedere" for "cedibile"', piscina, 'La tessera non può essere ceduta.'],
    ['free in Italian', piscina, 'Lo spogliatoio è gratuito.'],
    ['"open" for closed in Dutch', zwembad, 'De kiosk is op dinsdag niet open.'],
  ])('%s', (_, passage, sentence) => {
    expect(supports(sentence, passage)).toBe(true)
  })
})

describe('the opposite of it loses its marker', () => {
  test.each([
    ['a price of others', pool, 'Guests of the hotel pay 7 euros.'],
    ['paying', pool, 'Guests have to pay for the shelf for helmets.'],
    ['open', pool, 'The kiosk is open on Tuesdays.'],
    ['resold', pool, 'Tins may be resold.'],
    ['taking part', pool, 'Trainees have to work in the night shift.'],
    ['passed on', pool, 'The ticket may be passed on.'],
    ['included', hostel, 'Linen is included.'],
    ['the fee of others', hostel, 'Cyclists pay 6.50 euros.'],
    ['not exempt in German', verein, 'Ehrenmitglieder zahlen den Beitrag.'],
    ['paying in German', bad, 'Der Spind kostet Geld.'],
    ['"weitergeben"', bad, 'Die Karte darf weitergegeben werden.'],
    ['open in Dutch', zwembad, 'De kiosk is op dinsdag open.'],
    ['"céder"', piscine, 'La carte peut être cédée.'],
  ])('%s', (_, passage, sentence) => {
    expect(supports(sentence, passage)).toBe(false)
  })
})

test.each([
  ['"or more" for "at least"', 'Families with at least three children pay 3 euros.'],
  ['what "these" stands for', 'The staff office approves the shifts of porters.'],
])('a true sentence may have %s', (_, sentence) => {
  expect(supports(sentence, club)).toBe(true)
})
