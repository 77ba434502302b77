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
    // Fireworks, xAI, Moonshot, OpenRouter, DashScope, OpenAI: the account of the operator
    [
      412,
      {
        error: {
          message:
            'Account acme is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices. Please go to https://fireworks.ai/account/billing for more information.',
          param: null,
          code: 'PRECONDITION_FAILED',
          type: 'error',
        },
      },
      'quota',
    ],
    [
      412,
      openai(
        'Fireworks_aiException - {"error":{"message":"Account acme is suspended","code":"PRECONDITION_FAILED"}}',
        '412',
      ),
      'quota',
    ],
    [
      403,
      {
        code: 'The caller does not have permission to execute the specified operation',
        error:
          "Your newly created teams doesn't have any credits yet. You can purchase credits on https://console.x.ai.",
      },
      'quota',
    ],
    [
      403,
      openai('Your account c1<ak-e> is not active, current state: suspended', null, 'exceeded_current_quota_error'),
      'quota',
    ],
    [403, { error: { message: 'Key limit exceeded (total limit). Manage it at https://x/keys', code: 403 } }, 'quota'],
    [400, openai('Access denied, please make sure your account is in good standing.', 'Arrearage'), 'quota'],
    [400, openai('This organization has been disabled.'), 'quota'],
    [400, openai('Your organization must be verified to use the model `o3`.', 'unsupported_value'), 'quota'],
    [409, openai('Please top up to continue.'), 'quota'],
    [403, { code: 30001, message: 'Sorry, your account balance is insufficient', data: null }, 'quota'],
    [403, { code: 403, reason: 'X', message: 'not enough balance' }, 'quota'],
    [403, { error: { code: 'AccountOverdueError', message: 'your account has an overdue balance' } }, 'quota'],
    [400, openai('Organization has been restricted. Please reach out to support.', 'organization_restricted'), 'quota'],
    [422, { detail: 'Please update your payment details.' }, 'quota'],
    [400, openai('This key has been revoked.'), 'authentication'],
    [405, 'The provided credentials are for another region.', 'authentication'],
    // Forms that no host of the table has: the class follows from any text of the body.
    [400, { error_code: 17, error_msg: 'The account acme is suspended' }, 'quota'],
    [400, { errors: [{ code: 'ACCOUNT_SUSPENDED' }] }, 'quota'],
    [422, { title: 'Wallet empty', status: 422 }, 'quota'],
    [400, { error: { reason: 'ApiKeyExpired' } }, 'authentication'],
    [400, openai('Forbidden for acme', 'AccountSuspended'), 'quota'],
    [400, openai('Refused for acme', null, 'billing_error'), 'quota'],
    [400, { errors: [{ title: 'temperature must be below 2' }] }, 'invalid_request'],
    // Names and values of the request are not about the account.
    [
      400,
      openai("Invalid schema for function 'account_balance': 'billing' is not of type 'object'"),
      'invalid_request',
    ],
    [400, openai('Unrecognized key(s) in object: "credits"'), 'invalid_request'],
    [400, openai('max_tokens must be below 4096 for accounts/fireworks/models/x'), 'invalid_request'],
    // xAI
    [403, { code: 'x', error: 'Content violates usage guidelines. Team: 1, API key ID: 2' }, 'content_filter'],
    // LM Studio
    [
      400,
      {
        error:
          'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      },
      'context_length',
    ],
    [
      400,
      {
        error:
          'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
      },
      'context_length',
    ],
    [400, { error: 'Cannot truncate prompt with n_keep (9002) >= n_ctx (4096)' }, 'context_length'],
    [
      400,
      {
        error:
          'Reached context length of 4096 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow.',
      },
      'context_length',
    ],
    [200, { error: 'Context size has been exceeded.' }, 'context_length'],
    // Copilot
    [
      400,
      {
        error: {
          message: 'prompt token count of 138898 exceeds the limit of 64000',
          code: 'model_max_prompt_tokens_exceeded',
        },
      },
      'context_length',
    ],
    [400, { error: { message: 'too much', code: 'model_max_prompt_tokens_exceeded' } }, 'context_length'],
    [
      400,
      { error: { message: 'prompt token count of 93854 exceeds the limit of 90000', param: '', code: '', type: '' } },
      'context_length',
    ],
    // OpenRouter
    [
      429,
      {
        error: {
          message:
            'Rate limit exceeded: limit_rpm/x. High demand for x on OpenRouter - limited to 2 requests per minute.',
          code: 429,
        },
      },
      'rate_limit',
    ],
    [429, openai('Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests'), 'rate_limit'],
    [429, openai('x is temporarily rate-limited: the provider is at capacity due to high demand.'), 'rate_limit'],
    [429, openai('We are experiencing high traffic right now! Please try again soon.'), 'rate_limit'],
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
