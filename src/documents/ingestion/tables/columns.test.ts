import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkStatement } from './table-database.ts'
import { planColumns } from './columns.ts'
import { chooseDayOrder, parseDate, parseTime } from './dates.ts'
import { findNumberFormat, readNumber } from './numbers.ts'

describe('numbers', () => {
  const point = { decimal: '.' } as const
  const comma = { decimal: ',' } as const

  test.each([
    ['1,234.5', 1234.5, ''],
    ['-3', -3, ''],
    ['–7', -7, ''],
    ['+23', 23, ''],
    ['(1,500)', -1500, ''],
    ['1,500-', -1500, ''],
    ['$1,234.50', 1234.5, '$'],
    ['-$5', -5, '$'],
    ['$-5', -5, '$'],
    ['(US$ 5)', -5, 'US$'],
    ['R$ 12', 12, 'R$'],
    ['12.5%', 12.5, '%'],
    ['12 %', 12, '%'],
    ['1 234 567', 1_234_567, ''],
    ['1\u202f234\u00a0567', 1_234_567, ''],
    ["1'000", 1000, ''],
    ["CHF 1'330.–", 1330, 'CHF'],
    ['1,00,000', 100_000, ''],
    ['1.234,5', 1234.5, ''],
    ['66,623[1]', 66_623, ''],
    ['40 (est.)', 40, ''],
    ['14*', 14, ''],
    ['1.5e3', 1500, ''],
    ['.5', 0.5, ''],
    ['USD 20', 20, 'USD'],
    ['20 €', 20, '€'],
    ['1,330.00 USD', 1330, 'USD'],
    ['3.5 kg', 3.5, 'kg'],
    ['25 °C', 25, '°C'],
    ['1.3k', 1300, ''],
    ['$5m', 5_000_000, '$'],
    ['5 m', 5, 'm'],
    ['1.2 Mio. €', 1_200_000, '€'],
    ['4 bn', 4e9, ''],
    ['١٢٬٣٤٥٫٦', 12_345.6, ''],
    ['１２３', 123, ''],
  ])('with a decimal point: %s', (text, value, unit) => {
    expect(readNumber(text, point)).toEqual({ value, unit })
  })

  test.each([
    ['249,50', 249.5],
    ['1.330,50 €', 1330.5],
    ['1.330', 1330],
    ['12,5 %', 12.5],
    ['-0,5', -0.5],
    ['1,330.50', 1330.5],
  ])('with a decimal comma: %s', (text, value) => {
    expect(readNumber(text, comma)?.value).toBe(value)
  })

  test.each([
    '1.2.3',
    '12-14',
    'SS1',
    '10:30',
    '2024-01-31',
    '1/2',
    '1,2',
    '1,23,4',
    '(5',
    '',
    '-',
    '1 2',
    '1e999',
    'x'.repeat(1_000),
  ])('are not read from: %s', (text) => {
    expect(readNumber(text, point)).toBeNull()
  })

  test('have the decimal separator that most cells of the column prove', () => {
    expect(findNumberFormat(['1.234,50', '7,5'])).toEqual(comma)
    expect(findNumberFormat(['1,234', '7.5'])).toEqual(point)
    expect(findNumberFormat(['1.234.567', '890'])).toEqual(comma)
    expect(findNumberFormat(['0.125', '3.250'])).toEqual(point)
    expect(findNumberFormat(['1.330 €', '2.450 €'])).toEqual(comma)
    expect(findNumberFormat(['1,234', '5,678'])).toBeUndefined()
  })
})

