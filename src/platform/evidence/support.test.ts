import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../test/harness/timing.ts'
import { readClaims } from './claims.ts'
import { type EvidenceText, readEvidence } from './evidence.ts'
import { compareClaims, concludeSupport, supports } from './support.ts'

const bridge = {
  title: 'Harbour bridge.pdf',
  headings: ['Construction'],
  text: `The harbour bridge opened on 3 May 1932 after eight years of work. It cost 1,234,567 pounds and is 503.5 metres long.
Traffic fell by 12.5 percent during the war. The architect, John Bradfield, was born in the United States. He said: "The bridge shall
carry trains and trams for a hundred years." The toll is €2.40 from 6 pm on.`,
}

const verdictOf = (sentence: string, passage: EvidenceText = bridge) => {
  const claims = readClaims(sentence)
  return concludeSupport(claims, [compareClaims(claims, readEvidence(passage))])
}

describe('a passage supports a sentence', () => {
  test.each([
    'The harbour bridge opened in May 1932.',
    'The bridge opened on 1932-05-03.',
    'The bridge opened on 03.05.1932.',
    'The bridge was opened on May 3rd, 1932, after 8 years of work.',
    'The bridge cost about 1.2 million pounds.',
    'The bridge cost 1.234.567 pounds.',
    'The bridge cost 1 234 567 pounds.',
    'The bridge cost 1.234567 million pounds.',
    'The length of the bridge is 503,5 metres.',
    'Traffic fell 12.5% in the war.',
    'Its architect Bradfield was born in the US.',
    'The toll is 2.40 euros from 18:00 on.',
    'He said that the bridge "shall carry trains … for a hundred years".',
    '1. The bridge opened in 1932.',
    '| Bridge | opened | 1932',
    'The harbour bridge opened in 1932 (see https://example.com/2019/05).',
  ])('%s', (sentence) => {
    expect(verdictOf(sentence)).toMatchObject({ verdict: 'supported' })
  })

  test.each([
    ['The harbour bridge opened in May 1933.', 'number'],
    ['The harbour bridge opened in June 1932.', 'month'],
    ['The bridge opened on 04.05.1932.', 'number'],
    ['The bridge opened after nine years of work.', 'number'],
    ['The bridge cost about 1.3 million pounds.', 'number'],
    ['The bridge cost 1,234,568 pounds.', 'number'],
    ['The bridge is 503.6 metres long.', 'number'],
    ['The toll of the bridge is 2.40 dollars.', 'currency'],
    ['The architect of the bridge, Ralph Freeman, was born in the United States.', 'name'],
    ['The architect John Bradfield was born in Australia.', 'name'],
    ['He said that the bridge "shall carry cars and buses" for a hundred years.', 'quote'],
    ['Visitors may climb the southern pylon during summer evenings.', 'words'],
  ])('but not: %s (%s)', (sentence, missing) => {
    expect(verdictOf(sentence)).toMatchObject({ verdict: 'unsupported', missing })
  })

  test('whose title or headings have the words', () => {
    expect(supports('Construction of the harbour took eight years.', bridge)).toBe(true)
  })

  test('but a sentence without a statement is not judged', () => {
    for (const sentence of ['', '**', 'Yes.', 'It is.']) expect(verdictOf(sentence).verdict).toBe('unchecked')
  })
})

