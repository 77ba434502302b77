import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { evaluate } from './calculate-tool.ts'

describe('arithmetic', () => {
  test.each([
    ['0.1 + 0.2', '0.3'],
    ['(1200 - 950) / 950 * 100', '26.315789473684 (rounded)'],
    ['2 ^ 3 ^ 2', '512'],
    ['-2 ^ 2', '-4'],
    ['2 ^ -2', '0.25'],
    ['15% * 80', '12'],
    ['3 × 4 ÷ 6 − 1', '1'],
    ['1e3 + .5', '1000.5'],
    ['round(2.345, 2) + round(-2.5)', '-0.65'],
    ['avg(1, 2, 4) * 3 + max(1, 5) - min(3, 2) + sum(1, 1) + abs(-1)', '13'],
    ['9007199254740993 * 10', '90071992547409930'],
    ['1 / 3 * 3', '1'],
  ])('%s = %s', (expression, value) => {
    expect(evaluate(expression)).toEqual({ value })
  })

  test.each([
    '',
    '1 +',
    '(1',
    '1)',
    '1/0',
    '2^0.5',
    '9^9^9^9',
    '10^100000',
    'x',
    'constructor(1)',
    'toString(1)',
    '1 2',
    '1,2',
    'abs(1, 2)',
    'round(1, 50)',
    '1;2',
    '"1"',
    '('.repeat(400),
    '1e999',
    '2^'.repeat(300) + '1',
    '1'.repeat(900),
  ])('refuses %s with the problem', (expression) => {
    expect(evaluate(expression)).toEqual({ problem: expect.any(String) })
  })

  test('never throws and ends at once, whatever the text', () => {
    const piece = fc.constantFrom('1', '9', '.', '(', ')', '+', '-', '*', '/', '^', '%', ',', 'sum', 'e', ' ')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        const result = evaluate(pieces.join(''))
        expect('value' in result || 'problem' in result).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
