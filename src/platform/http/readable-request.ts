import { AppError } from '../kernel/index.ts'
import type { Visit } from './visit.ts'

/** Throws AppError for a request that no route can handle, before its body is read. Looks at the raw headers, as their object is not always needed. */
export function assertReadable({ raw, host, declaredBytes, request }: Visit): void {
  const hosts: string[] = []
  let isEncoded = false
  raw.rawHeaders.forEach((text, index) => {
    if (index % 2 === 1) return
    if (text.length === 4 && text.toLowerCase() === 'host') hosts.push(raw.rawHeaders[index + 1]!)
    else if (text.length === 16 && text.toLowerCase() === 'content-encoding') isEncoded = true
  })
  if (hosts.length === 0 && raw.httpVersion === '1.1')
    throw new AppError('invalid_request', 'An HTTP/1.1 request must have a host header.', { param: 'host' })
  if (hosts.length > 1 || !isHost(hosts[0]) || (host !== hosts[0] && !isHost(host))) {
    throw new AppError('invalid_request', 'The request must have one host header with a name and, if needed, a port.', {
      param: 'host',
    })
  }
  if (isEncoded && (declaredBytes > 0 || raw.headers['transfer-encoding'] !== undefined))
    assertPlain(raw.headers['content-encoding']!.trim())
  assertTexts(request?.query, 'invalid_request')
  assertTexts(request?.params, 'not_found')
}

function assertPlain(encoding: string) {
  if (encoding === '' || encoding.toLowerCase() === 'identity') return
  throw new AppError(
    'unsupported_media_type',
    `The content-encoding \`${encoding.slice(0, 40)}\` is not supported. Send the body without compression.`,
    { param: 'content-encoding' },
  )
}

/** A name or an address, and a port. It may be empty (RFC 9112, section 3.2). Addresses are made from it. */
export function isHost(text: string | undefined): boolean {
  return !text || (/^(?:[\w.-]+|\[[\d.:a-f]+\])(?::\d{1,5})?$/i.test(text) && URL.canParse(`http://${text}`))
}

function assertTexts(values: unknown, code: 'invalid_request' | 'not_found') {
  for (const [name, value] of Object.entries((values ?? {}) as Record<string, unknown>)) assertText(name, value, code)
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
