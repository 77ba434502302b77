import { z } from 'zod'
import { lookUp } from '../../../platform/kernel/index.ts'
import { objectSchema, readWith, type Tool } from './tool.ts'

/** Longest expression, UTF-16 units. */
const maximumExpressionLength = 1_000

/** Exact arithmetic. */
export const calculateTool: Tool = {
  definition: {
    name: 'calculate',
    description:
      'Computes an arithmetic expression exactly: + - * / ^, brackets, percent (12%), and the functions abs, min, max, sum, avg, round(x, digits). Write 1234.5, not 1,234.5.',
    parameters: objectSchema({ expression: { type: 'string', description: 'For example (1200 - 950) / 950 * 100' } }, [
      'expression',
    ]),
  },
  source: 'CALCULATOR',
  status: 'COMPUTED',
  read: readWith(
    z.strictObject({ expression: z.string().trim().min(1).max(maximumExpressionLength) }),
    ({ expression }) => ({
      query: expression,
      async run() {
        const result = evaluate(expression)
        return 'problem' in result ? result : { passages: [], note: `${expression} = ${result.value}`, count: 1 }
      },
    }),
  ),
}

/** Arithmetic with fractions, so that decimals and quotients are exact. Pure. */

interface Fraction {
  numerator: bigint
  /** Above 0. */
  denominator: bigint
}

class ArithmeticError extends Error {}

/** Bounds: digits of a number in an intermediate result, nesting, and decimals of a result that does not end. */
const maximumDigits = 300
const maximumDepth = 50
const maximumExponent = 1_000n
const shownDecimals = 12

/** The value as a decimal, rounded to 12 decimals where it has more; or the problem. */
export function evaluate(expression: string): { value: string } | { problem: string } {
  try {
    const parser = createParser(tokenize(expression))
    const value = parser.sum(0)
    parser.end()
    return { value: format(value) }
  } catch (error) {
    if (error instanceof ArithmeticError) return { problem: error.message }
    throw error
  }
}

const tokenPattern =
  /\s*(?:(?<number>\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|\.\d+)|(?<name>[a-z]+)|(?<sign>[-+*/^(),%×÷·−]))/y
const plainSigns: Record<string, string> = { '×': '*', '·': '*', '÷': '/', '−': '-' }

function tokenize(text: string): string[] {
  const tokens: string[] = []
  const trimmed = text.trim().toLowerCase()
  tokenPattern.lastIndex = 0
  while (tokenPattern.lastIndex < trimmed.length) {
    const at = tokenPattern.lastIndex
    const groups = tokenPattern.exec(trimmed)?.groups
    if (!groups) throw new ArithmeticError(`Unexpected character at position ${at + 1} of the expression.`)
    const sign = groups.sign && (plainSigns[groups.sign] ?? groups.sign)
    tokens.push(groups.number ?? groups.name ?? sign!)
  }
  return tokens
}

function createParser(tokens: readonly string[]) {
  let at = 0
  const isNext = (...wanted: string[]) => wanted.includes(tokens[at]!)
  const expectNext = (wanted: string) => {
    if (!isNext(wanted))
      throw new ArithmeticError(
        `\`${wanted}\` is missing${at < tokens.length ? ` before \`${tokens[at]}\`` : ' at the end'}.`,
      )
    at++
  }

  function sum(depth: number): Fraction {
    if (depth > maximumDepth) throw new ArithmeticError(`More than ${maximumDepth} levels of brackets.`)
    let left = product(depth)
    while (isNext('+', '-')) {
      const isMinus = tokens[at++] === '-'
      const right = product(depth)
      left = add(left, isMinus ? negate(right) : right)
    }
    return left
  }

  function product(depth: number): Fraction {
    let left = signed(depth)
    while (isNext('*', '/')) {
      const isQuotient = tokens[at++] === '/'
      const right = signed(depth)
      left = multiply(left, isQuotient ? invert(right) : right)
    }
    return left
  }

  function signed(depth: number): Fraction {
    let isNegative = false
    while (isNext('-', '+')) if (tokens[at++] === '-') isNegative = !isNegative
    const value = raised(depth)
    return isNegative ? negate(value) : value
  }

  function raised(depth: number): Fraction {
    let base = atom(depth)
    while (isNext('%')) {
      at++
      base = multiply(base, { numerator: 1n, denominator: 100n })
    }
    if (!isNext('^')) return base
    at++
    if (depth > maximumDepth) throw new ArithmeticError(`More than ${maximumDepth} powers.`)
    return power(base, signed(depth + 1))
  }

  function atom(depth: number): Fraction {
    const token = tokens[at++]
    if (token === undefined) throw new ArithmeticError('The expression ends too early.')
    if (/^[\d.]/.test(token)) return parseDecimal(token)
    if (token === '(') {
      const value = sum(depth + 1)
      expectNext(')')
      return value
    }
    if (/^[a-z]/.test(token)) return call(token, depth)
    throw new ArithmeticError(`Unexpected \`${token}\`.`)
  }

  function call(name: string, depth: number): Fraction {
    const compute = functionNamed(name)
    expectNext('(')
    const given = [sum(depth + 1)]
    for (; isNext(','); given.push(sum(depth + 1))) at++
    expectNext(')')
    return compute(given)
  }

  return {
    sum,
    end() {
      if (at < tokens.length) throw new ArithmeticError(`Unexpected \`${tokens[at]}\`. Write 1234.5, not 1,234.5.`)
    },
  }
}

