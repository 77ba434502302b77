import type { ProviderError } from '../providers/index.ts'

/** Consequences of a failed attempt for the call and for the deployment. */
export interface Verdict {
  /** stop: the call must not be sent again. elsewhere: only to another deployment. anywhere: also to the same one, after a pause. */
  retry: 'stop' | 'elsewhere' | 'anywhere'
  /**
   * fault: counts towards the circuit breaker. rate_limit: do not call it for a while. account: prefer others for a while. answered: the
   * deployment works. none: no evidence.
   */
  health: 'fault' | 'rate_limit' | 'account' | 'answered' | 'none'
}

/**
 * The whole retry policy. A call is sent again only if the provider cannot have billed the earlier attempt: it did not receive the request,
 * or it rejected it explicitly. After a timeout or a broken connection the provider may have billed the request, so it is not sent again.
 */
export function judgeFailure(error: ProviderError): Verdict {
  switch (error.errorClass) {
    case 'cancelled':
      return { retry: 'stop', health: 'none' }
    case 'share_exhausted':
    case 'capacity':
      return { retry: 'elsewhere', health: 'none' }
    case 'invalid_request':
    case 'context_length':
    case 'content_filter':
      return { retry: 'stop', health: 'answered' }
    case 'authentication':
    case 'quota':
    case 'model_not_found':
      return { retry: error.afterFirstByte ? 'stop' : 'elsewhere', health: 'account' }
    case 'rate_limit':
      return { retry: error.afterFirstByte ? 'stop' : 'elsewhere', health: 'rate_limit' }
    case 'overloaded':
    case 'server_error':
      return { retry: mayHaveBeenBilled(error) ? 'stop' : 'anywhere', health: 'fault' }
    case 'connection':
    case 'timeout':
      return { retry: mayHaveBeenBilled(error) ? 'stop' : 'anywhere', health: 'fault' }
  }
}

/** True unless it is certain that the provider did no work for this call. */
function mayHaveBeenBilled(error: ProviderError): boolean {
  if (error.afterFirstByte) return true
  if (error.errorClass === 'connection' || error.errorClass === 'timeout')
    // 408: the host did not receive the complete request.
    return !(neverSent(error) || error.status === 408)
  // A gateway timeout (504; 524 of Cloudflare): the model may have continued.
  return error.status === 504 || error.status === 524
}

/** Codes of Node and undici for a connection that was never established: no byte of the request was sent. */
const connectFailures = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/** Upper bound on the chain of causes. */
const maximumCauses = 6

function neverSent(error: ProviderError): boolean {
  let current: unknown = error
  for (let depth = 0; depth < maximumCauses && current instanceof Error; depth++) {
    const { code, syscall } = current as { code?: unknown; syscall?: unknown }
    if (typeof code === 'string' && (connectFailures.has(code) || (code === 'ETIMEDOUT' && syscall === 'connect')))
      return true
    // Node tried every address of the name, and none could be connected.
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0]
    else current = current.cause
  }
  return false
}
