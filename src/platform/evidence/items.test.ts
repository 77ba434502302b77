import { describe, expect, it, test } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { includedDays } from './amounts.ts'
import { readBounds } from './items.ts'
import { supports } from './support.ts'

const shop = {
  title: 'Shop',
  text: 'Delivery: standard 4.90 euros (3 to 5 days), express 9.90 euros (24 hours), parcel locker 2.90 euros. The shop opens at 9:00 from Tuesday to Saturday and at 11:00 on Sundays.',
}
const settings = {
  title: 'Settings',
  text: '`store.age` states how long entries stay, in seconds. The default is 300.\n`store.size` limits the memory in megabytes; the default is 64. It may change.',
}
const waste = {
  title: 'Waste',
  text: 'Glass is collected on Tuesdays, garden waste every Thursday. Clean the bin every three months, in summer monthly.',
}
const museo = {
  title: 'Museo',
  text: 'Entrada general: 9 €. Estudiantes y jubilados: 5 €. Menores de 12 años: gratis.',
}

test.each([
  ['of its item', shop, 'Express delivery costs 9.90 euros.'],
  ['of two items', shop, 'Express costs 9.90 euros and the parcel locker 2.90 euros.'],
  ['of the first item', shop, 'Standard delivery takes 3 to 5 days.'],
  ['of a day between two others', shop, 'On Thursdays the shop opens at 9:00.'],
  ['that is a day', waste, 'Garden waste is collected on Thursdays.'],
  ['that is in one word', waste, 'In summer the bin needs cleaning every month.'],
  ['of the sentence before', settings, 'The default of `store.age` is 300.'],
  ['that another item has as well', museo, 'Los jubilados pagan 5 € por la entrada.'],
])('a sentence may have an amount %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['price', shop, 'The parcel locker costs 4.90 euros.'],
  ['time', shop, 'Express delivery takes 3 to 5 days.'],
  ['opening time', shop, 'On Sundays the shop opens at 9:00.'],
  ['line', settings, 'The default of `store.size` is 300.'],
  ['day', waste, 'Glass is collected every Thursday.'],
  ['interval', waste, 'In summer, clean the bin every three months.'],
  ['label', museo, 'Los estudiantes pagan 9 €.'],
])('a sentence does not have the %s of another item', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})

test('the numbers of sections are no amounts', () => {
  const text =
    '4. Level. The host guarantees 99.9 % each month.\n5. Credit. For each hour below it the fee falls by 2 %.'
  expect(supports('For each hour below it the fee falls by 5 %.', { title: 'Contract', text })).toBe(false)
  expect(supports('For each hour below it the fee falls by 2 %.', { title: 'Contract', text })).toBe(true)
})

test('lists of amounts take linear time', async () => {
  const read = (rooms: number) => {
    const text = Array.from({ length: rooms }, (_, at) => `the room number ${at} costs ${at} euros,`).join(' ')
    return supports('The room number 7 costs 12 euros and the last one 13 euros.', { title: 'Rooms', text })
  }
  await expectLinear(read, 500, 'rooms')
  const name = (parts: number) => supports('One part costs 5 euros.', { title: '', text: 'a part, '.repeat(parts) })
  await expectLinear(name, 2_000, 'parts without an amount')
})

describe('days of the week that a text includes', () => {
  it.each([
    ['open Mon-Wed', 'en', ['monday', 'tuesday', 'wednesday']],
    ['Friday to Monday', 'en', ['friday', 'saturday', 'sunday', 'monday']],
    ['Sunday to Sunday', 'en', ['sunday']],
    ['Di.–Do. geöffnet', 'de', ['dienstag', 'mittwoch', 'donnerstag']],
    ['on weekends', 'en', ['saturday', 'sunday']],
    // A long s is an s to a pattern without case.
    ['Monday to ſunday, ſun to mon', 'en', []],
    ['on Monday', 'en', []],
  ] as const)('finds those of %j', (text, language, days) => {
    expect(includedDays(text, language)).toEqual(days)
  })
})

