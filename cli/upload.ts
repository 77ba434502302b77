import { randomUUID } from 'node:crypto'
import { openAsBlob, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type DocumentBody, type DocumentSummaryBody, supportedFileTypes } from '../src/contract/documents.ts'
import type { ApiClient } from './api-client.ts'
import { FailedError, UsageError } from './errors.ts'
import type { Retries } from './retries.ts'

export interface UploadOutcome {
  file: string
  documentId: string | null
  status: string
  duplicateOf: string | null
  error: string | null
  /** Empty until the document is processed. */
  warnings: string[]
}

export interface UploadSettings {
  spaceId: string
  name: string | undefined
  /** JSON text */
  metadata: string | undefined
  onDuplicate: string
  wait: boolean
  parallel: number
  signal: AbortSignal
  retries: Retries
  onProgress(done: number, current: string): void
}

const { supportedExtensions } = supportedFileTypes[2]

const pollMs = 500

/** The files to upload: each file that is named, and all files of supported types in each folder, sorted. */
export function findFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap((given) => {
    const stats = statSync(given, { throwIfNoEntry: false })
    if (!stats) throw new UsageError(`${given} does not exist.`)
    if (!stats.isDirectory()) return [given]
    return readdirSync(given, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isSupported(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
  })
  if (files.length === 0)
    throw new UsageError(`There is no file to upload. Supported: ${supportedExtensions.join(', ')}.`)
  return files
}

function isSupported(name: string): boolean {
  return supportedExtensions.includes(path.extname(name).toLowerCase())
}

/** Uploads all files; a failure does not stop the others. The outcomes are in the order of the files. */
export async function uploadAll(
  client: ApiClient,
  files: string[],
  settings: UploadSettings,
): Promise<UploadOutcome[]> {
  const outcomes: UploadOutcome[] = []
  let next = 0
  let done = 0
  async function work() {
    while (next < files.length && !settings.signal.aborted) {
      const index = next++
      const file = files[index]!
      settings.onProgress(done, file)
      outcomes[index] = await uploadOne(client, file, settings)
      settings.onProgress(++done, file)
    }
  }
  await Promise.all(Array.from({ length: settings.parallel }, work))
  if (settings.signal.aborted) throw new FailedError(`Interrupted after ${done} of ${files.length} files.`)
  return outcomes
}

async function uploadOne(client: ApiClient, file: string, settings: UploadSettings): Promise<UploadOutcome> {
  try {
    const { document, duplicateOf } = await sendFile(client, file, settings)
    const processed = settings.wait ? await waitUntilProcessed(client, document.id, settings.signal) : undefined
    const failure = processed?.error
    const warnings = processed?.warnings ?? []
    return {
      file,
      documentId: document.id,
      status: processed?.status ?? document.status,
      duplicateOf,
      error: failure ? `${failure.code}: ${failure.message}` : null,
      warnings: warnings.map(({ message }) => message),
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { file, documentId: null, status: 'refused', duplicateOf: null, error: message, warnings: [] }
  }
}

/** Sends the file, again while the service is busy; the same Idempotency-Key makes sure that it is stored once. */
function sendFile(client: ApiClient, file: string, settings: UploadSettings) {
  const key = randomUUID()
  return settings.retries.run(async () => {
    const body = new FormData()
    if (settings.name !== undefined) body.append('name', settings.name)
    if (settings.metadata !== undefined) body.append('metadata', settings.metadata)
    body.append('file', await openAsBlob(file), path.basename(file))
    const query = new URLSearchParams({ spaceId: settings.spaceId, onDuplicate: settings.onDuplicate })
    const target = `/v2/documents?${query}`
    const response = await client.fetch('POST', target, { body, headers: { 'idempotency-key': key } })
    const document = (await response.json()) as DocumentSummaryBody
    return { document, duplicateOf: response.headers.get('x-duplicate-of') }
  })
}

/** Reads the document until its processing has ended. */
export async function waitUntilProcessed(client: ApiClient, id: string, signal: AbortSignal): Promise<DocumentBody> {
  for (;;) {
    const document = await client.get<DocumentBody>(`/v1/documents/${encodeURIComponent(id)}`)
    if (document.status !== 'processing') return document
    await wait(pollMs, undefined, { signal })
  }
}