describe('a number', () => {
  const prices = {
    title: 'Prices.csv',
    tableHeader: 'Article;Width;Price',
    text: 'Screw Alpha;4;12.50\nScrew Beta;5;14.90\nWasher Gamma;4;0.30',
  }

  test('of a table must be in the row of the sentence', () => {
    expect(verdictOf('The price of the screw Beta is 14.90.', prices).verdict).toBe('supported')
    expect(verdictOf('The price of the screw Beta is 12.50.', prices)).toMatchObject({ missing: 'number' })
  })

  test('may be computed where the sentence shows from what', () => {
    const costs = { title: 'Costs', text: 'The ticket costs 12 euros. The guide costs 5 euros.' }
    expect(verdictOf('The ticket costs 12 euros and the guide 5 euros, together 17 euros.', costs).verdict).toBe(
      'supported',
    )
    expect(verdictOf('The ticket and the guide cost together 17 euros.', costs).verdict).toBe('supported')
    expect(verdictOf('The ticket and the guide cost together 16 euros.', costs)).toMatchObject({ missing: 'number' })
    expect(verdictOf('The ticket costs 7 euros more than the guide.', costs).verdict).toBe('supported')
    expect(verdictOf('The ticket and the guide cost 17 euros.', costs)).toMatchObject({ missing: 'number' })
    expect(verdictOf('The ticket costs 12 euros and the guide 5 euros, together 18 euros.', costs)).toMatchObject({
      missing: 'number',
    })
  })

  const sales = {
    title: 'Sales',
    text: [
      'Store | Visitors 2019 | Visitors 2018 | Staff',
      'Turku | 4,120 | 3,500 | 12',
      'Oulu | 2,060 | 1,900 | 8',
      'Vaasa | 1,030 | 1,210 | 5',
    ].join('\n'),
  }

  test.each([
    ['sum', 'Together Turku and Oulu had 6180 visitors in 2019.', '6190'],
    ['difference', 'Turku had 620 more visitors in 2019 than in 2018.', '640'],
    ['written with a sign of thousands', 'Together Turku and Oulu had 6,180 visitors in 2019.', '6,280'],
    ['percentage', 'The visitors of Turku increased by 17.7% from 2018 to 2019.', '18.7'],
    ['share', 'The visitors of Oulu in 2019 were 50% of the visitors of Turku.', '40'],
    ['average', 'On average Turku and Vaasa had 2575 visitors in 2019.', '2755'],
    ['product', '7 times the staff of Turku is 84.', '94'],
    ['count of rows', 'The table lists 3 stores.', '4'],
    ['difference in German', 'In Turku waren es 2019 insgesamt 620 Visitors mehr als 2018.', '720'],
  ])('of a table may be its %s, if the result is right', (_, sentence, wrong) => {
    expect(verdictOf(sentence, sales).verdict).toBe('supported')
    const right = /(?<![\d,])(?!20(?:18|19)\b)\d[\d,.]*\d%?|(?<=lists )3/.exec(sentence)![0].replace('%', '')
    expect(verdictOf(sentence.replace(right, wrong), sales)).toMatchObject({ missing: 'number' })
  })

  test('is not believed where nearly any number could be computed', () => {
    const many = {
      title: 'Draw',
      text: `Numbers drawn: ${Array.from({ length: 20 }, (_, n) => n * n + 3).join(', ')}.`,
    }
    expect(verdictOf('The difference of the numbers drawn is 61.', many)).toMatchObject({ missing: 'number' })
  })

  test('is computed from a bounded part of a passage', () =>
    expectLinear((size) => {
      const rows = Array.from({ length: size }, (_, n) => `Store ${n} | ${n * 7} | ${n * 11} | ${n * 13}`)
      return verdictOf('Together the stores have a total average difference of 999999.5%.', {
        title: 'Stores',
        text: ['Store | A | B | C', ...rows].join('\n'),
      })
    }, 200))

  test('that the sentence has twice must be in the passage twice', () => {
    const digits = { title: 'Dice', text: 'The sides of the die show 1, 2, 3, 4, 5 and 6 dots.' }
    expect(verdictOf('The sides of the die show 1, 2, 2, 4, 5 and 6 dots.', digits)).toMatchObject({
      missing: 'number',
    })
  })

  test('of a list, a page or a step is not a statement', () => {
    const steps = { title: 'Guide', text: 'Remove the cover. Loosen the screws of the cover.' }
    expect(verdictOf('2) Step 3: Loosen the screws of the cover (page 7).', steps).verdict).toBe('supported')
  })
})

