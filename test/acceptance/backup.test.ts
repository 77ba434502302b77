import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operatorVariables, runCommand } from '../harness/cli.ts'
import { type DatabasePlace, testServerUrl } from '../harness/database.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  createApiClient,
  expectStatus,
  removeFolder,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
} from '../harness/portico.ts'

/** Backup of the embedded databases while the service runs, and restore into an empty folder. */

const repository = path.resolve(import.meta.dirname, '../..')

describe.skipIf(testServerUrl() !== undefined)('backup and restore of the embedded databases', () => {
  let folder: string
  let portico: SeparatePortico
  let organisation: TestOrganisation
  let space: TestSpace
  const inFolder = (name: string) => path.join(folder, name)

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-backup-'))
    portico = await startSeparatePortico()
    organisation = await portico.createOrganisation()
    space = await portico.createSpace(organisation, { settings: { wholeSpaceTokens: 0 } })
    await uploadReady(organisation, space.id, 'The museum opens at ten on Sundays.', 'museum.txt')
  })
  afterAll(async () => {
    await portico?.stop()
    await removeFolder(folder)
  })

  const run = (...words: string[]) =>
    runCommand(words, { environment: { ...process.env, ...operatorVariables(portico) } })

  const placeOf = (dataFolder: string): DatabasePlace => ({
    dataFolder,
    databaseUrl: undefined,
    remove: () => removeFolder(dataFolder),
  })

  it('a backup has every call and document, and the restored service works', async () => {
    const call = { model: 'portico/offline', messages: [{ role: 'user', content: 'Hello' }] }
    const called = await organisation.client('POST', '/v1/gateway/chat/completions', call)
    const file = inFolder('whole.tar')
    const { code, error } = await run('backup', file)
    expect(error).toContain('The secret key is not in the backup.')
    expect(code).toBe(0)
    const log = expectStatus(await portico.operator('GET', '/api/admin-log?action=backup.created'), 200)
    expect(log.items[0]).toMatchObject({ actor: 'operator', action: 'backup.created', subjectType: 'backup' })

    const restored = inFolder('restored')
    expect(await run('restore', file, '--data-folder', restored, '--without-secret-key')).toMatchObject({ code: 0 })
    await using copy = await startSeparatePortico({ place: placeOf(restored) })
    expect(expectStatus(await copy.operator('GET', '/api/audit'), 200).findings).toEqual([])
    const receipt = `/api/usage/${called.headers.get('x-request-id')}`
    expect((await copy.operator('GET', receipt)).status).toBe(200)
    const client = createApiClient(copy.url, organisation.apiKey)
    const question = { messages: [{ role: 'user', content: 'When does the museum open on Sundays?' }] }
    const answer = expectStatus(await client('POST', `/v1/endpoints/${space.endpointId}/chat`, question), 200)
    expect(JSON.stringify(answer)).toContain('museum.txt')
    expectStatus(await client('POST', '/v1/gateway/chat/completions', call), 200)
  }, 120_000)

  it('a second backup at the same time is refused, and the first one ends', async () => {
    const first = await fetch(`${portico.url}/api/backup`, {
      method: 'POST',
      headers: { authorization: `Bearer ${portico.operatorToken}` },
    })
    expect(first.status).toBe(200)
    expect(await run('backup', inFolder('second.tar'))).toMatchObject({
      code: 1,
      error: 'portico: Another backup is running. Wait for its end.\n',
    })
    await first.body!.cancel()
    // A reader that leaves ends its backup.
    await expect.poll(async () => (await run('backup', inFolder('third.tar'))).code, { timeout: 60_000 }).toBe(0)
    const check = await run('restore', inFolder('third.tar'), '--check')
    expect(check.code).toBe(0)
  }, 120_000)

  it('a full disk is named, and leaves no file', async () => {
    symlinkSync('/dev/full', inFolder('full.tar.unfinished'))
    const { code, error } = await run('backup', inFolder('full.tar'))
    expect([code, error]).toEqual([
      1,
      `portico: There is no room for the backup in ${folder} (ENOSPC). Nothing was kept.\n`,
    ])
    expect(readdirSync(folder).filter((name) => name.startsWith('full'))).toEqual([])
  })

  it('a restore without room is refused, and leaves nothing that a service starts with', async () => {
    const file = inFolder('third.tar')
    const target = inFolder('no-room')
    const task = JSON.stringify({ task: 'restore', archive: file, dataFolder: target })
    // The limit of the size of one file, in blocks of 512 bytes, below the 16 MB of a log file.
    const child = spawn(
      'sh',
      ['-c', `ulimit -f 8000; exec "$0" "$@"`, process.execPath, 'src/app/offline/offline.ts'],
      {
        cwd: repository,
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    )
    child.stdin.end(task)
    let out = ''
    for await (const chunk of child.stdout) out += String(chunk)
    expect(out).toContain(`there is no room for the backup in ${target} (EFBIG): nothing was restored`)
    expect(existsSync(path.join(target, 'database'))).toBe(false)
  }, 120_000)
})
