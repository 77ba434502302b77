import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabases, type TestDatabases } from '../../../test/harness/database.ts'
import { newDocument } from '../../../test/harness/document-rows.ts'
import { createFakeClock } from '../../../test/harness/fake-clock.ts'
import { createJobQueue } from '../../platform/jobs/index.ts'
import {
  createDocumentId,
  createOrganisationId,
  createSpaceId,
  silentLog,
  type SpaceId,
  systemClock,
} from '../../platform/kernel/index.ts'
import {
  type BlobStore,
  createDocumentAudit,
  createDocumentStore,
  createDocumentSweeper,
  createFolderBlobStore,
  lostBlobAgeMs,
  removeLostBlobs,
} from './index.ts'

/** The audit and the repair of what transactions cannot cover. */

let databases: TestDatabases
let folder: string
let blobs: BlobStore
let store: ReturnType<typeof createDocumentStore>
const organisationId = createOrganisationId()
const spaceId = createSpaceId()
const twoHoursMs = 2 * 60 * 60_000

beforeAll(async () => {
  databases = await openTestDatabases()
})
beforeEach(async () => {
  await databases.corpus.execute('delete from documents')
  await databases.corpus.execute('delete from job')
  await databases.corpus.execute('delete from upload_keys')
  folder = await mkdtemp(path.join(tmpdir(), 'portico-blobs-'))
  blobs = await createFolderBlobStore(folder)
  const jobs = createJobQueue({ database: databases.corpus, clock: systemClock, log: silentLog })
  store = createDocumentStore({ database: databases.corpus, jobs, removeFromIndex: async () => {} })
  return () => rm(folder, { recursive: true })
})
afterAll(() => databases?.drop())

async function insert(fields: { uploadKey?: string } = {}) {
  const id = createDocumentId()
  const blobKey = `${organisationId}/${spaceId}/${id}`
  await blobs.put(blobKey, bytes('text'), new AbortController().signal)
  const outcome = await store.insert(newDocument({ id, organisationId, spaceId, blobKey, ...fields }))
  return { id, blobKey, outcome }
}

async function* bytes(text: string) {
  yield Buffer.from(text)
}

async function putOrphan(ageMs: number, space = spaceId): Promise<string> {
  const key = `${organisationId}/${space}/${createDocumentId()}`
  await blobs.put(key, bytes('left over'), new AbortController().signal)
  const at = new Date(Date.now() - ageMs)
  await utimes(path.join(folder, key), at, at)
  return key
}

const findings = async () => {
  const found = await createDocumentAudit({ store, blobs, clock: systemClock }).run()
  return found.map(({ rule, subject }) => [rule, subject])
}

describe('the audit of documents', () => {
  it('finds nothing in consistent data, also during an upload and a delete', async () => {
    await insert()
    await putOrphan(0)
    const { id, blobKey } = await insert()
    const at = new Date(Date.now() - twoHoursMs)
    await utimes(path.join(folder, blobKey), at, at)
    await store.remove(organisationId, id)
    expect(await findings()).toEqual([])
  })

  it('finds a document without a job, without its file, without chunks, and a file without a document', async () => {
    const stuck = await insert()
    await databases.corpus.execute(`delete from job where key like '%' || $1`, [stuck.id])
    const missing = await insert()
    await blobs.delete(missing.blobKey)
    const empty = await insert()
    await databases.corpus.execute(`update documents set status = 'ready', chunk_count = 3 where id = $1`, [empty.id])
    const orphan = await putOrphan(twoHoursMs)
    expect(await findings()).toEqual([
      ['a document in processing has a job', stuck.id],
      ['a ready document has all of its chunks', empty.id],
      ['a stored file belongs to a document', orphan],
      ['a document has its file', missing.id],
    ])
  })
})

