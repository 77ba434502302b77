import { createHash, randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import path from 'node:path'
import type { DocumentSummaryBody, DocumentV2Body } from '../../src/contract/documents.ts'
import type { ApiClient } from '../api-client.ts'
import { FailedError } from '../errors.ts'
import type { Retries } from '../retries.ts'
import { type Describe, type FileState, loadMetadata, type MetadataSettings, stampOf } from './describe-file.ts'
import { digestMetadata, type SpaceDocument } from './space-documents.ts'
import type { Action } from './plan.ts'
import type { LocalFile } from './walk-folder.ts'

export interface Applying {
  client: ApiClient
  retries: Retries
  spaceId: string
  settings: MetadataSettings
  describe: Describe
}

/** Uploads of a file that is written meanwhile. */
const maximumReads = 3

/** Makes a change of the Space. Resolves to the id of a document that is processed because of it. Throws FailedError. */
export async function applyAction(applying: Applying, action: Action): Promise<string | undefined> {
  if (action.kind === 'new') return uploadFile(applying, action.file, undefined)
  const { kind, document, file } = action
  if (kind === 'changed') return uploadFile(applying, file, document)
  try {
    const metadata = await loadMetadata(file, applying.settings)
    const body = kind === 'moved' ? { name: nameOf(file), metadata } : { metadata }
    await applying.retries.run(() => applying.client.send('PATCH', pathOf(document.id), body))
    return undefined
  } catch (error) {
    if (!isMissing(error)) throw error
    return uploadFile(applying, file, undefined)
  }
}

export async function removeDocument({ client, retries }: Applying, id: string): Promise<void> {
  try {
    await retries.run(() => client.send('DELETE', pathOf(id)))
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Uploads the file as it is at one moment: a file that was written during the upload is sent again. */
async function uploadFile(applying: Applying, file: LocalFile, former: SpaceDocument | undefined): Promise<string> {
  let document = former
  for (let reads = 1; reads <= maximumReads; reads++) {
    const state = await applying.describe(file)
    const id = await sendState(applying, file, state, document).catch(async (error: unknown) => {
      if ((await stampOf(file)) !== state.stamp) return undefined
      throw error
    })
    if (id !== undefined && (await stampOf(file)) === state.stamp) return id
    if (id !== undefined) document = { ...toDocument(id, state), name: nameOf(file) }
  }
  throw new FailedError('The file changes while it is read. Push again when it is complete.')
}

function toDocument(id: string, state: FileState): Omit<SpaceDocument, 'name'> {
  return { id, sourceFile: undefined, folder: '', hasFailed: false, ...state }
}

/**
 * The Idempotency-Key follows from the change, so that a push that was killed and two pushes at once store a file once. A key of a change that
 * was undone since, within a day, has no effect; then the upload gets another key.
 */
async function sendState(
  applying: Applying,
  file: LocalFile,
  state: FileState,
  former: SpaceDocument | undefined,
): Promise<string> {
  const { spaceId, settings } = applying
  const metadata = await loadMetadata(file, settings)
  const change = [spaceId, settings.into + file.path, state.contentSha256, digestMetadata(metadata)]
  const before = former ? [former.id, former.contentSha256] : []
  const key = createHash('sha256')
    .update(JSON.stringify([...change, ...before]))
    .digest('base64url')
  const upload = { file, metadata: JSON.stringify(metadata), replaces: former?.id }
  try {
    const { id, isRepeated } = await send(applying, upload, key)
    if (!isRepeated || (await hasContent(applying, id, state))) return id
  } catch (error) {
    const { code, param } = error instanceof FailedError ? error.details : {}
    if (isMissing(error) && param === 'replaces') return sendState(applying, file, state, undefined)
    if (code !== 'idempotency_key_reused') throw error
  }
  return (await send(applying, upload, randomUUID())).id
}

async function hasContent({ client, retries }: Applying, id: string, state: FileState): Promise<boolean> {
  try {
    const document = await retries.run(() => client.get<DocumentV2Body>(pathOf(id)))
    return document.contentSha256 === state.contentSha256
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

interface Upload {
  file: LocalFile
  metadata: string
  replaces: string | undefined
}

function send({ client, retries, spaceId }: Applying, { file, metadata, replaces }: Upload, key: string) {
  return retries.run(async () => {
    const body = new FormData()
    body.append('name', nameOf(file))
    body.append('metadata', metadata)
    // Reading fails if the file changes after this.
    body.append('file', await openAsBlob(file.location), nameOf(file))
    const query = new URLSearchParams({ spaceId, ...(replaces !== undefined && { replaces }) })
    const response = await client.fetch('POST', `/v2/documents?${query}`, { body, headers: { 'idempotency-key': key } })
    const { id } = (await response.json()) as DocumentSummaryBody
    return { id, isRepeated: response.headers.get('idempotent-replayed') === 'true' }
  })
}

const nameOf = (file: LocalFile) => path.posix.basename(file.path)
const pathOf = (id: string) => `/v2/documents/${encodeURIComponent(id)}`

function isMissing(error: unknown): boolean {
  return error instanceof FailedError && error.details.code === 'document_not_found'
}