describe('another language', () => {
  const opening = {
    title: 'opening-hours.txt',
    text: 'The museum has been open since 12 March 1987. On Sundays it closes at 17:30, and admission for adults is 1,250 yen.',
  }

  test.each([
    'Das Museum ist seit dem 12. März 1987 geöffnet und schließt am Sonntag um 17.30 Uhr.',
    'Le musée est ouvert depuis le 12 mars 1987 et il ferme à 17 h 30 le dimanche.',
    '博物馆自1987年3月12日起开放，成人票价为1250日元。',
    'Музей открыт с 12 марта 1987 года.',
    'المتحف مفتوح منذ ١٢ مارس ١٩٨٧.',
  ])('is supported by its figures: %s', (sentence) => {
    expect(verdictOf(sentence, opening).verdict).toBe('supported')
  })

  test.each([
    'Das Museum ist seit dem 12. Mai 1987 für alle Besucher geöffnet.',
    'Le musée est ouvert depuis le 12 mars 1986 pour tous les visiteurs.',
    '博物馆自1987年3月13日起开放。',
  ])('with another figure is not: %s', (sentence) => {
    expect(verdictOf(sentence, opening).verdict).toBe('unsupported')
  })

  test('without a figure is not judged, because its words are translated', () => {
    expect(verdictOf('Das Museum ist auch am Sonntag für alle geöffnet.', opening).verdict).toBe('unchecked')
  })

  test('of the answer shows how a short sentence is read', () => {
    const claims = readClaims('Sonntags geschlossen.', 'de')
    expect(concludeSupport(claims, [compareClaims(claims, readEvidence(opening))]).verdict).toBe('unchecked')
  })

  test.each([
    [
      'de',
      'Die Gebühr beträgt 1.250,50 Euro.',
      'Für das Jahr beträgt die Gebühr 1250,50 € und ist im März fällig.',
      true,
    ],
    [
      'de',
      'Die Gebühr beträgt 1.250,60 Euro.',
      'Für das Jahr beträgt die Gebühr 1250,50 € und ist im März fällig.',
      false,
    ],
    ['de', 'Das Gremium hat zwölf Mitglieder.', 'Dem Gremium gehören 12 Mitglieder an, die der Rat wählt.', true],
    ['zh', '公司拥有250万名用户。', '截至3月，公司拥有2,500,000名用户。', true],
    ['zh', '公司拥有260万名用户。', '截至3月，公司拥有2,500,000名用户。', false],
  ])('has its own forms of numbers (%s: %s)', (_language, sentence, text, expected) => {
    expect(supports(sentence, { title: '', text })).toBe(expected)
  })
})

test('the same texts give the same result, whatever they contain', () => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      'Bridge ',
      '1',
      '12,5',
      ' ',
      '. ',
      '\n',
      '“',
      '”',
      'May ',
      '3',
      '-',
      '/',
      ':',
      '€',
      '万',
      '½',
      '²',
      '𝒳',
      'ß',
    ),
    maxLength: 200,
  })
  fc.assert(
    fc.property(text, text, (sentence, passage) => {
      const first = verdictOf(sentence, { ...bridge, text: passage })
      expect(first.overlap).toBeGreaterThanOrEqual(0)
      expect(first.overlap).toBeLessThanOrEqual(1)
      expect(verdictOf(sentence, { ...bridge, text: passage })).toEqual(first)
    }),
  )
})

test('a sentence of a passage is supported by it, however its figures are written', () => {
  const amount = fc.integer({ min: 10, max: 9_999_999 })
  const formats = fc.constantFrom('en', 'de', 'fr', 'de-CH')
  fc.assert(
    fc.property(amount, formats, formats, fc.integer({ min: 1, max: 9 }), (value, first, second, more) => {
      const write = (number: number, locale: string) =>
        `The yearly budget of the library is ${number.toLocaleString(locale)} euros.`
      expect(supports(write(value, first), { title: '', text: write(value, second) })).toBe(true)
      expect(supports(write(value + more, first), { title: '', text: write(value, second) })).toBe(false)
    }),
  )
})

