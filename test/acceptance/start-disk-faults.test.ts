import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { truncateSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDataFolder } from '../harness/database.ts'
import { removeFolder } from '../harness/portico.ts'
import { cannotMount, mountSmallFileSystem } from '../harness/small-file-system.ts'

const root = path.join(import.meta.dirname, '../..')
const full = mountSmallFileSystem(1)
const readOnly = mountSmallFileSystem(1)
afterAll(() => {
  full?.remove()
  readOnly?.remove()
})

/** Runs a start that fails. */
function start(dataFolder: string, variables: Record<string, string> = {}) {
  return spawnSync(path.join(root, 'bin/run'), ['src/main.ts'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      PORTICO_DATA_DIR: dataFolder,
      PORT: '0',
      PORTICO_METRICS_PORT: '0',
      ...variables,
    },
    timeout: 60_000,
  })
}

describe.skipIf(!readOnly)(`a start that fails${readOnly ? '' : ` (${cannotMount})`}`, () => {
  beforeAll(() => {
    full!.fill()
    readOnly!.makeReadOnly()
  })

  it.each([
    ['a full file system', full, 'ENOSPC, no space left on the device'],
    ['a read-only file system', readOnly, 'EROFS, the file system is read-only'],
  ])('on %s names the folder and the cause in one line', (_what, disk, cause) => {
    for (const dataFolder of [disk!.folder, path.join(disk!.folder, 'data')]) {
      const { status, stderr } = start(dataFolder)
      expect(status).toBe(1)
      expect(stderr.trim()).toMatch(new RegExp(`^portico: ${dataFolder} cannot be used: ${cause}[^\\n]*$`))
    }
  })
})

describe('a start that fails for files or a port', () => {
  it.each([
    ['database/control', 'global/pg_control', 100],
    ['database/corpus', 'global/pg_control', 0],
  ])('names a damaged database: %s', async (database, file, bytes) => {
    const dataFolder = await freshDataFolder()
    truncateSync(path.join(dataFolder, database, file), bytes)
    const { status, stderr } = start(dataFolder)
    expect(status).toBe(1)
    expect(stderr).toMatch(
      new RegExp(
        `portico: the embedded database in ${dataFolder}/${database} .* damaged or incomplete\\. Restore .*backup`,
      ),
    )
    expect(stderr).not.toMatch(/Aborted|PGlite|\n +at /)
    await removeFolder(dataFolder)
  })

  it.each(['', 'short'])('names a damaged secret key: %j', async (key) => {
    const dataFolder = await freshDataFolder()
    const file = path.join(dataFolder, 'secret.key')
    writeFileSync(file, key)
    const { status, stderr } = start(dataFolder)
    expect(status).toBe(1)
    expect(stderr).toContain(`portico: ${file} is damaged`)
    expect(stderr).not.toMatch(/\n +at /)
    await removeFolder(dataFolder)
  })

  it('names the setting of the port that is in use', async () => {
    const dataFolder = await freshDataFolder()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const port = String((other.address() as AddressInfo).port)
    expect(start(dataFolder, { PORTICO_METRICS_PORT: port }).stderr).toContain('Set PORTICO_METRICS_PORT to a free one')
    expect(start(dataFolder, { PORT: port }).stderr).toContain('Set PORT to a free one')
    other.close()
    await removeFolder(dataFolder)
  })
})
