import type { DatabaseSync } from 'node:sqlite'

/** Numbers of SQLite arrive as bigint or number. */
type Given = number | bigint | string | Uint8Array | null

interface Sum {
  count: number
  whole: bigint
  /** Null while all numbers are whole. */
  real: number | null
}

/**
 * Replaces sum, total and avg, for which SQLite counts a text as its leading digits, often 0. Here a text is a problem of the statement, which
 * `takeProblem` returns once. Whole numbers are added exactly. https://sqlite.org/lang_aggfunc.html
 */
export function addStrictSums(database: DatabaseSync): { takeProblem: () => string | null } {
  let problem: string | null = null
  // An error inside of a function of a running statement would be hidden by Node.js.
  const report = (name: string, text: unknown) => {
    problem ??= `${name}() of the text '${String(text).slice(0, 40)}', which is no number.`
  }
  const add = (name: string, result: (sum: Sum) => number | bigint | null) =>
    database.aggregate(name, {
      useBigIntArguments: true,
      start: () => ({ count: 0, whole: 0n, real: null }) as never,
      step: ((sum: Sum, value: Given) => change(sum, value, 1, (text) => report(name, text))) as never,
      inverse: ((sum: Sum, value: Given) => change(sum, value, -1, (text) => report(name, text))) as never,
      result: ((sum: Sum) => result(sum)) as never,
    })
  add('sum', (sum) => (sum.count === 0 ? null : sum.real === null ? toSafe(sum.whole) : valueOf(sum)))
  add('total', valueOf)
  add('avg', (sum) => (sum.count === 0 ? null : valueOf(sum) / sum.count))
  return {
    takeProblem() {
      const taken = problem
      problem = null
      return taken
    },
  }
}

function change(sum: Sum, value: Given, sign: 1 | -1, report: (text: unknown) => void): Sum {
  if (value === null) return sum
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    report(value)
    return sum
  }
  const whole = typeof value === 'bigint' ? sum.whole + BigInt(sign) * value : sum.whole
  const real = typeof value === 'bigint' ? sum.real : (sum.real ?? 0) + sign * value
  return { count: sum.count + sign, whole, real }
}

const valueOf = ({ whole, real }: Sum) => Number(whole) + (real ?? 0)

/** SQLite has 64 bits. */
const toSafe = (whole: bigint) => (BigInt.asIntN(64, whole) === whole ? whole : Number(whole))