describe('a denial', () => {
  test.each([
    ['Dogs are not allowed in the garden. Guide dogs are welcome.', 'Dogs are allowed in the garden.'],
    ['Dogs are forbidden in the garden.', 'Dogs are allowed in the garden.'],
    ['Refunds are possible until the day before.', 'Refunds are not possible until the day before.'],
    ['The cabin lacks running water in winter.', 'The cabin has running water in winter.'],
    ['The pump failed to start after the flood.', 'The pump started after the flood.'],
    ['Hunde sind im Garten nicht erlaubt, Katzen schon.', 'Hunde sind im Garten erlaubt.'],
    ['Im Lesesaal ist das Essen verboten.', 'Das Essen ist im Lesesaal erlaubt.'],
    ['Les chiens ne sont pas admis dans le jardin.', 'Les chiens sont admis dans le jardin.'],
    ['No se permiten perros en el jardín del museo.', 'Se permiten perros en el jardín del museo.'],
    ['I cani non sono ammessi nel giardino.', 'I cani sono ammessi nel giardino.'],
    ['Os cães não são permitidos no jardim.', 'Os cães são permitidos no jardim.'],
    ['Honden zijn niet toegestaan in de tuin.', 'Honden zijn toegestaan in de tuin.'],
    ['Hundar är inte tillåtna i trädgården.', 'Hundar är tillåtna i trädgården.'],
    ['Wprowadzanie psów do ogrodu nie jest dozwolone.', 'Wprowadzanie psów do ogrodu jest dozwolone.'],
    ['Собаки в саду не разрешены.', 'Собаки в саду разрешены.'],
    ['Bu bahçede köpekler için hiç izin yok.', 'Bu bahçede köpekler için izin var.'],
    ['花园里不允许带狗。', '花园里允许带狗。'],
    ['庭に犬を連れて入ることはできません。', '庭に犬を連れて入ることができます。'],
    ['정원에 개를 데리고 들어갈 수 없습니다.', '정원에 개를 데리고 들어갈 수 있습니다.'],
    ['لا يسمح بدخول الكلاب إلى الحديقة.', 'يسمح بدخول الكلاب إلى الحديقة.'],
    ['Chó không được phép vào vườn.', 'Chó được phép vào vườn.'],
  ])('"%s" contradicts the opposite, and not itself', (text, opposite) => {
    const rules = { title: 'x', text }
    expect(verdictOf(opposite, rules)).toMatchObject({ verdict: 'unsupported' })
    expect(verdictOf(text.split(/(?<=[.。])/u)[0]!, rules)).toMatchObject({ verdict: 'supported' })
  })

  test('of something else contradicts nothing', () => {
    const rules = {
      title: 'Rules',
      text: 'Dogs are allowed in the garden. Bicycles are not allowed in the garden or the yard.',
    }
    expect(verdictOf('Dogs are allowed in the garden.', rules).verdict).toBe('supported')
    expect(verdictOf('Bicycles are not allowed in the yard.', rules).verdict).toBe('supported')
    expect(verdictOf('Bicycles are allowed in the yard.', rules)).toMatchObject({ missing: 'negation' })
    expect(verdictOf('Dogs are not only allowed in the garden.', rules).verdict).toBe('supported')
    const cancelling = { title: 'Rules', text: 'You can cancel the order without a fee within 14 days.' }
    expect(verdictOf('You can cancel the order within 14 days.', cancelling).verdict).toBe('supported')
  })
})

describe('a denial that the passage does not share', () => {
  const museum = {
    title: 'Museum',
    text: 'The museum sets its own rules for groups and schools. Group 5 is new. Guests who come late pay the same fee. The hall is not heated, so bring a coat in winter.',
  }

  test.each([
    ['in other words', 'The museum does not set rules for schools that come late.'],
    ['of an absence', 'Late guests pay without the same fee.'],
    ['with a denial of something else next to it', 'Guests who come late never pay a fee in winter.'],
  ])('%s is not supported', (_, sentence) => {
    expect(verdictOf(sentence, museum)).toMatchObject({ verdict: 'unsupported' })
  })

  test.each([
    ['in other words', 'In winter you need a coat because the hall is not heated.'],
    ['with another negation', 'The hall is never heated in winter.'],
    ['and "No." is a number', 'Group No. 5 of the museum sets its own rules for schools.'],
  ])('%s is supported where the passage denies it, too', (_, sentence) => {
    expect(verdictOf(sentence, museum).verdict).toBe('supported')
  })

  test('of one passage does not count against another that denies it', () => {
    const claims = readClaims('The hall of the museum is not heated.')
    const compared = [museum, { title: 'Museum', text: 'New lamps are in the garden.' }].map((passage) =>
      compareClaims(claims, readEvidence(passage)),
    )
    expect(concludeSupport(claims, compared).verdict).toBe('supported')
    expect(concludeSupport(claims, compared.slice(1))).toMatchObject({ missing: 'denial' })
  })
})

describe('a number that is computed from rows', () => {
  const ships = {
    title: 'ships.csv',
    text: 'Ship | Built | No. of decks | Notes\nHeron | 1936 | 12 | sold\nGannet | 1970 | 7 | built for the north\nPetrel | 1951 | 9 | built for the ferry line',
  }

  test.each([
    ['of a column whose name other rows have in their text', 'The year Built of Heron and Petrel differs by 15.'],
    ['of a column of numbers ("No.")', 'Together, Heron and Gannet have a No. of decks of 19.'],
  ])('%s is supported, and a wrong one is not', (_, sentence) => {
    expect(verdictOf(sentence, ships).verdict).toBe('supported')
    expect(verdictOf(sentence.replace(/\d+\.$/, '23.'), ships)).toMatchObject({ missing: 'number' })
  })
})

