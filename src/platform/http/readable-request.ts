import type { FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'

/** Throws AppError for a request that no route can handle, before its body is read. */
export function assertReadable({ headers, host, raw, query, params }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion === '1.1') {
    throw new AppError('invalid_request', 'An HTTP/1.1 request must have a host header.', { param: 'host' })
  }
  if (countHosts(raw.rawHeaders) > 1 || ![headers.host, host].every(isHost)) {
    throw new AppError('invalid_request', 'The request must have one host header with a name and, if needed, a port.', {
      param: 'host',
    })
  }
  const encoding = headers['content-encoding']?.trim()
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (hasBody && encoding && encoding.toLowerCase() !== 'identity') {
    throw new AppError(
      'unsupported_media_type',
      `The content-encoding \`${encoding.slice(0, 40)}\` is not supported. Send the body without compression.`,
      { param: 'content-encoding' },
    )
  }
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    assertText(name, value, 'invalid_request')
  }
  for (const [name, value] of Object.entries((params ?? {}) as Record<string, unknown>)) {
    assertText(name, value, 'not_found')
  }
}

/** Two of them may mean two servers to a proxy and to this one. Node.js drops all but the first from `headers`. */
function countHosts(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host')
    .length
}

/** A name or an address, and a port. It may be empty (RFC 9112, section 3.2). Addresses are made from it. */
export function isHost(text: string | undefined): boolean {
  return !text || (/^(?:[\w.-]+|\[[\d.:a-f]+\])(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`))
}

/** U+0000 and lone surrogates cannot be stored, so no stored name contains them. */
function assertText(name: string, value: unknown, code: 'invalid_request' | 'not_found') {
  const text = name + String(value)
  if (!text.includes('\u0000') && text.isWellFormed()) return
  const param = name.toWellFormed().replaceAll('\u0000', '').slice(0, 60)
  const message =
    code === 'not_found'
      ? `There is nothing with this \`${param}\`.`
      : `\`${param}\` must be valid Unicode without the character U+0000.`
  throw new AppError(code, message, { param })
}
