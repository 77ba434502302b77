import type { WireRequest } from './wire-adapter.ts'

/** A POST with a JSON body. */
export function jsonRequest(
  url: string,
  body: unknown,
  options: { accept?: string; headers?: Record<string, string>; adjusted?: string[] } = {},
): WireRequest {
  const { accept = 'application/json', adjusted = [] } = options
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept, ...options.headers },
    body,
    adjusted,
  }
}
