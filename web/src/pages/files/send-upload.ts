import type { OnDuplicate } from '@contract/documents.ts'

export interface UploadRequest {
  spaceId: string
  file: File
  path: string
  onDuplicate: OnDuplicate
  /** The Idempotency-Key: an upload whose answer was lost is not stored twice. */
  key: string
}

export class UploadFailure extends Error {
  /** Set for a failure that may pass: the shortest time before another attempt. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs: number | undefined) {
    super(message)
    this.name = 'UploadFailure'
    this.retryAfterMs = retryAfterMs
  }
}

/** Sends one file, reporting the bytes that were sent. XMLHttpRequest, because fetch reports no progress of uploads. */
export function sendUpload(
  { spaceId, file, path, onDuplicate, key }: UploadRequest,
  signal: AbortSignal,
  onProgress: (loaded: number) => void,
): Promise<{ isSkipped: boolean }> {
  const form = new FormData()
  if (path !== '') form.append('metadata', JSON.stringify({ path }))
  form.append('file', file, file.name)
  const request = new XMLHttpRequest()
  request.open('POST', `/api/spaces/${spaceId}/documents?onDuplicate=${onDuplicate}`)
  request.setRequestHeader('idempotency-key', key)
  return new Promise((resolve, reject) => {
    // The frame of the multipart body is a few hundred bytes more than the file.
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(Math.min(loaded, file.size)))
    request.addEventListener('load', () => {
      if (request.status < 300) resolve({ isSkipped: request.status === 200 })
      else reject(failureOf(request))
    })
    request.addEventListener('error', () => reject(new UploadFailure('', 0)))
    request.addEventListener('abort', () => reject(new UploadFailure('', undefined)))
    signal.addEventListener('abort', () => request.abort())
    request.send(form)
  })
}

function failureOf(request: XMLHttpRequest): UploadFailure {
  let message = ''
  try {
    const { error } = JSON.parse(request.responseText) as { error?: { message?: string } }
    message = error?.message ?? ''
  } catch {
    // Not an answer of Portico.
  }
  const mayPass = request.status === 429 || request.status >= 500
  const seconds = Number(request.getResponseHeader('retry-after'))
  return new UploadFailure(message, mayPass ? (Number.isFinite(seconds) ? seconds * 1000 : 0) : undefined)
}
