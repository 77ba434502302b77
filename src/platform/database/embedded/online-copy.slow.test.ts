import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  freshDataFolder,
  openTestDatabases,
  type TestDatabases,
  testServerUrl,
} from '../../../../test/harness/database.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { openDatabases } from '../../../../test/harness/statements.ts'
import type { DatabaseCopy } from '../port.ts'

/** A copy of the files of a database in use opens, and shows exactly the moment at which it ended. */

let databases: TestDatabases
let copied: string

beforeEach(async () => {
  if (testServerUrl() !== undefined) return
  databases = await openTestDatabases()
  copied = await freshDataFolder()
  fs.rmSync(path.join(copied, 'database/control'), { recursive: true })
})
afterEach(async () => {
  if (testServerUrl() !== undefined) return
  await databases.drop()
  fs.rmSync(copied, { recursive: true, force: true })
})

const target = () => path.join(copied, 'database/control')

async function copyFiles(copy: DatabaseCopy): Promise<void> {
  fs.mkdirSync(target(), { recursive: true, mode: 0o700 })
  for await (const { path: name, kind } of copy.entries()) {
    if (kind === 'folder') fs.mkdirSync(path.join(target(), name), { recursive: true, mode: 0o700 })
    else await fs.promises.copyFile(path.join(copy.folder, name), path.join(target(), name)).catch(ignoreMissing)
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

/** Pauses, ends and completes the copy. */
async function endCopy(copy: DatabaseCopy, atEnd: () => void): Promise<void> {
  const paused = await copy.pause(new AbortController().signal)
  const { contents, log } = await paused.end()
  atEnd()
  paused.release()
  for (const { path: name, bytes } of contents) fs.writeFileSync(path.join(target(), name), bytes)
  for (const name of log) fs.copyFileSync(path.join(copy.folder, name), path.join(target(), name))
}

const openCopy = () => openDatabases({ dataFolder: copied, clock: systemClock, log: silentLog })

test.skipIf(testServerUrl() !== undefined)(
  'has every commit before its end and none after it, while rows are written',
  async () => {
    const { control } = databases
    await control.execute('create table written (id bigint primary key, text text not null)')
    const stopping = new AbortController()
    let last = 0
    let lastBeforeEnd = -1
    const writing = (async () => {
      while (!stopping.signal.aborted) {
        const id = last + 1
        await control.execute(`insert into written values ($1, repeat($2, 200))`, [id, `row ${id} `])
        await control.execute(`update written set text = text || 'x' where id % 7 = $1 % 7`, [id])
        last = id
      }
    })()
    const reach = (id: number) => expect.poll(() => last, { timeout: 60_000, interval: 2 }).toBeGreaterThanOrEqual(id)
    const copy = await control.startCopy!()
    await reach(50)
    await copyFiles(copy)
    await reach(last + 50)
    await endCopy(copy, () => (lastBeforeEnd = last))
    await reach(last + 20)
    await copy.close()
    stopping.abort()
    await writing

    const opened = await openCopy()
    const [row] = await opened.control.query<{ count: bigint; highest: bigint }>(
      'select count(*) as count, max(id) as highest from written',
    )
    // The statement at which the copy ended may belong to the next row.
    expect([lastBeforeEnd, lastBeforeEnd + 1]).toContain(Number(row!.highest))
    expect(row!.count).toBe(row!.highest)
    await opened.close()
  },
)

test.skipIf(testServerUrl() !== undefined)(
  'a second copy at the same time is refused, and one that is closed early leaves nothing behind',
  async () => {
    const { control } = databases
    const copy = await control.startCopy!()
    await expect(control.startCopy!()).rejects.toThrow('backup is already in progress')
    await copy.close()
    await copy.close()
    const second = await control.startCopy!()
    await second.close()
  },
)

test.skipIf(testServerUrl() !== undefined)('a copy whose database was reopened meanwhile fails', async () => {
  const { control } = databases
  const copy = await control.startCopy!()
  await expect(control.query('select pg_sleep(5)', [], { timeoutMs: 50 })).rejects.toThrow()
  const paused = await copy.pause(new AbortController().signal)
  await expect(paused.end()).rejects.toThrow('backup is not in progress')
  paused.release()
  await copy.close().catch(() => {})
  const [row] = await control.query<{ one: number }>('select 1 as one')
  expect(row!.one).toBe(1)
})