function functionNamed(name: string) {
  const found = lookUp(functions, name)
  if (found) return found
  throw new ArithmeticError(`Unknown name \`${name.slice(0, 20)}\`. Functions: ${Object.keys(functions).join(', ')}.`)
}

const functions: Record<string, (given: Fraction[]) => Fraction> = {
  abs: (given) => (only(given, 'abs').numerator < 0n ? negate(given[0]!) : given[0]!),
  min: (given) => given.reduce((one, other) => (isLess(other, one) ? other : one)),
  max: (given) => given.reduce((one, other) => (isLess(one, other) ? other : one)),
  sum: (given) => given.reduce(add),
  avg: (given) => multiply(given.reduce(add), { numerator: 1n, denominator: BigInt(given.length) }),
  round(given) {
    if (given.length > 2) throw new ArithmeticError('round takes a number and a number of digits.')
    const digits = given[1] ?? { numerator: 0n, denominator: 1n }
    if (digits.denominator !== 1n || digits.numerator < 0n || digits.numerator > 20n) {
      throw new ArithmeticError('The digits of round must be a whole number from 0 to 20.')
    }
    const scale = 10n ** digits.numerator
    return reduce(roundHalfAway(multiply(given[0]!, { numerator: scale, denominator: 1n })), scale)
  },
}

function only(given: readonly Fraction[], name: string): Fraction {
  if (given.length !== 1) throw new ArithmeticError(`${name} takes one number.`)
  return given[0]!
}

function parseDecimal(text: string): Fraction {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', decimals = ''] = mantissa.split('.')
  if (whole.length + decimals.length + Math.abs(Number(exponent)) > maximumDigits) throw tooLarge()
  const shift = Number(exponent) - decimals.length
  const digits = BigInt(whole + decimals || '0')
  return shift >= 0 ? reduce(digits * 10n ** BigInt(shift), 1n) : reduce(digits, 10n ** BigInt(-shift))
}

const tooLarge = () => new ArithmeticError(`A number has more than ${maximumDigits} digits.`)
const limit = 10n ** BigInt(maximumDigits)

function reduce(numerator: bigint, denominator: bigint): Fraction {
  let [left, right] = [numerator < 0n ? -numerator : numerator, denominator]
  while (right !== 0n) [left, right] = [right, left % right]
  const divisor = left === 0n ? 1n : left
  const reduced = { numerator: numerator / divisor, denominator: denominator / divisor }
  if (reduced.numerator > limit || reduced.numerator < -limit || reduced.denominator > limit) throw tooLarge()
  return reduced
}

const negate = ({ numerator, denominator }: Fraction) => ({ numerator: -numerator, denominator })
const add = (one: Fraction, other: Fraction) =>
  reduce(one.numerator * other.denominator + other.numerator * one.denominator, one.denominator * other.denominator)
const multiply = (one: Fraction, other: Fraction) =>
  reduce(one.numerator * other.numerator, one.denominator * other.denominator)
const isLess = (one: Fraction, other: Fraction) => one.numerator * other.denominator < other.numerator * one.denominator

function invert({ numerator, denominator }: Fraction): Fraction {
  if (numerator === 0n) throw new ArithmeticError('Division by zero.')
  return numerator < 0n
    ? { numerator: -denominator, denominator: -numerator }
    : { numerator: denominator, denominator: numerator }
}

function power(base: Fraction, exponent: Fraction): Fraction {
  const { numerator: times, denominator } = exponent
  if (denominator !== 1n) throw new ArithmeticError('Exponents must be whole numbers.')
  if (times > maximumExponent || times < -maximumExponent)
    throw new ArithmeticError(`Exponents are at most ${maximumExponent}.`)
  const factor = times < 0n ? invert(base) : base
  let result: Fraction = { numerator: 1n, denominator: 1n }
  // `reduce` stops the growth at each step.
  for (let left = times < 0n ? -times : times; left > 0n; left--) result = multiply(result, factor)
  return result
}

function roundHalfAway({ numerator, denominator }: Fraction): bigint {
  const positive = numerator < 0n ? -numerator : numerator
  const rounded = (2n * positive + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

function format(value: Fraction): string {
  const scale = 10n ** BigInt(shownDecimals)
  const scaled = roundHalfAway({ numerator: value.numerator * scale, denominator: value.denominator })
  const isExact = (value.numerator * scale) % value.denominator === 0n
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(shownDecimals + 1, '0')
  const decimals = digits.slice(-shownDecimals).replace(/0+$/, '')
  const whole = digits.slice(0, -shownDecimals)
  const text = `${scaled < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`
  return isExact ? text : `${text} (rounded)`
}
