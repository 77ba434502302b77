import { expect, it } from 'vitest'
import { describeCondition, readAddressFilter, readCondition } from './metadata-conditions.ts'

it('reads what a person types into a condition, and shows it', () => {
  const shown = (text: string) => {
    const read = readCondition(text)
    return read && [read.condition, describeCondition(read.field, read.condition)]
  }
  expect(shown('customer = acme')).toEqual([['acme'], 'customer = acme'])
  expect(shown('customer: a = b')).toEqual([['a = b'], 'customer = a = b'])
  expect(shown('year=2024')).toEqual([['2024', 2024], 'year = 2024'])
  expect(shown('year >= 2024')).toEqual([{ gte: 2024 }, 'year ≥ 2024'])
  expect(shown('date<2024-05-01')).toEqual([{ lt: '2024-05-01' }, 'date < 2024-05-01'])
  expect(shown('published = true')).toEqual([['true', true], 'published = true'])
  for (const text of ['', 'customer', '= acme', 'customer =', 'or = x', '$x = 1']) expect(shown(text)).toBeUndefined()
})

it('takes from an address only filters that chips can show', () => {
  expect(readAddressFilter({ customer: ['acme'] })).toEqual({ customer: ['acme'] })
  for (const value of [undefined, 'x', {}, { customer: null }, { not: { a: 1 } }]) {
    expect(readAddressFilter(value)).toBeUndefined()
  }
})
