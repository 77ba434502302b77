import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBackupLoad } from '../harness/backup-load.ts'
import { operatorVariables, runCommand } from '../harness/cli.ts'
import type { DatabasePlace } from '../harness/database.ts'
import { expectResponsive } from '../harness/event-loop-guard.ts'
import { uploadReady } from '../harness/museum.ts'
import {
  createApiClient,
  expectStatus,
  removeFolder,
  type SeparatePortico,
  startSeparatePortico,
  type TestOrganisation,
  type TestSpace,
  waitForDocument,
} from '../harness/portico.ts'

/** Backups under load, and kills of the service and of a restore. */

const repository = path.resolve(import.meta.dirname, '../..')

describe('backup and restore of the embedded databases', () => {
  let folder: string
  let portico: SeparatePortico
  let organisation: TestOrganisation
  let space: TestSpace
  const inFolder = (name: string) => path.join(folder, name)

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-backup-'))
    portico = await startSeparatePortico()
    organisation = await portico.createOrganisation({ limits: { concurrentCalls: 64 } })
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

  it('a backup under load has every call and document acknowledged before it began, and the restored service works', async () => {
    const load = startBackupLoad(portico, organisation, space)
    await load.reach(100)
    let attempts = 0
    const { before, file, during } = await expectResponsive(portico, async (attempt) => {
      attempts = attempt
      const acknowledged = load.snapshot()
      const target = inFolder(`loaded-${attempt}.tar`)
      const { code, error } = await run('backup', target)
      expect(error).toContain('The secret key is not in the backup.')
      expect(code).toBe(0)
      return { before: acknowledged, file: target, during: load.done.calls.size - acknowledged.calls.size }
    })
    await load.stop()
    expect(before.calls.size).toBeGreaterThanOrEqual(100)
    expect(during).toBeGreaterThan(10)
    expect(attempts).toBeLessThan(5)

    const log = expectStatus(await portico.operator('GET', '/api/admin-log?action=backup.created'), 200)
    expect(log.items[0]).toMatchObject({ actor: 'operator', action: 'backup.created', subjectType: 'backup' })

    const restored = inFolder('restored')
    expect(await run('restore', file, '--data-folder', restored, '--without-secret-key')).toMatchObject({ code: 0 })
    await using copy = await startSeparatePortico({ place: placeOf(restored) })
    expect(expectStatus(await copy.operator('GET', '/api/audit'), 200).findings).toEqual([])
    await Promise.all(
      [...before.calls].map(async (id) => {
        expect((await copy.operator('GET', `/api/usage/${id}`)).status, `receipt of ${id}`).toBe(200)
      }),
    )
    const client = createApiClient(copy.url, organisation.apiKey)
    const restoredDocuments = await listDocuments(client)
    // A document that was removed while the backup ran may be missing; all others are there.
    const kept = [...before.documents].filter((id) => load.done.documents.has(id))
    expect(kept.length).toBeGreaterThan(0)
    expect(kept.filter((id) => !restoredDocuments.includes(id))).toEqual([])
    expect([...before.removed].filter((id) => restoredDocuments.includes(id))).toEqual([])
    await Promise.all(
      restoredDocuments.map(async (id) => {
        expect((await copy.operator('GET', `/api/documents/${id}/content`)).status, `file of ${id}`).toBe(200)
        expect((await waitForDocument(client, id)).status).toBe('ready')
      }),
    )
    const question = { messages: [{ role: 'user', content: 'When does the museum open on Sundays?' }] }
    const answer = expectStatus(await client('POST', `/v1/endpoints/${space.endpointId}/chat`, question), 200)
    expect(JSON.stringify(answer)).toContain('museum.txt')
    const call = { model: 'portico/offline', messages: [{ role: 'user', content: 'Hello' }] }
    expectStatus(await client('POST', '/v1/gateway/chat/completions', call), 200)
  }, 300_000)

  async function listDocuments(client: TestOrganisation['client']): Promise<string[]> {
    const ids: string[] = []
    for (;;) {
      const page = expectStatus(
        await client('GET', `/v1/documents?spaceId=${space.id}&limit=100&offset=${ids.length}`),
        200,
      )
      ids.push(...page.items.map(({ id }: { id: string }) => id))
      if (page.items.length === 0 || ids.length >= page.total) return ids
    }
  }

  it('kill -9 of a restore leaves a folder that no service starts with, and that the next restore completes', async () => {
    const file = inFolder('killed.tar')
    await expect.poll(async () => (await run('backup', file)).code, { timeout: 60_000 }).toBe(0)
    const target = inFolder('killed')
    for (const bytes of [1, 50_000_000]) {
      await killRestore(file, target, bytes)
      expect(readdirSync(target)).toEqual(['restoring'])
      await expect(startSeparatePortico({ place: placeOf(target) })).rejects.toThrow(
        'did not end: run portico restore again',
      )
      expect(readdirSync(target)).toEqual(['restoring'])
    }
    expect(await run('restore', file, '--data-folder', target, '--without-secret-key')).toMatchObject({ code: 0 })
    await using copy = await startSeparatePortico({ place: placeOf(target) })
    expect(expectStatus(await copy.operator('GET', '/api/audit'), 200).ok).toBe(true)
  }, 300_000)

  async function killRestore(archive: string, dataFolder: string, afterBytes: number): Promise<void> {
    const child = startOffline({ task: 'restore', archive, dataFolder })
    const ended = once(child, 'exit')
    while (sizeOf(path.join(dataFolder, 'restoring')) < afterBytes)
      await new Promise((resolve) => setTimeout(resolve, 2))
    child.kill('SIGKILL')
    await ended
  }

  it('kill -9 of the service in the middle of a backup leaves no archive, and the service starts again', async () => {
    const target = inFolder('interrupted.tar')
    const running = run('backup', target)
    await expect.poll(() => existsSync(`${target}.unfinished`), { timeout: 60_000, interval: 1 }).toBe(true)
    await portico.kill('SIGKILL')
    const { code, error } = await running
    expect(code).toBe(1)
    expect(error).toMatch(/^portico: The service did not send the whole backup \(.+\)\. Nothing was kept\./)
    expect(readdirSync(folder).filter((name) => name.startsWith('interrupted'))).toEqual([])
    // The folder of the stopped service is backed up without it.
    const offline = inFolder('offline.tar')
    expect((await run('backup', offline, '--data-folder', portico.place.dataFolder)).code).toBe(0)
    const restored = inFolder('from-folder')
    expect((await run('restore', offline, '--data-folder', restored, '--without-secret-key')).code).toBe(0)
    for (const dataFolder of [portico.place.dataFolder, restored]) {
      await using again = await startSeparatePortico({ place: { ...placeOf(dataFolder), remove: async () => {} } })
      expect(expectStatus(await again.operator('GET', '/api/audit'), 200).ok).toBe(true)
    }
  }, 300_000)
})

function startOffline(task: Record<string, unknown>) {
  const child = spawn(process.execPath, ['src/app/offline/offline.ts'], {
    cwd: repository,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  child.stdin.end(JSON.stringify(task))
  return child
}

/** Bytes of all files in the folder; 0 where it does not exist. */
function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    bytes += statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}
