import { describe, expect, test } from 'vitest'
import { rankSentences, readPassages } from './index.ts'

const quotesOf = async (question: string, ...passages: { text: string; title?: string; headings?: string }[]) =>
  rankSentences(
    await readPassages(
      question,
      passages.map((passage, index) => ({ id: index + 1, ...passage })),
    ),
  ).map(({ id, sentences }) => ({ id, text: sentences.join(' ') }))

describe('quotes in other words than the question', () => {
  test.each([
    {
      question: 'How do I erase my picture?',
      text: 'You can upload a photo of yourself.\nTo delete the photo, open the menu and confirm.\nMembers see each other.',
      holds: 'To delete the photo',
    },
    {
      question: 'What does it cost?',
      text: 'The library is in the old town.\nThe annual fee is 12 euros.\nIt opens at nine.',
      holds: 'The annual fee',
    },
    {
      question: 'Was muss ich für den Hund bezahlen?',
      text: 'Das Zimmer hat einen Balkon.\nDie Gebühr für Haustiere beträgt 12 Euro je Nacht.\nDas Frühstück beginnt um sieben Uhr.',
      holds: 'Die Gebühr für Haustiere',
    },
  ])('$question', async ({ question, text, holds }) => {
    expect((await quotesOf(question, { text }))[0]!.text).toContain(holds)
  })

  test('a word of the question counts more than a synonym', async () => {
    const text = 'The price of the parcel is in the list.\nThe cost of the parcel is in the contract.'
    expect((await quotesOf('cost of the parcel', { text }))[0]!.text).toMatch(/^The cost/)
  })
})

describe('quotes below headings', () => {
  test('the headings of a passage count where its text does not begin with one', async () => {
    const [first] = await quotesOf(
      'How do I cancel?',
      { text: 'Open the menu and confirm twice.', headings: 'Members > Invite somebody' },
      { text: 'Open the page and confirm once.', headings: 'Members > Cancel' },
    )
    expect(first!.id).toBe(2)
  })

  test('a heading at the end of a passage is not quoted', async () => {
    const text = 'The office is open on all days of the week.\nHow the office is paid for\n'
    expect((await quotesOf('How is the office paid for?', { text })).map((quote) => quote.text)).toEqual([
      'The office is open on all days of the week.',
    ])
  })

  test('no sentence is in two quotes', async () => {
    const shared = 'The alarm of the cellar rings at noon.'
    const quotes = await quotesOf(
      'When does the alarm of the cellar ring?',
      { text: `The alarm of the cellar is new. ${shared}` },
      { text: `The alarm of the cellar is loud. ${shared}` },
    )
    const all = quotes.map(({ text }) => text).join(' ')
    expect(all.split(shared)).toHaveLength(2)
  })
})

describe('quotes of tables', () => {
  const table = [
    'species | island | bill length',
    'Adelie | Torgersen | 39.1',
    'Gentoo | Biscoe | 46.1',
    'Adelie | Biscoe | 37.8',
    'Adelie | Dream | 39.5',
    'Adelie | Dream | 37.2',
  ].join('\n')

  test('a question that names a column gets its values in the rows that it names', async () => {
    const [first] = await quotesOf('On which islands do Adelie penguins live?', { text: table })
    expect(first!.text).toBe('species: Adelie; island: Torgersen, Biscoe, Dream')
  })

  test('a question that names no column gets rows with the names of their cells', async () => {
    const [first] = await quotesOf('What about Gentoo?', { text: table })
    expect(first!.text).toBe('species: Gentoo; island: Biscoe; bill length: 46.1')
  })

  test('no quote is longer than a few sentences', async () => {
    const rows = Array.from({ length: 900 }, (_, index) => `Adelie | island ${index}`)
    const text = ['species | island', ...rows].join('\n')
    for (const quote of await quotesOf('On which islands do Adelie penguins live?', { text }))
      expect(quote.text.length).toBeLessThanOrEqual(600)
  })

  test('text around a table is quoted without it', async () => {
    const text = `Penguins are birds of the south.\n${table}\nThe island of Dream has no harbour.`
    const quotes = await quotesOf('Which island has no harbour?', { text })
    expect(quotes[0]!.text).toBe('The island of Dream has no harbour.')
  })
})
