import type { WireRequest } from './wire-adapter.ts'

/** Requests without further headers share one object for each format of the answer. */
const plainHeaders = new Map(
  ['application/json', 'text/event-stream'].map((accept) => [
    accept,
    Object.freeze({ 'content-type': 'application/json', accept }),
  ]),
)

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
    headers: (options.headers === undefined && plainHeaders.get(accept)) || {
      'content-type': 'application/json',
      accept,
      ...options.headers,
    },
    body,
    adjusted,
  }
}
