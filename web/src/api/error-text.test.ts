import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readValue } from '../../../src/contract/validation.ts'
import { errorClasses } from '../../../src/platform/http/error-renderer.ts'
import { readApiSentences } from '../../../test/harness/api-sentences.ts'
import { errorText, loadErrorTexts } from './error-text.ts'
import german from './errors.de.json' with { type: 'json' }
import { readTemplates, translate } from './message-templates.ts'

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

  it('has a text for every code', () => {
    const { codes, withMessage } = german
    const all = [...Object.keys(codes), ...Object.keys(withMessage)]
    expect(all.toSorted()).toEqual([...Object.keys(errorClasses), 'no_connection', 'http_400', 'other'].toSorted())
    for (const code of Object.keys(codes)) expect(errorText(code, 'English.')).not.toContain('English.')
    for (const code of Object.keys(withMessage))
      expect(errorText(code, 'English.')).toMatch(/^[^:]+ Server.*English\.$/)
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

  it('takes names and numbers from the sentence of the API', () => {
    expect(errorText('conflict', 'The alias fast already refers to a/b.')).toBe('Der Alias fast führt schon zu a/b.')
    expect(errorText('not_found', 'There is no model $&.')).toBe('Das Modell $& gibt es nicht.')
  })

  it('adds the sentence of the API where it is not known', () => {
    for (const code of ['constructor', 'toString'])
      expect(errorText(code, 'The name is used.')).toBe(
        'Die Anfrage ist fehlgeschlagen. Meldung des Servers: The name is used.',
      )
    expect(errorText('conflict', 'x'.repeat(5_000)).length).toBeLessThan(1_200)
  })
})

/** Sentences that no page of the console can cause, because it sends other requests, and those that are made of listed sentences. */
const ofClients = [
  '`{}` must be a string.',
  '`{}` must be an address of the public internet: its name is not one of it, or cannot be resolved.',
  'The Space has stored no answer with the request id {}. An answer is stored within some seconds after its end.',
  'The Space stores no answers, so none can be rated. An administrator turns on keepConversations in its settings.',
  // Of visitors: their page has texts for the codes.
  'There is no chat at this address.',
  'This answer is not stored, so it cannot be rated.',
  // Reasons why an answer ends, which are not sent.
  'The person stopped the answer.',
  'The service stops.',
  'A backup through the API needs the embedded database. Back up a PostgreSQL server with its tools: see docs/operate/backup.md.',
  'An HTTP/1.1 request must have a host header.',
  'Another backup is running. Wait for its end.',
  'Idempotency-Key: 1 to {} characters.',
  'Send the body as application/json.',
  'replaces: not together with onDuplicate.',
  '{} is for a `sitemap`.',
  '{} is for a `url`.',
  '{} must have either `url` or `sitemap`.',
  'Send the document as multipart/form-data with the field `file`.',
  'The API key is missing or not valid. Send it as `Authorization: Bearer <key>` or in `x-api-key`; a team administrator finds it under Developer Tools.',
  'The answer is no longer read.',
  'The body is empty, a JSON object is expected.',
  'The body is not valid JSON.',
  'The body must be a JSON object.',
  'The client closed the request.',
  'The client has closed the connection.',
  'The content-encoding `{}` is not supported. Send the body without compression.',
  'Send the archive as application/x-tar.',
  'The archive cannot be imported, and nothing of it was kept: {}.',
  'An archive holds at most {} documents.',
  'The last message must have the role user.',
  'The multipart body has too many parts ({}).',
  'The operator token is not valid. Send it as `Authorization: Bearer <token>`; it was printed at the first start.',
  'The request body must be valid Unicode: it contains half of a surrogate pair.',
  'The request body must not contain the character U+0000.',
  'There is no {} {}…. GET /openapi.json lists all routes.',
  '`input`: the provider of this model takes texts, not tokens.',
  '`messages.{}.content`: {}.',
  '`tools`: `{}` has a price for each use, and no field limits its uses, so its cost cannot be bounded.',
  '`tools`: the price list has no price of `{}` for this model. The operator can add it as `perThousandUses.{}`.',
  '`parallel_tool_calls`: the model called its tool several times, although the request allows one call. The answer was billed. Allow several calls, or use a model that has a limit of one call.',
  'baseUrl {}.',
  'content-type: the multipart boundary is missing or damaged.',
  'file: came as text; give its part a file name.',
  'file: the multipart field with the document is missing.',
  'file: {}',
  'limits.{} {}',
  'max_tokens and max_completion_tokens are two names of one limit and differ; send one.',
  'service-user must have 1 to {} printable ASCII characters. Send a pseudonym of the visitor, not a name.',
  'stream_options is only allowed when stream is true.',
  'system and developer messages are only allowed at the start of messages.',
  '{} is not allowed here; allowed: {}.',
  '{} must be above `from` by at most {}.',
  '{}: longer than the limit of {} bytes.',
  '{}: metadata',
  '{}: metadata.{}',
  '{}: send it once.',
  '{}: unexpected file part; the file goes in `file`.',
]
/** Of the console itself: src/api/client.ts. */
const ofConsole = { code: undefined, text: 'The server answered {}.' }

describe('the catalogue of sentences', () => {
  const sentences = [...readApiSentences(), ofConsole].map(({ code, text }) => ({
    code,
    text,
    filled: text.replaceAll('{}', '17'),
  }))
  beforeAll(() => loadErrorTexts('de'))
  afterAll(() => loadErrorTexts('en'))

  it('has every sentence of the API that a page can cause', () => {
    expect(sentences.length).toBeGreaterThan(100)
    const missing = sentences
      .filter(({ code = 'other', filled }) => errorText(codeOf(code), filled).includes('Meldung des Servers'))
      .map(({ text }) => text)
    // Add a missing sentence to errors.de.json, or here if no page of the console can cause it.
    expect([...new Set(missing)].toSorted()).toEqual(ofClients.toSorted())
  })

  it('has only sentences of the API', () => {
    const unknown = Object.entries(german.messages).filter(([sentence, translation]) => {
      const templates = readTemplates({ [sentence]: translation })
      return !sentences.some(({ filled }) => translate(templates, filled) !== undefined)
    })
    expect(unknown).toEqual([])
  })

  it('uses only values that the sentence names', () => {
    for (const [sentence, translation] of Object.entries(german.messages)) {
      const names = new Set(sentence.match(/\{\w+\}/g))
      expect((translation.match(/\{\w+\}/g) ?? []).filter((name) => !names.has(name))).toEqual([])
    }
  })
})

/** The body of an `invalid_request` has no code. */
const codeOf = (code: string) => (code === 'invalid_request' ? 'http_400' : code)

it('is English in English', async () => {
  await loadErrorTexts('en')
  expect(errorText('internal_error', 'Something went wrong on our side.')).toBe('Something went wrong on our side.')
})