describe('dates', () => {
  test.each([
    ['2024-02-29', '2024-02-29'],
    ['2024-02-30', null],
    ['2024/2/9', '2024-02-09'],
    ['2024-02-29T10:30:00Z', '2024-02-29 10:30:00'],
    ['2024-02-29 00:00:00', '2024-02-29'],
    ['March 5, 2001', '2001-03-05'],
    ['Mon, Mar 5, 2001', '2001-03-05'],
    ['5 Sept 2001', '2001-09-05'],
    ['5-Sep-2001', '2001-09-05'],
    ['31.12.1999', '1999-12-31'],
    ['31. Dezember 1999', '1999-12-31'],
    ['3. März 1999', '1999-03-03'],
    ['1er août 2020', '2020-08-01'],
    ['7 de enero de 2020', '2020-01-07'],
    ['5 мая 2020 ', '2020-05-05'],
    ['31.12.99', '1999-12-31'],
    ['31.12.24', '2024-12-31'],
    ['Jan 2024', '2024-01'],
    ['12/31/1999', null],
    ['12 apples 2024', null],
    ['2024', null],
  ])('%s', (text, date) => {
    expect(parseDate(text, 'day')).toBe(date)
  })

  test('with an order that no cell shows are not read', () => {
    expect(chooseDayOrder(['01/02/2024', '03/04/2024'])).toBeNull()
    expect(chooseDayOrder(['01/02/2024', '13/04/2024'])).toBe('day')
    expect(chooseDayOrder(['01/02/2024', '03/14/2024'])).toBe('month')
    expect(parseDate('01/02/2024', null)).toBeNull()
  })

  test.each([
    ['9:05', '09:05'],
    ['12:00 am', '00:00'],
    ['1:15 p.m.', '13:15'],
    ['10:30:05', '10:30:05'],
    ['14:30 Uhr', '14:30'],
    ['13:00 pm', null],
    ['10:75', null],
    ['10', null],
  ])('and times: %s', (text, time) => {
    expect(parseTime(text, 2)).toBe(time)
  })
})

