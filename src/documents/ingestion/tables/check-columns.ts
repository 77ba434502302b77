import type { SqlColumn } from './columns.ts'

interface Token {
  kind: 'name' | 'text' | 'number' | 'sign'
  /** Of a name: without quotes, in lower case. Of a text: without quotes. */
  text: string
}

const tokenPattern =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<text>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])|(?<number>\d[\w.]*|\.\d[\w.]*)|(?<name>[\p{L}_][\p{L}\p{M}\p{N}_$]*)|(?<sign>\|\||<=|>=|<>|!=|==|->>?|\S)/gu

const comparisons = new Set(['=', '==', '<>', '!=', '<', '>', '<=', '>=', 'is', 'like', 'glob', 'not', 'in', 'between'])
const arithmetic = new Set(['+', '-', '*', '/', '%'])
/** Functions of numbers, which take a text as its leading digits. */
const numberFunctions = new Set(
  'sum total avg abs round ceil ceiling floor trunc sqrt power pow exp ln log log10 log2 mod sign median percentile percentile_cont percentile_disc'.split(
    ' ',
  ),
)
const extremes = new Set(['max', 'min'])
const numberTypes = /^(?:real|int|integer|numeric|decimal|float|double|number|bigint)$/

/**
 * Where SQLite would calculate with a text, compare a number with a text or a text with a number, it gives a wrong result without an error.
 * Returns what to write instead, for the model; null where nothing of this kind was found. Linear in the statement.
 */
export function checkColumns(sql: string, columns: readonly SqlColumn[]): string | null {
  const byName = new Map<string, SqlColumn | null>()
  for (const column of columns) {
    const key = column.name.toLowerCase()
    const other = byName.get(key)
    // Tables may have columns of one name and different kinds: only the running statement knows which one is meant.
    byName.set(key, other !== undefined && other?.kind !== column.kind ? null : column)
  }
  const tokens = readTokens(sql)
  for (const at of tokens.keys()) {
    const column = columnAt(tokens, at, byName)
    const problem = column && problemOf(tokens, at, column, byName)
    if (problem) return problem
  }
  return null
}

function readTokens(sql: string): Token[] {
  const tokens: Token[] = []
  for (const { groups } of sql.matchAll(tokenPattern)) {
    const { text, quoted, number, name, sign } = groups!
    if (text !== undefined) tokens.push({ kind: 'text', text: text.slice(1, -1).replaceAll("''", "'") })
    else if (quoted !== undefined)
      tokens.push({ kind: 'name', text: quoted.slice(1, -1).replaceAll('""', '"').toLowerCase() })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (name !== undefined) tokens.push({ kind: 'name', text: name.toLowerCase() })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
  }
  return tokens
}

/** The column that the name at this place is, not followed by `.` or `(` and not behind `as`. */
function columnAt(tokens: readonly Token[], at: number, byName: ReadonlyMap<string, SqlColumn | null>) {
  const token = tokens[at]!
  const next = tokens[at + 1]?.text
  if (token.kind !== 'name' || next === '.' || next === '(' || tokens[at - 1]?.text === 'as') return null
  return byName.get(token.text) ?? null
}

function problemOf(
  tokens: readonly Token[],
  at: number,
  column: SqlColumn,
  byName: ReadonlyMap<string, SqlColumn | null>,
): string | null {
  // `t1.name`: the tokens around it begin before the table.
  const first = tokens[at - 1]?.text === '.' ? at - 2 : at
  const { left, right } = outsideOf(tokens, first, at)
  const before = tokens[left]
  const after = tokens[right]
  const caller =
    tokens[left]?.text === '('
      ? tokens[left - 1]?.text
      : before?.text === 'distinct'
        ? tokens[left - 2]?.text
        : undefined
  const advice = adviceFor(column, byName)
  if (column.kind === 'text' || column.kind === 'mixed' || column.kind === 'date' || column.kind === 'time') {
    const isOperand = (token: Token | undefined) => token?.kind === 'sign' && arithmetic.has(token.text)
    const isStar = before?.text === '*' && !isValueBefore(tokens, left)
    if ((isOperand(before) && !isStar) || isOperand(after))
      return `${column.name} is ${kindName(column)}, not a number. ${advice}`
    if (caller !== undefined && numberFunctions.has(caller))
      return `${caller}() of ${column.name}, which is ${kindName(column)}. ${advice}`
    if (caller === 'cast' && after?.text === 'as' && numberTypes.test(tokens[right + 1]?.text ?? ''))
      return `A cast of ${column.name}, which is ${kindName(column)}, counts other characters as 0. ${advice}`
  }
  if (column.kind === 'mixed') {
    const isOrder = before?.text === 'by' && tokens[left - 1]?.text === 'order'
    if (isOrder || (caller !== undefined && extremes.has(caller)))
      return `${column.name} is ${kindName(column)}, and texts have no order of numbers. ${advice}`
  }
  const other = comparedWith(tokens, left, right)
  return other ? compare(column, other, advice) : null
}