it('removes the lost files of a removed Space, but none of a request in progress, a job or another Space', async () => {
  const job = await insert()
  await store.remove(organisationId, job.id)
  const another = await putOrphan(twoHoursMs, createSpaceId())
  const [lost, young] = [await putOrphan(lostBlobAgeMs + 10_000), await putOrphan(0)]
  const document = await insert()
  for (const { blobKey } of [job, document]) {
    const at = new Date(Date.now() - twoHoursMs)
    await utimes(path.join(folder, blobKey), at, at)
  }
  const remove = (id: SpaceId) =>
    removeLostBlobs({ store, blobs, clock: systemClock }, { organisationId, spaceId: id }, new AbortController().signal)
  await remove(spaceId)
  const keys = [lost, young, job.blobKey, document.blobKey, another]
  expect(await Promise.all(keys.map((key) => blobs.exists(key)))).toEqual([false, true, true, true, true])
  await expect(remove(createSpaceId())).resolves.toBeUndefined()
})

describe('the sweep', () => {
  const sweeper = (soleOwner: boolean, clock = systemClock) =>
    createDocumentSweeper({ store, blobs, soleOwner, clock, log: silentLog })

  it('removes blobs without a document that are older than any upload, and gives stuck documents a job', async () => {
    const kept = await insert()
    const stuck = await insert()
    await databases.corpus.execute(`delete from job where key like '%' || $1`, [stuck.id])
    const [old, young] = [await putOrphan(twoHoursMs), await putOrphan(0)]
    const one = sweeper(false)
    expect(await one.sweep()).toEqual({ removedBlobs: 1, requeued: 1 })
    await one.close()
    expect([await blobs.exists(old), await blobs.exists(young), await blobs.exists(kept.blobKey)]).toEqual([
      false,
      true,
      true,
    ])
    expect(await store.findStuck()).toEqual([])
  })

  it('of a sole owner removes at the start everything that an earlier process left, and later what is older than any upload', async () => {
    const clock = createFakeClock(Date.now() + 60_000)
    const left = await putOrphan(0)
    const one = sweeper(true, clock)
    expect((await one.sweep()).removedBlobs).toBe(1)
    const uploading = await putOrphan(-120_000)
    expect((await one.sweep()).removedBlobs).toBe(0)
    expect([await blobs.exists(left), await blobs.exists(uploading)]).toEqual([false, true])
    // Older than any upload.
    await clock.advance(twoHoursMs)
    expect((await one.sweep()).removedBlobs).toBe(1)
    await one.close()
  })

  it('removes upload keys after a day, which are also ignored from then on', async () => {
    const first = await insert({ uploadKey: 'k' })
    expect((await insert({ uploadKey: 'k' })).outcome).toEqual({
      kind: 'repeated',
      documentId: first.id,
      documentName: 'a.txt',
    })
    await databases.corpus.execute(`update upload_keys set created_at = now() - interval '25 hours'`)
    expect((await insert({ uploadKey: 'k' })).outcome).toEqual({ kind: 'inserted' })
    await databases.corpus.execute(`update upload_keys set created_at = now() - interval '25 hours'`)
    expect(await store.pruneUploadKeys()).toBe(1)
  })
})

describe('the folder of blobs', () => {
  it('removes unfinished uploads at the start: all of them for a sole owner, otherwise only old ones', async () => {
    const half = path.join(folder, '.incoming', 'half')
    await writeFile(half, 'half')
    await createFolderBlobStore(folder)
    await expect(rm(half)).resolves.toBeUndefined()
    await writeFile(half, 'half')
    await createFolderBlobStore(folder, { soleOwner: true })
    await expect(rm(half)).rejects.toThrow('ENOENT')
    await writeFile(half, 'half')
    const at = new Date(Date.now() - twoHoursMs)
    await utimes(half, at, at)
    await createFolderBlobStore(folder)
    await expect(rm(half)).rejects.toThrow('ENOENT')
  })

  it('rejects keys of another form, so that none points outside of it', async () => {
    for (const key of ['../x', '/etc/passwd', 'a//b', 'a/../b', '']) {
      await expect(blobs.open(key, new AbortController().signal)).rejects.toThrow(RangeError)
    }
  })
})
