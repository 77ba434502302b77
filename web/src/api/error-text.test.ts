import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readValue } from '../../../src/contract/validation.ts'
import { errorClasses } from '../../../src/http/error-renderer.ts'
import { errorText, loadErrorTexts } from './error-text.ts'
import german from './errors.de.json' with { type: 'json' }

/** Their texts name what was not found, refused or in conflict, so the console shows them as they are. */
const specific = [
  'conflict',
  'invalid_api_key',
  'invalid_operator_token',
  'invalid_request',
  'method_not_allowed',
  'model_not_found',
  'not_found',
  'unknown_endpoint',
  'unsupported_file_type',
  'unsupported_media_type',
  'unsupported_parameter',
  'upstream_error',
  'client_closed',
]

/** A value for each kind of problem that the API describes. */
const problems: [kind: keyof typeof german.problems, schema: z.ZodType, value: unknown][] = [
  ['required', z.string(), undefined],
  ['required', z.union([z.string(), z.number()]), undefined],
  ['empty', z.string().min(1), ''],
  ['empty', z.array(z.string()).min(1), []],
  ['leastCharacters', z.string().min(3), 'ab'],
  ['mostCharacters', z.string().max(1), 'ab'],
  ['leastEntries', z.array(z.number()).min(2), [1]],
  ['mostEntries', z.array(z.number()).max(1), [1, 2]],
  ['least', z.number().min(-2), -3],
  ['most', z.number().max(0.5), 2],
  ['greater', z.number().gt(0), 0],
  ['less', z.number().lt(10), 10],
  ['multiple', z.number().multipleOf(5), 7],
  ['oneOf', z.enum(['free', 'team']), 'other'],
  ['oneOf', z.literal('free'), 'other'],
  ['uuid', z.uuid(), 'x'],
  ['url', z.url(), 'x'],
  ['email', z.email(), 'x'],
  ['time', z.iso.datetime(), 'x'],
  ['date', z.iso.date(), 'x'],
  ['text', z.string(), 1],
  ['number', z.number(), 'x'],
  ['wholeNumber', z.int(), 1.5],
  ['boolean', z.boolean(), 'x'],
  ['array', z.array(z.string()), 'x'],
  ['object', z.object({}), 'x'],
  ['unknownField', z.strictObject({}), { other: 1 }],
  ['notAllowed', z.object({ a: z.never() }), {}],
  ['fieldName', z.record(z.string().max(1), z.string()), { long: 'x' }],
  ['form', z.string().regex(/^a$/), 'b'],
  ['invalid', z.string().refine(() => false), 'x'],
]

describe('an error of the API in German', () => {
  beforeAll(() => loadErrorTexts('de'))
  afterAll(() => loadErrorTexts('en'))

  it('has a text for every code, or is listed as one that keeps the text of the API', () => {
    const codes = Object.keys(errorClasses).filter((code) => !specific.includes(code))
    expect(Object.keys(german.codes).toSorted()).toEqual([...codes, 'no_connection'].toSorted())
    for (const code of codes) expect(errorText(code, 'English.')).not.toBe('English.')
    for (const code of specific) expect(errorText(code, 'English.')).toBe('English.')
  })

  it.each(problems)('names the problem of a field: %s', (kind, schema, value) => {
    const read = readValue(z.object({ field: schema }), value === undefined ? {} : { field: value }, 'the body')
    if (!('problem' in read)) throw new Error('The value is valid.')
    const text = errorText('http_400', read.problem.message)
    const [start] = german.problems[kind].split('{{limit}}')
    expect(text.startsWith(start!), `${read.problem.message} → ${text}`).toBe(true)
    expect(text).not.toContain('{{')
  })

  it('is tested for every kind of problem', () => {
    expect([...new Set(problems.map(([kind]) => kind))].toSorted()).toEqual(Object.keys(german.problems).toSorted())
  })

  it('names the limit', () => {
    expect(errorText('http_400', '`name` must have at most 200 characters.')).toBe('Höchstens 200 Zeichen.')
    expect(errorText('http_400', '`plan` must be one of "free", "team".')).toBe('Erlaubt ist: "free", "team".')
  })

  it('keeps the text of the API where it is not known', () => {
    for (const code of ['constructor', 'toString', 'conflict'])
      expect(errorText(code, 'The name is used.')).toBe('The name is used.')
    expect(errorText('http_400', 'The body is not valid JSON.')).toBe('The body is not valid JSON.')
  })
})

it('is English in English', async () => {
  await loadErrorTexts('en')
  expect(errorText('internal_error', 'Something went wrong on our side.')).toBe('Something went wrong on our side.')
})
