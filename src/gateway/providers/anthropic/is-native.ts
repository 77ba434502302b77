import type { ProviderRequest } from '../port.ts'

/** Whether the client calls the Messages API itself, and so reads the host's own blocks and events. */
export function isNative(request: Pick<ProviderRequest, 'native'> | undefined): boolean {
  return request?.native?.family === 'anthropic'
}
