import { expect, test } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { supports } from './support.ts'

const rules = {
  title: 'Rules.md',
  text: [
    'The canteen is closed on Fridays. Lockers are free of charge for visitors.',
    'Children under eight may enter the pool only with an adult.',
    'Refunds are given if the pool closes because of a storm.',
    'Travel by plane is only approved for distances above 600 km. Exports to Asia increased, while costs decreased.',
    'Arrivals are possible after two and departures before noon. The ticket is valid for a year and is not transferable.',
  ].join(' '),
}
const regeln = {
  title: 'Regeln.md',
  text: 'Der Ausweis gilt zwölf Monate und ist nicht übertragbar. Die Bibliothek ist montags geschlossen. Das Mitbringen von Getränken ist erlaubt.',
}
const camping = {
  title: 'Camping.md',
  text: "Le barbecue à gaz est autorisé, mais les feux de camp sont interdits. L'entrée est gratuite le dimanche.",
}
const account = {
  title: 'Account.md',
  text: [
    'You can delete your data at any time, before or after canceling. Your data is not deleted immediately.',
    'Until the end of the billing period you have full access. Once the billing period ends, you can still log in, but you cannot view your stats.',
    'One month after locking, the service stops collecting data. If you have not removed the snippet, any data it sends will be dropped.',
    'If you want to pipe your data into a data warehouse, connectors exist for two products. These connectors are not built or supported by the vendor.',
    'Windows and macOS have stopped reporting their latest versions. This means that tools are not able to report the latest versions, which for Windows are above 10.',
    'Even while locked, you still have full access to your account settings. You are never locked into a higher plan when your usage no longer requires it.',
    'Rules take effect within a few minutes. Sent reports are kept when you upgrade.',
    'Even while exports are paused, events continue to be counted. Each branch is billed separately.',
  ].join(' '),
}
const museo = {
  title: 'Museo.md',
  text: 'Se pueden hacer fotos sin flash. La tienda acepta tarjetas. El museo no abre los lunes.',
}
const guize = { title: '规定.md', text: '学生可以免费借书。参考书不能外借。借书证不得转让。' }
const qawaid = { title: 'قواعد.md', text: 'المتحف مغلق يوم الاثنين. الدخول مجاني يوم الجمعة.' }

test.each([
  ['denies the opposite', rules, 'On Fridays the canteen is not open.'],
  [
    'denies after a phrase',
    { ...rules, text: `${rules.text} Dogs are not accepted on the evening ferry.` },
    'On the evening ferry, no dogs are accepted.',
  ],
  ['denies to pay', rules, 'Visitors do not pay for lockers.'],
  ['denies twice', rules, 'Children under eight are not allowed in the pool without an adult.'],
  ['denies beyond a limit', rules, 'Travel by plane is not approved for distances below 600 km.'],
  ['is next to a denial', rules, 'The ticket is valid for a year.'],
  ['denies the same word as the passage', account, 'Your data is not deleted at once after canceling.'],
  [
    'denies what a short clause of the passage denies',
    account,
    'You cannot view your stats once the billing period ends.',
  ],
  ['denies what the passage says to stop', account, 'One month after locking, data is no longer collected.'],
  ['denies what the passage is not able to', account, 'Windows versions above 10 are not reported.'],
  ['denies a loss', account, 'Events are not lost while exports are paused.'],
  [
    'denies what another clause of the sentence says to stop',
    account,
    'The service no longer collects data one month after the account is locked.',
  ],
  ['denies "together" of "separately"', account, 'Branches are not billed together.'],
  ['denies the opposite in German', regeln, 'Montags ist die Bibliothek nicht geöffnet.'],
  ['is next to a denial in German', regeln, 'Der Ausweis gilt zwölf Monate.'],
  ['denies in a condition in Spanish', museo, 'Se pueden hacer fotos si no se usa flash.'],
])('a true sentence that %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(true)
})

test.each([
  ['before a condition', rules, 'Refunds are never given if the pool closes because of a storm.'],
  ['by the opposite of a word that is elsewhere too', rules, 'Exports to Asia decreased.'],
  ['by the word before the same one', rules, 'Arrivals are possible before two.'],
  ['by "together" for "separately"', account, 'All branches are billed together.'],
  ['with "no longer"', account, 'You no longer have access to your account settings while dashboards are locked.'],
  ['with "not", next to "a few"', account, 'Rules do not take effect within minutes.'],
  ['by "deleted" for "kept"', account, 'Sent reports are deleted when you upgrade.'],
  ['by leaving out a denial after "and"', regeln, 'Der Ausweis ist übertragbar.'],
  ['in German', regeln, 'Die Bibliothek ist montags geöffnet.'],
  ['in French, next to the same ban', camping, 'Le barbecue à gaz est interdit.'],
  ['in French', camping, "L'entrée est payante le dimanche."],
  ['in Spanish', museo, 'La tienda rechaza tarjetas.'],
  ['in Chinese, with few pairs of characters', guize, '借书证可以转让。'],
  ['in Chinese', guize, '学生需要付费借书。'],
  ['in Arabic', qawaid, 'المتحف مفتوح يوم الاثنين.'],
])('a sentence that reverses the passage %s', (_, passage, sentence) => {
  expect(supports(sentence, passage)).toBe(false)
})

