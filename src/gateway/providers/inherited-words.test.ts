import { expect, test } from 'vitest'
import { mapError as anthropicError } from './anthropic/map-error.ts'
import { mapError as bedrockError } from './bedrock/map-error.ts'
import { mapError as geminiError } from './gemini/map-error.ts'
import { mapFinishReason as geminiReason } from './gemini/map-finish-reason.ts'
import { mapFinishReason } from './map-finish-reason.ts'

/** Words of a host that are names of members of every object. */
const inherited = ['constructor', 'toString', '__proto__', 'valueOf']

test.each(inherited)('a finish reason "%s" is an unknown one in every format', (word) => {
  expect([mapFinishReason(word), geminiReason(word, false)]).toEqual(['stop', 'stop'])
})

test.each(inherited)('an error of the type "%s" is classed by its status in every format', (word) => {
  const redact = (text: string) => text
  const failed = (body: object) => ({ status: 429, headers: {}, body: JSON.stringify(body) })
  const classes = [
    anthropicError(failed({ type: 'error', error: { type: word, message: 'no' } }), redact),
    geminiError(failed({ error: { status: word, message: 'no' } }), redact),
    bedrockError({ ...failed({ message: 'no', __type: word }), headers: { 'x-amzn-errortype': word } }, redact),
  ].map((error) => error.errorClass)
  expect(classes).toEqual(['rate_limit', 'rate_limit', 'rate_limit'])
})
