import { maximumMetadataBytes, maximumNameLength } from '../contract/documents.ts'
import { AppError } from '../kernel/index.ts'

/**
 * A display name: NFC, without path parts, control characters and bidirectional overrides (which make `fdp.exe` look like
 * `exe.pdf`). Throws AppError naming `param` when nothing is left or it is too long.
 */
export function cleanName(name: string, param: string): string {
  const lastPart =
    name
      .normalize('NFC')
      .replaceAll('\\', '/')
      .split('/')
      .findLast((part) => part.trim() !== '') ?? ''
  // eslint-disable-next-line no-control-regex
  const clean = lastPart
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
    .toWellFormed()
    .trim()
  if (clean === '' || clean === '.' || clean === '..')
    throw new AppError('invalid_request', `${param}: the name is empty.`, { param })
  if ([...clean].length > maximumNameLength) {
    throw new AppError('invalid_request', `${param}: at most ${maximumNameLength} characters.`, { param })
  }
  return clean
}

/** A metadata field of a multipart upload: the text of a JSON object. */
export function parseMetadata(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AppError('invalid_request', 'metadata: must be a JSON object as text.', { param: 'metadata' })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid_request', 'metadata: must be a JSON object.', { param: 'metadata' })
  }
  return assertMetadataSize(value as Record<string, unknown>)
}

export function assertMetadataSize(metadata: Record<string, unknown>): Record<string, unknown> {
  if (Buffer.byteLength(JSON.stringify(metadata)) > maximumMetadataBytes) {
    throw new AppError('invalid_request', `metadata: at most ${maximumMetadataBytes} bytes of JSON.`, {
      param: 'metadata',
    })
  }
  return metadata
}

/** metadata.url as a link for citations: text, and nothing that a browser would run. */
export function readSourceUrl(metadata: Record<string, unknown> | null): string | null {
  const url = metadata?.url
  if (typeof url !== 'string' || url.trim() === '' || url.includes('\u0000')) return null
  return /^\s*(?:javascript|data|vbscript|file|blob):/i.test(url) ? null : url
}
