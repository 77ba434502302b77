import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBackupLoad } from '../harness/backup-load.ts'
import { type DatabasePlace, databaseVariables, withoutPooler } from '../harness/database.ts'
import { runOnServer, testServerUrl, urlOfDatabase } from '../harness/database-template.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  createApiClient,
  expectStatus,
  removeFolder,
  type SeparatePortico,
  startSeparatePortico,
} from '../harness/portico.ts'

/** `deploy/postgres-backup.sh`: backup of a service on PostgreSQL under load, and restore into another database. */

const repository = path.resolve(import.meta.dirname, '../..')
const tools = ['psql', 'pg_dump', 'pg_restore']

describe.skipIf(testServerUrl() === undefined)('deploy/postgres-backup.sh', () => {
  const restoredDatabase = `portico_restored_${randomBytes(4).toString('hex')}`
  let folder: string
  let portico: SeparatePortico

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-postgres-backup-'))
    mkdirSync(path.join(folder, 'bin'))
    // The tools of the test server: those of the system may be older than it.
    if (existsSync(path.join(tmpdir(), 'portico-postgres/.complete'))) {
      for (const tool of tools) {
        const file = path.join(folder, 'bin', tool)
        writeFileSync(file, `#!/bin/sh\nexec bash ${repository}/scripts/postgres-for-tests.sh tool ${tool} "$@"\n`)
        chmodSync(file, 0o755)
      }
    }
    portico = await startSeparatePortico()
    await runOnServer(testServerUrl()!, `create database ${restoredDatabase}`)
  })
  afterAll(async () => {
    await portico?.stop()
    await runOnServer(testServerUrl()!, `drop database if exists ${restoredDatabase} with (force)`)
    await removeFolder(folder)
  })

  function script(words: string[], place: Omit<DatabasePlace, 'remove'>) {
    return promisify(execFile)(path.join(repository, 'deploy/postgres-backup.sh'), words, {
      env: {
        PATH: `${folder}/bin:${process.env['PATH']}`,
        TMPDIR: tmpdir(),
        PORTICO_DATA_DIR: place.dataFolder,
        ...databaseVariables(place),
      },
    })
  }

  it('a backup under load has every call and document acknowledged before it began, and the restored service works', async () => {
    const organisation = await portico.createOrganisation({ limits: { concurrentCalls: 64 } })
    const space = await portico.createSpace(organisation, { settings: { wholeSpaceTokens: 0 } })
    await uploadReady(organisation, space.id, 'The museum opens at ten on Sundays.', 'museum.txt')

    const load = startBackupLoad(portico, organisation, space)
    await load.reach(100)
    const before = load.snapshot()
    const backup = path.join(folder, 'backup')
    // Behind a pooler in transaction mode the script connects to the server itself.
    const direct = withoutPooler(portico.place).databaseUrl
    const pooled = { ...portico.place, databaseUrl: 'postgres://127.0.0.1:1/not-used', databaseDirectUrl: direct }
    const { stderr } = await script(['backup', backup], pooled)
    /** Documents that were deleted after the databases were copied and before their files were. */
    const removed = Array.from(stderr.matchAll(/the file \S+\/(\S+) was removed during the backup/g), ([, id]) => id)
    const during = load.done.calls.size - before.calls.size
    await load.stop()
    expect(during).toBeGreaterThan(0)
    expect(existsSync(`${backup}.unfinished`)).toBe(false)

    const target = path.join(folder, 'restored')
    const databaseUrl = urlOfDatabase(testServerUrl()!, restoredDatabase)
    await script(['restore', backup], { dataFolder: target, databaseUrl })
    const other = { dataFolder: path.join(folder, 'other'), databaseUrl }
    await expect(script(['restore', backup], other)).rejects.toThrow('already has the schema portico_control')
    await using copy = await startSeparatePortico({
      place: { dataFolder: target, databaseUrl, remove: () => removeFolder(target) },
    })
    // Instances of the time of the backup are presumed dead after 10 s.
    await expect
      .poll(
        async () => {
          const { findings } = expectStatus(await copy.operator('GET', '/api/audit'), 200)
          return findings.filter(({ subject }: { subject: string }) => !removed.includes(subject))
        },
        { timeout: 60_000, interval: 1_000 },
      )
      .toEqual([])
    for (const call of before.calls) expect((await copy.operator('GET', `/api/usage/${call}`)).status).toBe(200)
    const client = createApiClient(copy.url, organisation.apiKey)
    for (const document of [...before.documents].filter((one) => load.done.documents.has(one))) {
      expectStatus(await client('GET', `/v1/documents/${document}`), 200)
      expect((await copy.operator('GET', `/api/documents/${document}/content`)).status).toBe(200)
    }
    const question = { messages: [{ role: 'user', content: 'When does the museum open on Sundays?' }] }
    const answer = expectStatus(await client('POST', `/v1/endpoints/${space.endpointId}/chat`, question), 200)
    expect(JSON.stringify(answer)).toContain('museum.txt')
  }, 300_000)

  it('refuses a damaged backup and an existing target, and names the missing part of an incomplete one', async () => {
    const backup = path.join(folder, 'backup')
    const { place } = portico
    await expect(script(['backup', backup], place)).rejects.toThrow('exists already')
    writeFileSync(path.join(backup, 'control.dump'), 'damaged')
    const target = { ...place, dataFolder: folder }
    await expect(script(['restore', backup], target)).rejects.toThrow('is damaged')
    await expect(script(['restore', path.join(folder, 'bin')], target)).rejects.toThrow('it has no SHA256SUMS')
    const failed = path.join(folder, 'failed')
    const missing = { ...place, databaseUrl: urlOfDatabase(testServerUrl()!, 'missing'), databaseDirectUrl: undefined }
    await expect(script(['backup', failed], missing)).rejects.toThrow('gave no snapshot')
    expect(readdirSync(folder)).not.toContain('failed')
  }, 60_000)
})