/** The places outside of brackets that hold nothing but the column: `((price))`. */
function outsideOf(tokens: readonly Token[], first: number, last: number): { left: number; right: number } {
  let left = first - 1
  let right = last + 1
  while (tokens[left]?.text === '(' && tokens[right]?.text === ')' && tokens[left - 1]?.kind !== 'name') {
    left -= 1
    right += 1
  }
  return { left, right }
}

/** Whether `*` at this place multiplies: a value is before it. In `count(*)` and `select *` none is. */
function isValueBefore(tokens: readonly Token[], star: number): boolean {
  const token = tokens[star - 1]
  return (
    token !== undefined &&
    (token.kind !== 'sign' || token.text === ')') &&
    !/^(?:select|distinct|all)$/.test(token.text)
  )
}

/** The literals that the column is compared with. */
function comparedWith(
  tokens: readonly Token[],
  left: number,
  right: number,
): { operator: string; literals: Token[] } | null {
  let place = right
  while (tokens[place] && /^(?:is|not)$/.test(tokens[place]!.text)) place += 1
  const operator = tokens[place]?.text ?? ''
  const isNegated = place > right
  const literalsFrom = (from: number): Token[] => {
    const literals: Token[] = []
    for (let at = from; tokens[at] && (tokens[at]!.kind !== 'sign' || /^[(,+-]$/.test(tokens[at]!.text)); at++) {
      const token = tokens[at]!
      if (token.kind === 'name' && token.text !== 'and') break
      if (token.kind === 'text' || token.kind === 'number') literals.push(token)
      if (operator !== 'in' && operator !== 'between' && literals.length === 1) break
    }
    return literals
  }
  if (comparisons.has(operator)) return { operator, literals: literalsFrom(place + 1) }
  if (isNegated) return { operator: 'is', literals: literalsFrom(place) }
  const before = tokens[left]
  const literal = tokens[left - 1]
  if (
    before?.kind === 'sign' &&
    comparisons.has(before.text) &&
    literal &&
    (literal.kind === 'text' || literal.kind === 'number')
  )
    return { operator: before.text, literals: [literal] }
  return null
}

function compare(
  column: SqlColumn,
  { operator, literals }: { operator: string; literals: readonly Token[] },
  advice: string,
): string | null {
  for (const { kind, text } of literals) {
    if (kind === 'number') {
      // SQLite compares the number as a text: right for equality, and for the order of dates and their years.
      const isText = column.kind === 'text' || column.kind === 'mixed' || column.kind === 'time'
      if (isText && (/^[<>]/.test(operator) || operator === 'between'))
        return `${column.name} is ${kindName(column)} and is compared with the number ${text}. ${advice}`
      continue
    }
    if (column.kind === 'number' || column.kind === 'boolean') {
      const isNumber = text.trim() !== '' && Number.isFinite(Number(text))
      if (!isNumber)
        return `${column.name} is ${kindName(column)} and is compared with the text '${text.slice(0, 60)}'. ${advice}`
    }
    const isPattern = operator === 'like' || operator === 'glob'
    if (column.kind === 'date' && !isPattern && !/^\d{4}(?:-\d{2}(?:-\d{2}.*)?)?$/.test(text))
      return `${column.name} is ${kindName(column)} and is compared with '${text.slice(0, 60)}'. ${advice}`
  }
  return null
}

function kindName({ kind }: SqlColumn): string {
  if (kind === 'date') return 'a date as text, YYYY-MM-DD'
  if (kind === 'time') return 'a time as text, HH:MM'
  if (kind === 'boolean') return 'yes or no, as 1 or 0'
  if (kind === 'mixed') return 'text and numbers'
  return kind === 'number' ? 'a number' : 'text'
}

function adviceFor({ name, kind }: SqlColumn, byName: ReadonlyMap<string, SqlColumn | null>): string {
  const named = (suffix: string) => byName.get(`${name}_${suffix}`.toLowerCase())
  const mixed = named('number') ?? named('date') ?? named('time') ?? named('flag')
  if (kind === 'mixed' && mixed) return `Use ${mixed.name}; other cells are NULL there.`
  if (kind === 'date' || kind === 'time') return 'Use the functions of dates and times, such as julianday().'
  const text = named('text')
  if (kind === 'number' || kind === 'boolean')
    return text ? `Compare with a number, or use ${text.name}.` : 'Compare with a number.'
  return 'Extract the number first, such as cast(replace(…) as real).'
}
