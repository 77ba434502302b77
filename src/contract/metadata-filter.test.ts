import { describe, expect, it } from 'vitest'
import { readValue } from './validation.ts'
import { metadataFilterSchema, readFilterText, restrictsField } from './metadata-filter.ts'

const read = (value: unknown) => readValue(metadataFilterSchema, value, 'the filter')
const problemOf = (value: unknown) => {
  const result = read(value)
  return 'problem' in result ? result.problem : null
}

describe('a filter', () => {
  it.each([
    { customer: 'acme' },
    { customer: ['acme', 'corvo'], year: { gte: 2024, lt: 2026 } },
    { published: true, date: { gt: '2024-01-01' }, 'a name with.dots': 1.5 },
    { or: [{ customer: 'acme' }, { and: [{ public: true }, { not: { language: 'de' } }] }] },
  ])('%j is valid and unchanged', (filter) => expect(read(filter)).toEqual({ value: filter }))

  const deep = { and: [{ or: [{ and: [{ or: [{ not: { a: 1 } }] }] }] }] }
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}`, 1]))
  it.each<[string, unknown, RegExp]>([
    ['', 'acme', /^the filter must be a JSON object/],
    ['', {}, /at least one field/],
    ['', [], /JSON object/],
    ['customer', { customer: null }, /a string, a number, true or false/],
    ['customer', { customer: [] }, /1 to 100 values/],
    ['customer.1', { customer: ['acme', {}] }, /a string/],
    ['customer', { customer: 'x'.repeat(501) }, /at most 500 characters/],
    ['customer', { customer: 'x\u0000' }, /U\+0000/],
    ['year.gte', { year: { gte: true } }, /a string or a number/],
    ['year', { year: { $gte: 1 } }, /`gt`, `gte`, `lt` or `lte`, not `\$gte`/],
    ['year', { year: {} }, /must have `gt`/],
    ['year', { year: 2 ** 60 }, /9007199254740991/],
    ['$and', { $and: [] }, /without `\$`/],
    ['or', { or: [] }, /1 to 100 filters/],
    ['or.1.x', { or: [{ a: 1 }, { x: null }] }, /`or.1.x` must be/],
    ['not', { not: [] }, /JSON object/],
    ['and.0.or.0.and.0.or.0.not', deep, /at most 4 levels/],
    ['f50', many, /at most 50 conditions/],
    ['', { '': 1 }, /name of 1 to 200 characters/],
  ])('with a wrong %s is refused with its place and the limit: %j', (param, value, message) => {
    const problem = problemOf(value)!
    expect(problem.param).toBe(param)
    expect(problem.message).toMatch(message)
  })

  it('as text is read once, within its length', () => {
    expect(readFilterText('{"a": 1}')).toEqual({ filter: { a: 1 } })
    expect(readFilterText('{"a": 1')).toMatchObject({ problem: { path: [], message: expect.stringContaining('JSON') } })
    expect(readFilterText(JSON.stringify({ a: Array(100).fill('x'.repeat(400)) }))).toMatchObject({
      problem: { message: expect.stringContaining('8000') },
    })
  })

  it('restricts a field only if each document that it lets through has one of given values there', () => {
    const restricts = (filter: Parameters<typeof restrictsField>[0]) => restrictsField(filter, 'customer')
    expect(restricts({ customer: 'acme' })).toBe(true)
    expect(restricts({ customer: ['acme', 'corvo'], year: 1 })).toBe(true)
    expect(restricts({ and: [{ year: 1 }, { customer: 'acme' }] })).toBe(true)
    expect(restricts({ or: [{ customer: 'acme' }, { customer: 'corvo' }] })).toBe(true)
    expect(restricts({ or: [{ customer: 'acme' }, { year: 1 }] })).toBe(false)
    expect(restricts({ not: { customer: 'acme' } })).toBe(false)
    expect(restricts({ customer: { gte: '' } })).toBe(false)
    expect(restricts({ year: 1 })).toBe(false)
  })
})
