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
      question: 'Who repairs my teeth?',
      text: 'You can park in the yard.\nThe dental clinic is on the second floor.\nIt opens at nine.',
      holds: 'The dental clinic',
    },
    {
      question: 'Was muss ich für den Hund bezahlen?',
      text: 'Das Zimmer hat einen Balkon.\nDie Gebühr für Haustiere beträgt 12 Euro je Nacht.\nDas Frühstück beginnt um sieben Uhr.',
      holds: 'Die Gebühr für Haustiere',
    },
  ])('$question', async ({ question, text, holds }) => {
    expect((await quotesOf(question, { text }))[0]!.text).toContain(holds)
  })

  test('a synonym counts more than a word that is near', async () => {
    const mechanic = { text: 'The mechanic is in the yard.' }
    const [first] = await quotesOf('Where is my car?', mechanic, { text: 'The automobile is in the garage.' })
    expect(first!.id).toBe(2)
  })

  test('a word of the question counts more than a synonym', async () => {
    const list = { text: 'The price of the parcel is in the list.' }
    const [first] = await quotesOf('cost of the parcel', list, { text: 'The cost of the parcel is in the contract.' })
    expect(first!.id).toBe(2)
  })
})

describe('quotes of the details that a question asks for', () => {
  test.each([
    ['How long is the parcel kept?', 'The parcel is kept with 12 letters.', 'The parcel is kept for 12 weeks.'],
    ['Whom do I ask for a parcel?', 'The parcel is asked for in writing.', 'The parcel is asked for at the office.'],
    ['Wie oft kommt der Bus?', 'Der Bus kommt mit 3 Wagen.', 'Der Bus kommt jede Stunde, 3 Wagen.'],
  ])('%s', async (question, other, answer) => {
    const [first] = await quotesOf(question, { text: other }, { text: answer })
    expect(first!.text).toBe(answer)
  })

  test('a quote begins with the sentence that answers, not at the beginning of its section', async () => {
    const text =
      'The harbour has a wall of stone. Gulls sit on the wall. The ferry costs 12 euros for a crossing. Gulls like bread.'
    const [first] = await quotesOf('How much do I pay for the crossing to the island?', { text })
    expect(first!.text).toMatch(/^The ferry costs 12 euros/)
  })
})

describe('quotes of similar words', () => {
  test('a part of a compound counts', async () => {
    const [first] = await quotesOf(
      'Wie werde ich ein Konto im Menü los?',
      { text: 'Das Formular wird im Menü gelöscht.' },
      { text: 'Das Benutzerkonto wird im Menü gelöscht.' },
    )
    expect(first!.id).toBe(2)
  })
})

describe('quotes below headings', () => {
  test('the steps after the sentence that names them are quoted with it', async () => {
    const text = 'To rename a shelf:\n1. Open the list.\n2. Press the key.\nThe list of shelves is long.'
    const [first] = await quotesOf('How do I rename a shelf?', { text })
    expect(first!.text).toContain('2. Press the key.')
  })

  test('the last sentence of a line without a stop is no heading', async () => {
    const text = '- You add one lamp at a time. You can add up to 30 lamps\nShelves\nThe shelves are made of wood.'
    const [first] = await quotesOf('How many lamps can I add?', { text })
    expect(first!.text).toContain('up to 30 lamps')
  })

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
