import type { ErrorBody } from '../../../contract/errors.ts'

type DescribedError = ErrorBody['error']

/** The `error` of a failed response. Its codes are a closed list of the API. */
export function renderResponseError({ type, message }: DescribedError): { code: string; message: string } {
  return { code: codes[type] ?? 'server_error', message }
}

const codes: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'invalid_prompt',
}

/**
 * Members of the `error` event, as JSON without braces. OpenAI describes them at the top level and Open Responses inside `error`, so they
 * are in both places; SDKs throw an error for the latter.
 */
export function renderErrorEvent(error: DescribedError): string {
  const { code, message, param } = error
  return JSON.stringify({ code, message, param, error }).slice(1, -1)
}
