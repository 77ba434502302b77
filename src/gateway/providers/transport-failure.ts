import type { EndSignal } from '../../platform/kernel/index.ts'
import { ProviderError } from './port.ts'
import { failure } from './wire-failure.ts'

/** The state of an exchange when it failed. */
export interface ExchangeProgress {
  signal: EndSignal
  /** Status and headers had arrived. */
  answered: boolean
}

/** Codes of Node and undici for timeouts, in any phase. */
const timeoutCodes: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

/**
 * A failure below HTTP as a ProviderError. The cause keeps the code of Node or undici: the retry policy reads from it whether the request
 * was sent. The message names no host: clients may see it.
 */
export function transportFailure(error: unknown, { signal, answered }: ExchangeProgress): ProviderError {
  if (error instanceof ProviderError) return error
  if (signal.aborted) {
    return failure('cancelled', 'The call was cancelled.', { afterFirstByte: answered, cause: error })
  }
  const code = codeOf(error)
  if (timeoutCodes.has(code)) {
    return failure('timeout', timeoutMessage(code), { afterFirstByte: answered, cause: error })
  }
  const message = answered
    ? 'The connection to the provider broke in the middle of its answer.'
    : 'The provider could not be reached, or closed the connection without an answer.'
  return failure('connection', message, { afterFirstByte: answered, cause: error })
}

function timeoutMessage(code: string): string {
  if (code === 'UND_ERR_BODY_TIMEOUT') return 'The provider stopped sending in the middle of its answer.'
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return 'The provider did not begin to answer in time.'
  return 'The connection to the provider could not be established in time.'
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' ? code : ''
}
