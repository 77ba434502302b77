import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type OpenedDatabases, openDatabases } from '../harness/statements.ts'
import { silentLog, systemClock } from '../../src/platform/kernel/index.ts'
import { type DatabasePlace, freshDatabasePlace, makeTestFolder, withoutPooler } from '../harness/database.ts'
import { runOnServer } from '../harness/database-template.ts'
import { createApiClient, expectStatus, startPortico } from '../harness/portico.ts'

/** Databases that earlier versions of Portico made, upgraded to the present schema. test/README.md has the steps to keep another one. */
const folder = path.join(import.meta.dirname, '../upgrades')
const kept = fs
  .readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5))

interface Kept {
  organisation: string
  apiKey: string
  space: string
  endpoint: string
  document: string
}

const names = ['control', 'corpus'] as const

const dumpOf = (version: string, name: 'control' | 'corpus') =>
  gunzipSync(fs.readFileSync(path.join(folder, `${version}.${name}.sql.gz`))).toString()

/** Databases as the earlier version left them. */
async function restore(version: string): Promise<DatabasePlace> {
  const place = await emptyPlace()
  const scripts = fs.mkdtempSync(path.join(os.tmpdir(), 'portico-upgrade-'))
  for (const name of names) {
    fs.mkdirSync(path.join(scripts, name))
    // Migrating makes this table itself; of the dump it takes the rows.
    const sql = dumpOf(version, name)
      .replace(/CREATE TABLE portico_migrations \([^;]*;/, '')
      .replace(/ALTER TABLE ONLY portico_migrations[^;]*;/, '')
    // Functions come before the tables that they use.
    fs.writeFileSync(path.join(scripts, name, '0000-restore.sql'), `set local check_function_bodies = off;\n${sql}`)
  }
  const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog, migrationsFolder: scripts })
  for (const name of names) {
    await databases[name].execute(`delete from portico_migrations where name = '0000-restore'`)
    await databases[name].execute('alter table portico_migrations drop column needs_version')
  }
  await databases.close()
  fs.rmSync(scripts, { recursive: true })
  return place
}

async function emptyPlace(): Promise<DatabasePlace> {
  const place = await freshDatabasePlace()
  const url = withoutPooler(place).databaseUrl
  if (url !== undefined) {
    for (const name of names) await runOnServer(url, `drop schema portico_${name} cascade`)
    return place
  }
  await place.remove()
  const dataFolder = makeTestFolder()
  return { dataFolder, databaseUrl: undefined, remove: () => fs.promises.rm(dataFolder, { recursive: true }) }
}

/** Rows of each table, from the dump. */
function rowsOf(dump: string): Record<string, number> {
  const rows: Record<string, number> = {}
  for (const [, table] of dump.matchAll(/^INSERT INTO (\w+) VALUES/gm)) rows[table!] = (rows[table!] ?? 0) + 1
  return rows
}

async function countRows(databases: OpenedDatabases, name: 'control' | 'corpus', tables: string[]) {
  const counts: Record<string, number> = {}
  for (const table of tables) {
    const [row] = await databases[name].query<{ rows: number }>(`select count(*)::int as rows from ${table}`)
    counts[table] = row!.rows
  }
  return counts
}

describe.each(kept)('the databases of %s', (version) => {
  it('keep every row in the upgrade, and serve keys, chats, documents, usage and new calls afterwards', async () => {
    const ids = JSON.parse(fs.readFileSync(path.join(folder, `${version}.json`), 'utf8')) as Kept
    const place = await restore(version)
    const databases = await openDatabases({ ...place, clock: systemClock, log: silentLog })
    for (const name of names) {
      const { portico_migrations: _, ...expected } = rowsOf(dumpOf(version, name))
      expect(await countRows(databases, name, Object.keys(expected))).toEqual(expected)
    }
    await databases.close()

    const portico = await startPortico({ place })
    const client = createApiClient(portico.url, ids.apiKey)
    const list = expectStatus(await client('GET', `/v1/documents?spaceId=${ids.space}`), 200)
    expect(list.items).toHaveLength(2)
    expect(expectStatus(await client('GET', `/v1/documents/${ids.document}`), 200)).toMatchObject({
      name: 'museum.md',
      status: 'ready',
    })
    const usage = `/api/organisations/${ids.organisation}/usage?from=2026-11-01&to=2026-11-30`
    expect(expectStatus(await portico.operator('GET', usage), 200).totals).toMatchObject({ requests: 4 })
    await expect
      .poll(async () => {
        const question = { messages: [{ role: 'user', content: 'How much does a ticket cost?' }] }
        const answer = await client('POST', `/v1/endpoints/${ids.endpoint}/chat`, question)
        return expectStatus(answer, 200).content
      })
      .toContain('12 euros')
    const completion = { model: 'portico/offline', messages: [{ role: 'user', content: 'Good morning' }] }
    expectStatus(await client('POST', '/v1/gateway/chat/completions', completion), 200)
    // The stored files are not kept with the dump.
    const { findings } = expectStatus(await portico.operator('GET', '/api/audit'), 200)
    expect(findings.filter(({ rule }: { rule: string }) => rule !== 'a document has its file')).toEqual([])
    await portico.stop()
    await place.remove()
  }, 240_000)
})
