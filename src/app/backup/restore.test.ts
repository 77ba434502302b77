import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type Header, pack as createPack } from 'tar-stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ArchiveWriter } from '../../platform/archive/index.ts'
import type { BackupHeader } from '../../contract/backup.ts'
import { backupArchive, BackupError, secretKeyCheck } from './layout.ts'
import { checkArchive, restore } from './restore.ts'

/** What a restore accepts, and that nothing else is written anywhere. */

const key = 'the secret key of the backup'
const header: BackupHeader = {
  format: 1,
  portico: '0.1.0',
  startedAt: '2026-11-22T12:00:00.000Z',
  schemas: { control: ['0001-one'], corpus: ['0001-one'] },
  secretKeyCheck: secretKeyCheck(key),
  blobs: null,
}
let folder: string
let target: string

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-restore-'))
  target = path.join(folder, 'data')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The bytes of a complete archive. */
async function archiveOf(write: (writer: ArchiveWriter) => Promise<void>, head = header): Promise<Buffer> {
  const writer = new ArchiveWriter(backupArchive, head, new AbortController().signal)
  const bytes = buffer(writer.stream())
  await write(writer)
  await writer.finish({ consistentAt: new Date().toISOString() })
  return bytes
}

const small = () =>
  archiveOf(async (writer) => {
    writer.addFolder('database/control')
    await writer.addBytes('database/control/PG_VERSION', Buffer.from('18\n'))
    await writer.addBytes('blobs/one/two/three', Buffer.alloc(600_000, 'x'))
  })

function restoreBytes(bytes: Buffer, options: Partial<Parameters<typeof restore>[0]> = {}) {
  const archive = path.join(folder, 'archive.tar')
  writeFileSync(archive, bytes)
  return restore({
    archive,
    dataFolder: target,
    secretKey: undefined,
    lockFolder: () => () => {},
    checkSchemas() {},
    checkDatabases: async () => {},
    ...options,
  })
}

