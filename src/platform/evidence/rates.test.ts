import { describe, expect, it } from 'vitest'
import { readRates } from './rates.ts'
import { supports } from './support.ts'

const day = 86_400
const month = 2_628_000

describe('rates', () => {
  it.each([
    ['5 euros per hour', 'en', [3_600]],
    ['100 requests a minute', 'en', [60]],
    ['every other day', 'en', [2 * day]],
    ['three times a week', 'en', [(7 * day) / 3]],
    ['twice a year', 'en', [6 * month]],
    ['every six months', 'en', [6 * month]],
    ['quarterly', 'en', [3 * month]],
    ['each friday', 'en', [7 * day]],
    ['for a week, on friday, every friday to sunday', 'en', []],
    ['zweimal im monat', 'de', [month / 2]],
    ['alle zwei wochen, jeden montag', 'de', [14 * day, 7 * day]],
    ['im monat mai', 'de', []],
    ['tous les deux mois, par jour', 'fr', [2 * month, day]],
    ['cada semana, 5 euros al mes', 'es', [7 * day, month]],
    ['ogni giorno', 'it', [day]],
  ] as const)('%s (%s): %j seconds', (text, language, expected) => {
    expect(readRates(text, language)).toEqual(expected)
  })

  const text =
    'The van is rented at 45 euros per day. The rent rises by at most 2 percent a year. Backups run nightly and are kept for 30 days. ' +
    'Spending is reviewed quarterly. Advisers visit clients every six months. The bus runs every 20 minutes on weekdays and hourly on Sundays.'

  it.each([
    'The van is rented at 45 euros per week.',
    'The rent rises by at most 2 percent a month.',
    'Backups run hourly.',
    'Spending is reviewed monthly.',
    'Advisers visit clients every month.',
    'Advisers visit clients four times a year.',
  ])('is another one in: %s', (sentence) => {
    expect(supports(sentence, { title: '', text })).toBe(false)
  })

  it.each([
    'The van is rented at 45 euros a day.',
    'Each year, the rent may rise by at most 2 percent.',
    'Backups run every night.',
    'Spending is reviewed every three months.',
    'Clients are visited by advisers twice a year.',
    'On Sundays, the bus runs once an hour.',
  ])('is the same in: %s', (sentence) => {
    expect(supports(sentence, { title: '', text })).toBe(true)
  })
})