const swim = {
  title: 'Swim',
  text: 'Adults pay 12 euros and children 7 euros. The deposit is 50 euros for rooms and 200 euros for flats. Visits rose from 4.2 million euros in 2021 to 5.6 million euros in 2022. Lindner joined in 2015 and became director in 2019. The north branch has 14 employees, the south branch 23 and the head office 61.',
}
const becken = {
  title: 'Becken',
  text: 'Erwachsene zahlen 12 Euro und Kinder 7 Euro. Die Kasse ist von 9 bis 17 Uhr offen.',
}

const camp = {
  title: 'Camp',
  text: 'The site opens on 15 April and closes on 30 September. Cars may enter from 8 am to 10 pm. The shop is closed from noon until 3 pm. Dogs are welcome before 1 June. You cannot book until 2 January. Weber led the camp until 2016. Tents cost 9 euros a night, caravans 17 euros and cabins 48 euros.',
}
const halle = {
  title: 'Halle',
  text: 'Die Halle ist bis 22 Uhr geöffnet, das Büro ab 9 Uhr. Anträge sind bis zum 30. Juni möglich.',
}

describe('what begins and ends', () => {
  it.each([
    [camp, 'The site is open from 15 April to 30 September.'],
    [camp, 'Cars can enter between 8 am and 10 pm.'],
    [camp, 'Dogs are welcome until 1 June.'],
    [camp, 'A cabin costs 48 euros a night, a caravan 17.'],
    [halle, 'Das Büro öffnet um 9 Uhr.'],
    [halle, 'Anträge kann man bis zum 30. Juni stellen.'],
  ])('is the same: %#', (passage, sentence) => {
    expect(supports(sentence, passage)).toBe(true)
  })

  it.each([
    [camp, 'The site opens on 30 September and closes on 15 April.'],
    [camp, 'Cars may enter from 10 pm to 8 am.'],
    [camp, 'Dogs are welcome after 1 June.'],
    [camp, 'You can book until 2 January.'],
    [camp, 'Weber has led the camp since 2016.'],
    [halle, 'Die Halle ist ab 22 Uhr geöffnet.'],
    [halle, 'Anträge sind ab dem 30. Juni möglich.'],
  ])('is reversed: %#', (passage, sentence) => {
    expect(supports(sentence, passage)).toBe(false)
  })
})

test('a sentence of very many bounds is read', () => {
  expect(readBounds('by May '.repeat(200_000), 'en').length).toBeLessThan(1_000)
})

describe('a sentence that lists amounts', () => {
  it.each([
    [swim, 'Children pay 7 euros, adults 12 euros.'],
    [swim, 'For flats, the deposit is 200 euros; for rooms it is 50 euros.'],
    [swim, 'Visits were at 5.6 million euros in 2022, up from 4.2 million euros in 2021.'],
    [swim, 'Lindner became director in 2019, after joining in 2015.'],
    [swim, 'The south branch has 23 employees, and the head office has 61.'],
    [becken, 'Kinder zahlen 7 Euro, Erwachsene 12 Euro.'],
  ])('keeps its marker with each at its place: %#', (passage, sentence) => {
    expect(supports(sentence, passage)).toBe(true)
  })

  it.each([
    [swim, 'Adults pay 7 euros and children 12 euros.'],
    [swim, 'The deposit is 200 euros for rooms and 50 euros for flats.'],
    [swim, 'Visits rose from 5.6 million euros in 2021 to 4.2 million euros in 2022.'],
    [swim, 'Visits were at 4.2 million euros in 2022 and at 5.6 million euros in 2021.'],
    [swim, 'Lindner joined in 2019 and became director in 2015.'],
    [swim, 'The north branch has 23 employees and the south branch 14.'],
    [becken, 'Erwachsene zahlen 7 Euro und Kinder 12 Euro.'],
  ])('loses it where two are exchanged: %#', (passage, sentence) => {
    expect(supports(sentence, passage)).toBe(false)
  })

  test('takes linear time', async () => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, at) => `the part ${at % 7} costs ${at % 11} euros`).join(', ')
    await expectLinear((size) => supports(`${list(size)}.`, { title: '', text: `${list(size)}.` }), 500, 'items')
    const hours = (count: number) => 'open from 8 am to 10 pm and closed until 2 May, '.repeat(count)
    await expectLinear((size) => supports('It is open from 10 pm.', { title: '', text: hours(size) }), 500, 'bounds')
  })
})