async function expectRefused(bytes: Buffer, message: string | RegExp, options = {}): Promise<void> {
  const error: unknown = await restoreBytes(bytes, options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(BackupError)
  expect((error as Error).message).toMatch(message)
  // Nothing that a service starts with, and nothing outside of the folder.
  expect(readdirSync(folder).toSorted()).toEqual(['archive.tar', 'data'])
  if (existsSync(target)) expect(readdirSync(target)).toEqual(['restoring'])
}

it('restores every file, the key, and nothing else', async () => {
  const bytes = await archiveOf(async (writer) => {
    for (let number = 0; number < 1_100; number++) {
      await writer.addBytes(`blobs/one/${number}`, Buffer.from(`file ${number}`))
    }
  })
  const { manifest } = await restoreBytes(bytes, { secretKey: key })
  expect(manifest.files).toBe(1_100)
  expect(readdirSync(target).toSorted()).toEqual(['blobs', 'secret.key'])
  expect(await readFile(path.join(target, 'secret.key'), 'utf8')).toBe(key)
  for (const number of [0, 999, 1_000, 1_099]) {
    expect(await readFile(path.join(target, `blobs/one/${number}`), 'utf8')).toBe(`file ${number}`)
  }
})

it('refuses an archive that ends anywhere before its end, and completes with the whole one', async () => {
  const bytes = await small()
  const cuts = [0, 100, 512, 1_024, 4_000, 300_000, bytes.length - 4_096, bytes.length - 1_536, bytes.length - 1_100]
  for (const cut of cuts) await expectRefused(bytes.subarray(0, cut), /cut off|no manifest|does not begin/)
  await restoreBytes(bytes)
  expect(readdirSync(target).toSorted()).toEqual(['blobs', 'database'])
})

it('refuses an archive with any changed byte of a file', async () => {
  const bytes = await small()
  for (const position of [bytes.indexOf('18\n'), bytes.indexOf('xxxx'), bytes.lastIndexOf('xxxx')]) {
    const changed = Buffer.from(bytes)
    changed[position]! ^= 1
    await expectRefused(changed, /differs from what was written/)
  }
})

it('refuses another secret key, a newer format, a newer schema and databases that do not open', async () => {
  const bytes = await small()
  await expectRefused(bytes, 'the secret key is not the one of the backup', { secretKey: 'another' })
  const newer = await archiveOf(async () => {}, { ...header, format: 2 as 1 })
  await expectRefused(newer, 'has format 2, which this version of Portico cannot read')
  await expectRefused(bytes, 'newer schema', {
    checkSchemas() {
      throw new BackupError('newer schema')
    },
  })
  await expectRefused(bytes, 'does not open', {
    checkDatabases: () => Promise.reject(new BackupError('does not open')),
  })
})

it('refuses a folder that is not empty, and changes nothing in it', async () => {
  const bytes = await small()
  await restoreBytes(bytes)
  const before = readdirSync(target, { recursive: true })
  await expect(restoreBytes(bytes)).rejects.toThrow(
    /is not empty \(it has blobs\): restore into an empty or a new folder/,
  )
  expect(readdirSync(target, { recursive: true })).toEqual(before)
})

describe('refuses entries that no backup has', () => {
  const content = Buffer.from('content')
  const entries: [string, Partial<Header> & { name: string }][] = [
    ['a path that leaves the folder', { name: 'blobs/../../outside' }],
    ['an absolute path', { name: '/tmp/portico-outside' }],
    ['a hidden file', { name: 'blobs/.incoming' }],
    ['a backslash', { name: 'blobs\\..\\outside' }],
    ['a file of the data folder that is never in a backup', { name: 'secret.key' }],
    ['the lock of the databases', { name: 'database/lock' }],
    ['an unknown folder', { name: 'bin/portico' }],
    ['a symbolic link', { name: 'blobs/link', type: 'symlink', linkname: '/etc' }],
    ['a hard link', { name: 'blobs/link', type: 'link', linkname: 'blobs/one' }],
    ['a device', { name: 'blobs/device', type: 'character-device' }],
  ]
  it.each(entries)('%s', async (_title, entry) => {
    await expectRefused(await handmade([{ ...entry }, content]), /an entry that (?:no backup has|is neither)/)
  })

  it('the same file twice', async () => {
    const bytes = await handmade([{ name: 'blobs/one' }, content], [{ name: 'blobs/one' }, content])
    await expect(restoreBytes(bytes)).rejects.toThrow('EEXIST')
    expect(readdirSync(target)).toEqual(['restoring'])
  })

  it('a manifest that counts other files', async () => {
    const bytes = await handmade([
      { name: 'manifest.json' },
      Buffer.from(
        JSON.stringify({
          format: 1,
          consistentAt: header.startedAt,
          finishedAt: header.startedAt,
          files: 1,
          bytes: 7,
          sha256: createHash('sha256').digest('hex'),
        }),
      ),
    ])
    await expectRefused(bytes, 'other files than its manifest states')
  })

  it('a header of many megabytes', async () => {
    await expectRefused(await handmade([{ name: 'sums/000001' }, Buffer.alloc(5 * 2 ** 20)]), 'the limit is 1100000')
  })
})

it('the check reads everything and writes nothing', async () => {
  const archive = path.join(folder, 'archive.tar')
  writeFileSync(archive, await small())
  const { manifest } = await checkArchive(archive, { checkSchemas() {} })
  expect([manifest.files, manifest.bytes]).toEqual([2, 600_003])
  expect(readdirSync(folder)).toEqual(['archive.tar'])
})

/** A tar archive with a valid header and then these entries. */
async function handmade(...entries: [Partial<Header> & { name: string }, Buffer][]): Promise<Buffer> {
  const pack = createPack()
  pack.entry({ name: 'portico-backup.json' }, JSON.stringify(header))
  for (const [entry, content] of entries) {
    if (entry.type === undefined) pack.entry(entry, content)
    else pack.entry(entry)
  }
  pack.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of pack) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