const report = { title: 'Report.pdf', text: '$ million | 2023 | 2024\nResearch | 27.1 | 31.8\nIncome | 44.3 | 57.2' }

test.each([
  ['Research was 31.8 in 2024.', true],
  ['Research was 31.8 in 2024, after 27.1 a year before.', true],
  ['Research was 27.1 in 2024.', false],
])('a number of a year is in the column of the year: %s', (sentence, isSupported) => {
  expect(supports(sentence, report)).toBe(isSupported)
})

const wrapped = {
  title: 'Cities.txt',
  text: [
    'Some larger cities have tasks of a county, and an example of such a task is the',
    'registration of cars. In some cases the districts of a city register cars as well,',
    'but for instance the districts in the harbour city do not have the entitlements of',
    'a county, so that all cars have numbers of the same type there and the city pays',
    'for them. They do not accept wire transfers, manual invoices or coins.',
  ].join('\n'),
}

test.each([
  ['over the end of a line', 'Districts in the harbour city do not have the rights of a county.', true],
  ['over the end of a line, left out', 'Districts in the harbour city have the rights of a county.', false],
  ['in a list', 'Manual invoices are not accepted.', true],
  ['in a list, left out', 'You can pay with coins or by wire transfer.', false],
])('a denial is read %s', (_, sentence, isSupported) => {
  expect(supports(sentence, wrapped)).toBe(isSupported)
})

test('a column of percentages has the percentage of a sentence about amounts', () => {
  const text = 'Region | Revenue | Share\nNorth | 800 | 40%\nSouth | 600 | 30%'
  expect(supports('The north has 40% of the revenue.', { title: 'Report', text })).toBe(true)
  expect(supports('The north has 30% of the revenue.', { title: 'Report', text })).toBe(false)
})

test('words with opposites on both sides are compared next to what they are about', () => {
  const text = 'The queue is faster, both reducing database load and increasing throughput.'
  expect(supports('The queue lowers the load and raises throughput.', { title: 'Queue', text })).toBe(true)
  expect(supports('The queue raises the load on the database and lowers throughput.', { title: 'Queue', text })).toBe(
    false,
  )
})

test('a cell that denies states nothing about the cells next to it', () => {
  const text = 'Name | Town | Founded | Railway\nMarket of the Assumption | Teresa | 1924 | none'
  expect(supports('The market of the Assumption was founded in 1924.', { title: 'List.csv', text })).toBe(true)
})

test('irregular forms of a verb are one word', () => {
  const text = 'The artist teaches, draws and writes.'
  expect(supports('The artist taught, drew and wrote.', { title: 'Artist.md', text })).toBe(true)
  expect(supports('The artist flew, sang and sold.', { title: 'Artist.md', text })).toBe(false)
})

test('many denials are read in linear time', async () => {
  const read = (times: number) => supports(`${'not '.repeat(times)}${'nobody '.repeat(times)}`, rules)
  await expectLinear(read, 1_000, 'denials')
})

const shop = {
  title: 'Shop.md',
  text: [
    'Visitors can enter the garden without buying a ticket. You must wait for the confirmation before shipping the goods.',
    'The gate opens by itself unless it is a public holiday. Discounts are added manually to the invoice of a member.',
    'The museum is closed on Mondays, and on all other days it opens at ten. You can turn off the newsletter in your profile.',
    'Parcels above ten kilos have to be delivered by a courier.',
  ].join(' '),
}

test.each([
  ['a need of what is done without', 'Visitors do not need a ticket for the garden.'],
  ['what must come later', 'You must not ship the goods before the confirmation.'],
  ['an exception', 'The gate does not open by itself on a public holiday.'],
  ['the opposite in a longer sentence', 'Discounts are not added automatically to the invoice.'],
  ['what another clause affirms of something else', 'The museum does not open on Mondays.'],
])('a sentence may deny %s', (_, sentence) => {
  expect(supports(sentence, shop)).toBe(true)
})

test.each([
  ['what is done without', 'Visitors need to buy a ticket to enter the garden.'],
  ['what an exception denies', 'The gate opens by itself on a public holiday as well.'],
  ['the opposite of a way', 'Discounts are added automatically to the invoice of a member.'],
  ['the opposite of a switch', 'You can turn on the newsletter in your profile.'],
])('a sentence is wrong that affirms %s', (_, sentence) => {
  expect(supports(sentence, shop)).toBe(false)
})

test('what the passage must come later is not denied in the same order', () => {
  expect(supports('You must not wait for the confirmation before shipping the goods.', shop)).toBe(false)
})
