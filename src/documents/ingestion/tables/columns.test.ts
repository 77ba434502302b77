import { describe, expect, test } from 'vitest'
import { checkStatement } from './check-statement.ts'
import { planColumns } from './columns.ts'
import { chooseDayOrder, parseDate } from './dates.ts'
import { chooseNumberFormat, parseNumber } from './numbers.ts'

describe('numbers', () => {
  test.each([
    ['1,234.5', 1234.5],
    ['-3', -3],
    ['–7', -7],
    ['+23', 23],
    ['(1,500)', -1500],
    ['$1,234.50', 1234.5],
    ['-$5', -5],
    ['12.5%', 12.5],
    ['1 234 567', 1_234_567],
    ["1'000", 1000],
    ['1,00,000', 100_000],
    ['66,623[1]', 66_623],
    ['40 (est.)', 40],
    ['14*', 14],
    ['1.5e3', 1500],
    ['.5', 0.5],
    ['USD 20', 20],
    ['20 €', 20],
  ])('with a decimal point: %s', (text, value) => {
    expect(parseNumber(text, { decimal: '.' })).toBe(value)
  })

  test.each([
    '1.234,5',
    '1.2.3',
    '12-14',
    '3rd',
    'SS1',
    '10:30',
    '2024-01-31',
    '1,2',
    '1,23,4',
    '',
    '-',
    '1 2',
    'x'.repeat(1_000),
  ])('are not read from: %s', (text) => {
    expect(parseNumber(text, { decimal: '.' })).toBeNull()
  })

  test('have a decimal comma only where a column shows it', () => {
    expect(chooseNumberFormat(['1.234,50', '7,5'])).toEqual({ decimal: ',' })
    expect(parseNumber('1.234,50', { decimal: ',' })).toBe(1234.5)
    expect(chooseNumberFormat(['1,234', '7.5'])).toEqual({ decimal: '.' })
    expect(chooseNumberFormat(['1,234', '5,678'])).toEqual({ decimal: '.' })
  })
})

describe('dates', () => {
  test.each([
    ['2024-02-29', '2024-02-29'],
    ['2024-02-30', null],
    ['March 5, 2001', '2001-03-05'],
    ['5 Sept 2001', '2001-09-05'],
    ['31.12.1999', '1999-12-31'],
    ['12/31/1999', null],
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
