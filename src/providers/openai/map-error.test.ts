import { describe, expect, test } from 'vitest'
import { mapError } from './map-error.ts'

const keep = (text: string) => text

function read(status: number, body: unknown, headers: Record<string, string> = {}) {
  return mapError({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, keep)
}

const openai = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
})

describe('the class of an error', () => {
  test.each([
    // OpenAI and Azure
    [401, openai('Incorrect API key provided', 'invalid_api_key'), 'authentication'],
    [403, openai('Country not supported', 'unsupported_country_region_territory'), 'authentication'],
    [404, openai('The model `x` does not exist', 'model_not_found'), 'model_not_found'],
    [400, openai("This model's maximum context length is 8192 tokens", 'context_length_exceeded'), 'context_length'],
    [
      400,
      openai("Unsupported parameter: 'stop' is not supported with this model.", 'unsupported_parameter'),
      'invalid_request',
    ],
    [400, openai('Invalid value for temperature'), 'invalid_request'],
    [
      429,
      openai(
        'Rate limit reached for requests. Add a payment method at https://x/account/billing',
        'rate_limit_exceeded',
        'requests',
      ),
      'rate_limit',
    ],
    [429, openai('You exceeded your current quota, please check your plan', 'insufficient_quota'), 'quota'],
    [
      429,
      {
        error: {
          message: 'Request too large for model in tokens per min',
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      },
      'context_length',
    ],
    [500, openai('The server had an error', null, 'server_error'), 'server_error'],
    [503, openai('The engine is currently overloaded', null, 'server_error'), 'overloaded'],
    [
      400,
      { error: { code: 'content_filter', message: 'filtered', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
      'content_filter',
    ],
    [
      404,
      { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
      'model_not_found',
    ],
    // Mistral and FastAPI
    [401, { detail: 'Unauthorized' }, 'authentication'],
    [400, { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' }, 'model_not_found'],
    [422, { object: 'error', message: { detail: [{ loc: ['body', 'top_p'], msg: 'too large' }] } }, 'invalid_request'],
    [422, { detail: [{ loc: ['body', 'messages'], msg: 'field required', input: 'the prompt' }] }, 'invalid_request'],
    [429, { message: 'Requests rate limit exceeded' }, 'rate_limit'],
    [429, { object: 'error', message: 'Service tier capacity exceeded for this model.', code: '3505' }, 'overloaded'],
    // Others
    [
      403,
      { code: 'x', error: 'Your team has either used all available credits or reached its monthly spending limit.' },
      'quota',
    ],
    [400, openai('`inputs` tokens + `max_new_tokens` must be <= 4097'), 'context_length'],
    [400, openai('Model Not Exist'), 'model_not_found'],
    [402, { error: { message: 'Insufficient Balance', type: 'unknown_error' } }, 'quota'],
    [400, openai('Content Exists Risk'), 'content_filter'],
    [
      400,
      { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***' },
      'authentication',
    ],
    [
      400,
      { code: 'x', error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens." },
      'context_length',
    ],
    [
      403,
      {
        error: {
          message: 'Your input was flagged by the moderation model',
          code: 403,
          metadata: { reasons: ['violence'] },
        },
      },
      'content_filter',
    ],
    [404, { error: { message: 'No endpoints found for x/y.', code: 404 } }, 'model_not_found'],
    [413, openai('Request too large', 'rate_limit_exceeded', 'tokens'), 'context_length'],
    [413, 'Payload Too Large', 'context_length'],
    [
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size',
          type: 'exceed_context_size_error',
        },
      },
      'context_length',
    ],
    [
      400,
      {
        object: 'error',
        message: 'The decoder prompt (length 9000) is longer than the maximum model length; reduce the length',
        type: 'BadRequestError',
        code: 400,
      },
      'context_length',
    ],
    [
      400,
      openai('The model `x` has been decommissioned and is no longer supported', 'model_decommissioned'),
      'model_not_found',
    ],
    [498, openai('Flex tier capacity exceeded', 'capacity_exceeded'), 'overloaded'],
    [408, '', 'timeout'],
    [504, '<html>Gateway Timeout</html>', 'timeout'],
    [529, '', 'overloaded'],
    [524, '', 'server_error'],
    [
      400,
      [
        {
          error: { code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' },
        },
      ],
      'authentication',
    ],
  ])('%d %o is %s', (status, body, errorClass) => {
    expect(read(status, body).errorClass).toBe(errorClass)
  })
})

describe('the message of an error', () => {
  test.each([
    [{ detail: 'Invalid API Key' }, 'Invalid API Key'],
    [{ error: "model 'x' not found" }, "model 'x' not found"],
    [
      { detail: [{ loc: ['body', 'messages'], msg: 'field required', input: 'the prompt' }] },
      'body.messages: field required',
    ],
    [
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"too hot"}}' } } },
      'Provider returned error: too hot',
    ],
    ['upstream connect error', 'upstream connect error'],
    ['<html>Bad Gateway</html>', 'The provider answered 400.'],
    ['<html><head><title>401 Authorization Required</title></head></html>', '401 Authorization Required'],
    ['', 'The provider answered 400.'],
    ['null', 'The provider answered 400.'],
    ['[]', 'The provider answered 400.'],
  ])('of %o is %s', (body, message) => {
    expect(read(400, body).message).toBe(message)
  })

  test('contains the provider’s field and code', () => {
    const error = read(400, { error: { message: 'no', param: 'stop', code: 'unsupported_parameter' } })
    expect(error).toMatchObject({ param: 'stop', code: 'unsupported_parameter', status: 400 })
  })
})

describe('retry-after of an error', () => {
  test.each([
    [{}, 'Please try again in 1m2.5s.', 62.5],
    [{}, 'Please try again in 120ms.', 0.12],
    [{ 'retry-after': '3' }, 'Please try again in 9s.', 3],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }, '', 360],
    [{ 'x-ratelimit-remaining-tokens': '5', 'x-ratelimit-reset-tokens': '6m0s' }, '', null],
    [{}, 'Slow down.', null],
  ])('%o with %o is %d seconds', (headers, message, seconds) => {
    expect(read(429, openai(message), headers as Record<string, string>).retryAfterSeconds).toBe(seconds)
  })
})
