import { FailedError } from './errors.ts'

export type ApiClient = ReturnType<typeof createApiClient>

export interface ApiClientOptions {
  url: string
  credential: string
  kind: 'operator' | 'organisation'
  signal: AbortSignal
}

interface ErrorBody {
  error?: { message?: string; code?: string | null; param?: string | null }
}

/** A client of one service with one credential. Throws FailedError with the next step for the user. */
export function createApiClient({ url, credential, kind, signal }: ApiClientOptions) {
  const client = {
    /** The raw response, for uploads and streams. An error status throws. */
    async fetch(
      method: string,
      path: string,
      { body, headers = {} }: { body?: string | FormData | ReadableStream; headers?: Record<string, string> },
    ): Promise<Response> {
      let response: Response
      try {
        response = await fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${credential}`, ...headers },
          ...(body === undefined ? {} : { body, ...(body instanceof ReadableStream && { duplex: 'half' as const }) }),
          signal,
        })
      } catch (error) {
        if (signal.aborted) throw new FailedError('Interrupted.')
        throw unreachable(url, error)
      }
      if (response.ok) return response
      throw await refused(response, kind)
    },
    /** Sends a request and resolves to the parsed JSON, or undefined for an empty response. */
    async send<Body>(method: string, path: string, body?: unknown): Promise<Body> {
      const response = await client.fetch(
        method,
        path,
        body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
      )
      const text = await response.text()
      if (text === '') return undefined as Body
      try {
        return JSON.parse(text) as Body
      } catch (error) {
        throw new FailedError(`${url} did not answer with JSON. Is it a Portico service?`, {}, { cause: error })
      }
    },
    get: <Body>(path: string): Promise<Body> => client.send<Body>('GET', path),
    /** The response as text, for formats other than JSON. */
    async getText(path: string): Promise<string> {
      return (await client.fetch('GET', path, {})).text()
    },
  }
  return client
}

function unreachable(url: string, error: unknown): FailedError {
  const cause = (error as { cause?: NodeJS.ErrnoException }).cause
  const reason = cause?.code ?? cause?.message ?? String(error)
  return new FailedError(
    `Cannot reach ${url} (${reason}). Is the service running there? Set PORTICO_URL or --url to its address.`,
    {},
    { cause: error },
  )
}

async function refused(response: Response, kind: ApiClientOptions['kind']): Promise<FailedError> {
  const text = await response.text()
  let error: ErrorBody['error']
  try {
    error = (JSON.parse(text) as ErrorBody).error
  } catch {
    error = undefined
  }
  const message = error?.message ?? `The service answered ${response.status} ${response.statusText}.`
  const hint = response.status === 401 ? ` ${credentialHints[kind]}` : ''
  return new FailedError(message + hint, {
    status: response.status,
    code: error?.code ?? null,
    param: error?.param ?? null,
    requestId: response.headers.get('x-request-id'),
    ...readRetryAfter(response.headers.get('retry-after')),
  })
}

/** Seconds or a date. */
function readRetryAfter(header: string | null): { retryAfterMs?: number } {
  if (header === null) return {}
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(waitMs) ? { retryAfterMs: Math.max(0, waitMs) } : {}
}

const credentialHints = {
  operator: 'Check PORTICO_OPERATOR_TOKEN, --token-file or --token.',
  organisation: 'Check PORTICO_API_KEY, --api-key-file or --api-key.',
}
