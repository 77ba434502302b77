import { mkdirSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { makeTemporaryFolder } from '../../../test/harness/temporary-folder.ts'
import { createSpaceId, silentLog } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import { type BlobStore, createDocuments, createFolderBlobStore, createUnusedBlobs } from './index.ts'

const organisation = { id: 'organisation' } as Organisation
const spaceId = createSpaceId()

const fails = () => Promise.reject(new Error('the connection was lost'))

const form = (parts: string) => `--b\r\n${parts}\r\n--b--\r\n`
const file = 'content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\ntext'

/** Uploads against a store of rows with faults. */
function openUploads(faults: {
  findSameContent?: () => Promise<undefined>
  insert?: (blobKey: string) => Promise<{ kind: string }>
  /** After the file is stored. */
  put?: () => Promise<never>
}) {
  const files = new Set<string>()
  const blobs = {
    async put(key: string, source: AsyncIterable<Uint8Array>) {
      for await (const _ of source);
      files.add(key)
      if (faults.put) await faults.put()
    },
    delete: async (key: string) => void files.delete(key),
  } as unknown as BlobStore
  const rows = new Set<string>()
  const database = { answers: true }
  const store = {
    findSameContent: async () => faults.findSameContent?.(),
    insert: async ({ blobKey }: { blobKey: string }) => {
      if (!faults.insert) rows.add(blobKey)
      return faults.insert ? faults.insert(blobKey) : { kind: 'inserted' }
    },
    async findOrphanBlobs(keys: readonly string[]) {
      if (!database.answers) throw new Error('the database does not answer')
      return keys.filter((key) => !rows.has(key))
    },
  }
  const clock = createFakeClock()
  const unusedBlobs = createUnusedBlobs({ store, blobs, clock, log: silentLog })
  const documents = createDocuments({
    store: store as never,
    blobs,
    hasSpace: () => true,
    detectFormat: () => ({ supported: true, format: 'txt', mimeType: 'text/plain' }),
    maximumUploadBytes: 100,
    unusedBlobs,
  })
  const upload = (parts: string) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const request = Object.assign(Readable.from([Buffer.from(form(parts))]), { headers })
    const { signal } = new AbortController()
    return documents.upload(organisation, { version: 1, spaceId, request, uploadKey: undefined, signal }).then(
      () => 'accepted',
      () => 'rejected',
    )
  }
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round++) await clock.advance(5_000)
  }
  return { upload, files, rows, database, rounds }
}

describe('a rejected upload leaves no file', () => {
  it.each([
    ['the database does not answer before the row is inserted', { findSameContent: fails }, file],
    ['the blob store fails after it has stored the file', { put: fails }, file],
    ['its row is not needed', { insert: async () => ({ kind: 'key_reused' }) }, file],
    [
      'a later part is not valid',
      {},
      `${file}\r\n--b\r\ncontent-disposition: form-data; name="other"; filename="b"\r\n\r\nx`,
    ],
    ['it is too large', {}, `${file}${'x'.repeat(200)}`],
    ['its metadata is not valid', {}, `${file}\r\n--b\r\ncontent-disposition: form-data; name="metadata"\r\n\r\n[]`],
  ])('if %s', async (_when, faults, parts) => {
    const { upload, files, database } = openUploads(faults)
    database.answers = false
    expect(await upload(parts)).toBe('rejected')
    expect(files.size).toBe(0)
  })

  it('if the answer to its commit is lost, as soon as the database has answered twice that there is no row', async () => {
    const { upload, files, rounds, database } = openUploads({ insert: fails })
    database.answers = false
    expect(await upload(file)).toBe('rejected')
    await rounds(3)
    expect(files.size).toBe(1)
    database.answers = true
    await rounds(1)
    expect(files.size).toBe(1)
    await rounds(1)
    expect(files.size).toBe(0)
  })
})

it('the file of an upload whose commit succeeded stays, also if the row appears after the first check', async () => {
  let key = ''
  const { upload, files, rounds, rows } = openUploads({
    insert: (blobKey) => {
      key = blobKey
      return fails()
    },
  })
  expect(await upload(file)).toBe('rejected')
  await rounds(1)
  rows.add(key)
  await rounds(3)
  expect(files.size).toBe(1)
})

it('a file that cannot be removed is not the error of its upload', async () => {
  const blobs = await createFolderBlobStore(makeTemporaryFolder('blobs'), {
    createFile(temporary) {
      // Removing a folder like a file fails, as removing a file on a read-only disk does.
      mkdirSync(temporary)
      const error = Object.assign(new Error('read-only file system'), { code: 'EROFS' })
      return new Writable({ write: (_chunk, _encoding, done) => done(error) })
    },
  })
  const put = blobs.put('a/b/c', Readable.from([Buffer.from('x')]), new AbortController().signal)
  await expect(put).rejects.toMatchObject({ code: 'overloaded', internal: 'the blob folder cannot be written (EROFS)' })
})
