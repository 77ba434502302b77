import { errorText } from './error-text.ts'
import { renewSession } from './session-renewal.ts'

/** An error answer of the API, or a lost connection (status 0). `message` is in the language of the console where it is known. */
export class ApiError extends Error {
  readonly status: number
  /** The code of docs/use/errors.md, for instance `insufficient_quota`. */
  readonly code: string
  /** The field that the error concerns. */
  readonly param: string | undefined
  readonly requestId: string | undefined

  constructor({ status, code, message, param, requestId }: ApiErrorFields) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.param = param
    this.requestId = requestId
  }
}

interface ApiErrorFields {
  status: number
  code: string
  message: string
  param?: string | undefined
  requestId?: string | undefined
}

export interface RequestOptions {
  signal?: AbortSignal | undefined
  headers?: Record<string, string>
}

export function getJson<Body>(path: string, options?: RequestOptions): Promise<Body> {
  return sendJson('GET', path, undefined, options)
}

export function postJson<Body>(path: string, body?: unknown, options?: RequestOptions): Promise<Body> {
  return sendJson('POST', path, body, options)
}

export function putJson<Body>(path: string, body?: unknown, options?: RequestOptions): Promise<Body> {
  return sendJson('PUT', path, body, options)
}

export function patchJson<Body>(path: string, body?: unknown, options?: RequestOptions): Promise<Body> {
  return sendJson('PATCH', path, body, options)
}

export function deleteJson<Body>(path: string, options?: RequestOptions): Promise<Body> {
  return sendJson('DELETE', path, undefined, options)
}

async function sendJson<Body>(method: string, path: string, body: unknown, options?: RequestOptions): Promise<Body> {
  const response = await send(method, path, body, options)
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

/**
 * Sends a request with the session cookie; `body` becomes JSON, or is sent as it is if it is a Blob, with its type. Resolves to an answer below 400, throws ApiError otherwise. An
 * aborted request throws the signal's AbortError. If the session has expired, the person signs in again and the request is repeated once.
 */
export async function send(
  method: string,
  path: string,
  body: unknown,
  options: RequestOptions = {},
): Promise<Response> {
  try {
    return await sendOnce(method, path, body, options)
  } catch (error) {
    const isExpired = error instanceof ApiError && error.code === 'not_signed_in'
    if (!isExpired || path.startsWith('/api/auth/') || !(await renewSession())) throw error
    return sendOnce(method, path, body, options)
  }
}

async function sendOnce(method: string, path: string, body: unknown, options: RequestOptions): Promise<Response> {
  const { signal, headers } = options
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': typeOf(body) }), ...headers },
      ...(body === undefined ? {} : { body: body instanceof Blob ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    const code = 'no_connection'
    throw new ApiError({ status: 0, code, message: errorText(code, 'The server cannot be reached.') })
  }
  if (!response.ok) throw await readError(response)
  return response
}

const typeOf = (body: unknown) => (body instanceof Blob ? body.type : 'application/json')

/** Reads an error body of Portico, `{error: {…}}`, or of the sign-in endpoints, `{message, code}`. */
export async function readError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  const fields = isRecord(body) ? (isRecord(body['error']) ? body['error'] : body) : {}
  const code = typeof fields['code'] === 'string' ? fields['code'] : `http_${response.status}`
  const message = typeof fields['message'] === 'string' ? fields['message'] : `The server answered ${response.status}.`
  return new ApiError({
    status: response.status,
    code,
    message: errorText(code, message),
    param: typeof fields['param'] === 'string' ? fields['param'] : undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
