import type { z } from 'zod'

/** The first error of a value: the field in dotted form (`messages.0.content`, '' for the whole value) and a sentence. */
export interface Problem {
  param: string
  message: string
}

type RawIssue = z.core.$ZodRawIssue

/**
 * Parses `value` with a schema. A problem is one sentence that names the field and the limit; `whole` names
 * the value itself (`the request body`).
 */
export function readValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole: string,
): { value: z.output<Schema> } | { problem: Problem } {
  const read = readFields(schema, value)
  if ('value' in read) return read
  const { param, words } = read.problem
  return { problem: { param, message: sentence(param === '' ? whole : `\`${param}\``, words) } }
}

/** The first error of a value: `sentence` makes a sentence of a name of the field and the words. */
export interface FieldProblem {
  param: string
  words: string
}

/** As `readValue`, for callers that name the field in another way. */
export function readFields<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { value: z.output<Schema> } | { problem: FieldProblem } {
  const parsed = schema.safeParse(value, { error: describeIssue })
  if (parsed.success) return { value: parsed.data }
  const { path, message } = deepestIssue(parsed.error.issues[0]!)
  return { problem: { param: path.join('.'), words: message } }
}

interface Issue {
  path: PropertyKey[]
  message: string
}

/**
 * The alternative of a union with the deepest path: `messages.0.content.2.text` is more useful than `messages.0.content`. Of equal
 * paths the alternative with the fewest problems, which is the one that the client meant.
 */
function deepestIssue(issue: z.core.$ZodIssue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const furthest = issue.errors
    .toSorted((left, right) => left.length - right.length)
    .flatMap((alternative) => alternative.slice(0, 1))
    .filter((inner) => inner.path.length > 0 || inner.code !== 'invalid_type')
    .sort((left, right) => right.path.length - left.path.length)[0]
  if (furthest === undefined) return issue
  const inner = deepestIssue(furthest)
  return { path: [...issue.path, ...inner.path], message: inner.message }
}

/** Messages such as `must be …` and `is required` become a sentence about the field; other messages follow a colon. */
export function sentence(field: string, words: string): string {
  const joined = /^(?:is|must|has|needs) /.test(words) ? `${field} ${words}` : `${field}: ${words}`
  return /[.!?]$/.test(joined) ? joined : `${joined}.`
}

/** Error map for zod with messages for API users. A message stated in a schema has precedence. */
export function describeIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return describeType(issue.expected, issue.input)
    case 'too_small':
      return describeBound(issue.origin, 'least', issue.inclusive ?? true, issue.minimum)
    case 'too_big':
      return describeBound(issue.origin, 'most', issue.inclusive ?? true, issue.maximum)
    case 'invalid_value':
      return oneOf(issue.values.map((value) => JSON.stringify(value)))
    case 'invalid_union':
      return describeUnion(issue)
    case 'unrecognized_keys':
      return `has the unknown field ${issue.keys
        .slice(0, 3)
        .map((key) => `\`${key.slice(0, 60)}\``)
        .join(', ')}`
    case 'invalid_format':
      return describeFormat(issue.format)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_key':
      return 'has a field name that is not valid'
    default:
      return 'is not valid'
  }
}

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'a JSON object',
  record: 'a JSON object',
  null: 'null',
}

const nameOfType = (type: string) => typeNames[type] ?? `a ${type}`

function describeType(expected: string, input: unknown): string {
  if (input === undefined) return expected === 'never' ? 'is not allowed' : `is required: ${nameOfType(expected)}`
  return `must be ${nameOfType(expected)}, not ${nameOfValue(input)}`
}

function nameOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a number with decimals'
  return nameOfType(typeof value)
}

function describeBound(origin: string, side: 'least' | 'most', inclusive: boolean, bound: number | bigint): string {
  if (origin === 'string') {
    if (side === 'least' && Number(bound) === 1) return 'must not be empty'
    return `must have at ${side} ${bound} ${plural('character', bound)}`
  }
  if (origin === 'array' || origin === 'set') {
    if (side === 'least' && Number(bound) === 1) return 'must not be empty'
    return `must have at ${side} ${bound} ${bound === 1 ? 'entry' : 'entries'}`
  }
  if (inclusive) return `must be at ${side} ${bound}`
  return side === 'least' ? `must be greater than ${bound}` : `must be less than ${bound}`
}

const plural = (word: string, count: number | bigint) => (Number(count) === 1 ? word : `${word}s`)

function oneOf(values: string[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
}

function describeUnion(issue: RawIssue & { code: 'invalid_union' }): string {
  if (issue.input === undefined) return 'is required'
  const types = new Set<string>()
  for (const alternative of issue.errors) {
    const [first] = alternative
    if (first?.code === 'invalid_type') types.add(nameOfType(first.expected))
  }
  return types.size === 0 ? 'is not valid' : `must be ${[...types].join(' or ')}, not ${nameOfValue(issue.input)}`
}

const formats: Record<string, string> = {
  uuid: 'must be a UUID',
  url: 'must be an absolute URL',
  email: 'must be an e-mail address',
  datetime: 'must be an ISO 8601 time such as 2026-12-31T23:00:00Z',
  date: 'must be a date such as 2026-12-31',
}

const describeFormat = (format: string) => formats[format] ?? 'has a form that is not allowed'