describe('columns', () => {
  const plan = (cells: string[], header = 'Value') =>
    planColumns(
      [header],
      cells.map((cell) => [cell]),
    )
  const shown = (cells: string[]) =>
    plan(cells)
      .slice(1)
      .map(({ name, kind, note }) => [name, kind, note])
  const values = (cells: string[]) => cells.map((cell, row) => plan(cells)[1]!.value([cell], row + 1))

  test('have numbers under their plain name where nearly all cells are numbers, and the text next to them', () => {
    expect(shown(['$1,330', '($20.50)', 'n/a', ''])).toEqual([
      ['Value', 'number', 'in $'],
      ['Value_text', 'text', ''],
    ])
    expect(values(['$1,330', '($20.50)', 'n/a', ''])).toEqual([1330, -20.5, null, null])
    expect(shown(['1', '2', '3', '4', 'sold out'])).toEqual([
      ['Value', 'number', '1 of 5 cells are no numbers: see Value_text'],
      ['Value_text', 'text', ''],
    ])
    expect(shown(['8.5', '24', '-1'])).toEqual([['Value', 'number', '']])
  })

  test('that are mixed keep their text and report it', () => {
    expect(shown(['12', '7', 'few', 'many'])).toEqual([
      ['Value', 'mixed', 'mixed: 2 of 4 cells are numbers, in Value_number'],
      ['Value_number', 'number', '2 of 4 cells are no numbers: see Value_text'],
    ])
  })

  test('of identifiers, of different units and of words stay text', () => {
    for (const cells of [
      ['007', '12', '130'],
      ['2 kg', '900 g', '3 l'],
      ['1st', '2nd', '3rd'],
      ['12a', '14b', '3c'],
    ]) {
      expect(shown(cells), cells.join()).toEqual([['Value', 'text', '']])
    }
    expect(values(['2 kg', '0.9 kg', '3 kg'])).toEqual([2, 0.9, 3])
  })

  test('that prove no decimal separator have that of the other columns', () => {
    const rows = [
      ['1.330', '2,50'],
      ['2.450', '7,25'],
    ]
    expect(planColumns(['a', 'b'], rows).map(({ value }) => value(rows[0]!, 1))).toEqual([
      1,
      1330,
      '1.330',
      2.5,
      '2,50',
    ])
  })

  /** Amounts with two decimals, written as people write them in one column. */
  const forms: Record<string, (value: number) => string> = {
    plain: (value) => value.toFixed(2),
    dollars: (value) => `${value < 0 ? '-' : ''}$${grouped(value, ',', '.')}`,
    'accounting brackets': (value) => (value < 0 ? `($${grouped(value, ',', '.')})` : `$${grouped(value, ',', '.')}`),
    'euros after the number': (value) => `${value < 0 ? '-' : ''}${grouped(value, '.', ',')} €`,
    'decimal comma': (value) => `${value < 0 ? '-' : ''}${Math.abs(value).toFixed(2).replace('.', ',')}`,
    'French spaces': (value) => `${value < 0 ? '−' : ''}${grouped(value, '\u202f', ',')}`,
    'Swiss apostrophes': (value) => `CHF ${value < 0 ? '-' : ''}${grouped(value, "'", '.')}`,
    'minus at the end': (value) => `${grouped(value, ',', '.')}${value < 0 ? '-' : ''}`,
    percent: (value) => `${value.toFixed(2)} %`,
    'percent with a comma': (value) => `${value.toFixed(2).replace('.', ',')}%`,
    'code after the number': (value) => `${value < 0 ? '-' : ''}${grouped(value, ',', '.')} USD`,
    pounds: (value) => `${value < 0 ? '–' : ''}£${grouped(value, ',', '.')}`,
    'unit of measure': (value) => `${value.toFixed(2)} kg`,
    'Arabic digits': (value) =>
      value.toFixed(2).replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit))),
    notes: (value) => `${value.toFixed(2)}[2]`,
  }
  function grouped(value: number, group: string, decimal: string): string {
    const [whole = '', fraction = ''] = Math.abs(value).toFixed(2).split('.')
    return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, group)}${decimal}${fraction}`
  }
  test.each(Object.keys(forms))('have the numbers of any amounts written in one form: %s', (form) => {
    const amounts = fc.array(fc.integer({ min: -99_999_999, max: 99_999_999 }), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(amounts, (cents) => {
        const written = cents.map((value) => forms[form]!(value / 100))
        expect(values(written)).toEqual(cents.map((value) => value / 100))
      }),
      { numRuns: 60 },
    )
  })

  test('have dates, times and booleans under their plain name', () => {
    expect(values(['31/01/2024', '05/02/2024'])).toEqual(['2024-01-31', '2024-02-05'])
    expect(values(['9:05', '14:30'])).toEqual(['09:05', '14:30'])
    expect(values(['Ja', 'Nein', 'ja'])).toEqual([1, 0, 1])
    expect(shown(['yes', 'no'])[0]).toEqual(['Value', 'boolean', '1 is yes, 0 is no'])
    expect(shown(['yes', 'yes'])).toEqual([['Value', 'text', '']])
  })
})

test('columns have unique names that need no quotes, also without a header or with cells beyond it', () => {
  const names = (header: string[] | undefined, width: number) =>
    planColumns(header, [Array<string>(width).fill('x')]).map(({ name }) => name)
  expect(names(['Name', 'name', '', 'Order', '2024', 'Größe (m²)', 'row_number', '"; drop table t1'], 9)).toEqual([
    'row_number',
    'Name',
    'name_2',
    'column_3',
    'Order_',
    'c_2024',
    'Größe_m2',
    'row_number_2',
    'drop_table_t1',
    'column_9',
  ])
  expect(names(undefined, 2)).toEqual(['row_number', 'column_1', 'column_2'])
})

test('a statement is one SELECT: separators count outside of quotes and comments only', () => {
  expect(checkStatement('select \';\' as "a;b" /* ; */ -- ;\n from t1 ; ')).toHaveProperty('sql')
  for (const sql of ["select 1; select ';'", 'update t1 set a = 1', "select '", ' ', 'selection', 'select 1;;']) {
    const read = checkStatement(sql)
    if (sql === "select '") expect(read).toHaveProperty('sql')
    else expect(read).toHaveProperty('problem')
  }
})