describe('a row', () => {
  const shop = 'Article | Price | Stock\nPoster A2 matt | 14.90 | 3\nPoster A2 glossy | 24.90 | 8\nMug | 9.50 | 12'
  const table = { title: 'shop.csv', text: shop }
  const list = { title: 'shop.md', text: 'Prices:\n- Poster: 14.90 euros\n- Mug: 9.50 euros\n- Bag: 24.90 euros' }
  const years = { title: 'visitors.csv', text: 'Year | Visitors\n2019 | 1200\n2020 | 800\n2021 | 950' }

  test.each([
    ['The matt A2 poster costs 14.90.', table],
    ['A mug is sold for 9.50, and 12 are in stock.', table],
    ['Posters cost 14.90 euros and mugs 9.50 euros.', list],
    ['In 2019 there were 1,200 visitors and in 2020 there were 800 visitors.', years],
    ['In 2020 there were 800 visitors.', years],
  ])('with its own numbers: %s', (sentence, passage) => {
    expect(verdictOf(sentence, passage)).toMatchObject({ verdict: 'supported' })
  })

  test.each([
    ['The matt A2 poster costs 24.90.', table],
    ['The mug costs 14.90.', table],
    ['The poster costs 24.90 euros.', list],
    ['In 2020 there were 1,200 visitors.', years],
  ])('with those of another one: %s', (sentence, passage) => {
    expect(verdictOf(sentence, passage)).toMatchObject({ verdict: 'unsupported' })
  })
})

describe('a passage in another language', () => {
  const tour = {
    title: 'Führung.md',
    text: 'Die Führung durch das Schloss Neuschwanstein dauert 45 Minuten und kostet seit 2019 genau 17,50 Euro.',
  }

  test('is not checked with one number, and supports several in one sentence', () => {
    expect(verdictOf('The guided tour takes 45 minutes for everyone.', tour).verdict).toBe('unchecked')
    expect(verdictOf('The guided tour takes 45 minutes and costs 17.50 euros for everyone.', tour).verdict).toBe(
      'supported',
    )
    expect(verdictOf('The guided tour takes 50 minutes for everyone.', tour)).toMatchObject({ missing: 'number' })
  })
})

describe('a word with an opposite', () => {
  const rules = {
    title: 'Rules',
    text: 'Dogs are prohibited in the garden. Guests may bring children with a permit. Breakfast is included in the price.',
  }

  test.each([
    ['forbids', 'Dogs are allowed in the garden.', rules],
    ['demands', 'Guests may bring children without a permit.', rules],
    ['includes', 'Breakfast is excluded in the price.', rules],
    [
      'closes',
      'The tower of the castle is open in May.',
      { title: 'R', text: 'In May the tower of the castle is closed.' },
    ],
    [
      'forbids in German',
      'Hunde sind im Garten erlaubt.',
      { title: 'R', text: 'Hunde sind im Garten der Burg verboten.' },
    ],
    [
      'forbids in Spanish',
      'Los perros están permitidos en el jardín.',
      { title: 'R', text: 'Los perros están prohibidos en el jardín.' },
    ],
    [
      'demands in French',
      'La visite est possible sans billet.',
      { title: 'R', text: 'La visite de la tour est possible avec billet.' },
    ],
  ])('is not supported by a passage that %s', (_, sentence, passage) => {
    expect(verdictOf(sentence, passage)).toMatchObject({ verdict: 'unsupported', missing: 'negation' })
  })

  test.each([
    [
      'has the word itself there, too',
      'Dogs are allowed in the garden.',
      'Dogs are prohibited in the house. Dogs are allowed in the garden.',
    ],
    ['denies the opposite', 'Dogs are allowed in the garden.', 'Dogs are not prohibited in the garden of the castle.'],
    [
      'has the opposite in another place',
      'The first bridge opened with a large party.',
      'The first bridge opened with a large party, and the last ferry left without passengers.',
    ],
  ])('is supported by a passage that %s', (_, sentence, text) => {
    expect(verdictOf(sentence, { title: 'Rules', text }).verdict).toBe('supported')
  })
})
