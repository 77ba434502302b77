import type { ProviderError } from '../providers/index.ts'

/** What a failed attempt means for the same call and for the deployment. */
export interface Verdict {
  /**
   * stop: the same call must not be sent again. elsewhere: to another deployment only. anywhere: also to the same one,
   * after a pause.
   */
  retry: 'stop' | 'elsewhere' | 'anywhere'
  /**
   * fault: counts towards the circuit breaker. rate_limit: leave it alone for a while. account: prefer others for a while.
   * answered: the deployment works. none: says nothing about it.
   */
  health: 'fault' | 'rate_limit' | 'account' | 'answered' | 'none'
}

/**
 * The whole policy. A call is sent again only where the provider cannot have billed the former try: it never got the request,
 * or it refused it in so many words. A limit of time that passes after the request was sent, or a connection that breaks
 * then, may have been billed: no silent second call.
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
    // 408: the host had waited for the request, which it never had whole.
    return !(neverSent(error) || error.status === 408)
  // A gateway in front of the model that lost patience (504; 524 of Cloudflare): the model may have gone on.
  return error.status === 504 || error.status === 524
}

/** Codes of Node and undici for a connection that never came to be: no byte of the request has left. */
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

/** Longest chain of causes that is followed. */
const maximumCauses = 6

function neverSent(error: ProviderError): boolean {
  let current: unknown = error
  for (let depth = 0; depth < maximumCauses && current instanceof Error; depth++) {
    const { code, syscall } = current as { code?: unknown; syscall?: unknown }
    if (typeof code === 'string' && (connectFailures.has(code) || (code === 'ETIMEDOUT' && syscall === 'connect')))
      return true
    // Node tries every address of a name; all of them failed to connect.
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0]
    else current = current.cause
  }
  return false
}
