import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cannotMount, mountSmallFileSystem, type SmallFileSystem } from '../../../../test/harness/small-file-system.ts'
import { makeTemporaryFolder } from '../../../../test/harness/temporary-folder.ts'
import { lockFolder } from './folder-lock.ts'
import { createReopeningConnection } from './embedded-source.ts'
import { silentLog } from '../../kernel/index.ts'
import { createSubscriptions } from '../session.ts'

test('a folder is locked for one holder at a time', () => {
  const folder = makeTemporaryFolder('lock')
  const unlock = lockFolder(folder)
  expect(() => lockFolder(folder)).toThrow('in use by another Portico process')
  unlock()
  lockFolder(folder)()
})

test('a file in the place of the folder is named', () => {
  const file = path.join(makeTemporaryFolder('lock'), 'data')
  writeFileSync(file, '')
  expect(() => lockFolder(file)).toThrow(`the data folder ${file} cannot be used: ENOTDIR, a file is in the place`)
  expect(() => lockFolder(path.join(file, 'database'))).toThrow('cannot be used: ENOTDIR, a file is in the place')
})

test('a link to nothing in the place of the folder or above it is named, as of a volume that is not mounted', () => {
  const link = path.join(makeTemporaryFolder('lock'), 'data')
  symlinkSync(path.join(link, '../missing'), link)
  for (const folder of [link, path.join(link, 'database')])
    expect(() => lockFolder(folder)).toThrow(
      `the data folder ${folder} cannot be used: EEXIST, a file or a broken link`,
    )
})

test.skipIf(process.platform !== 'linux')('a folder that the system never makes is refused at once', () => {
  // In a process that can be killed: Node's recursive form repeats without end there.
  const script = `import { assertWritable } from ${JSON.stringify(path.resolve('src/platform/kernel/index.ts'))}
    try { assertWritable('/proc/portico/data') } catch ({ code }) { console.log(code) }`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 60_000 })
  expect(String(stdout).trim()).toBe('ENOENT')
})

test('a database that cannot be reopened is unavailable, and its error names the fault', async () => {
  const connection = createReopeningConnection({
    name: 'control',
    folder: '/data/control',
    sharedBuffersMegabytes: 8,
    subscriptions: createSubscriptions(),
    onOpened() {},
    log: silentLog,
    connect: () => Promise.reject(new Error('a file could not be read or written (ENOSPC)')),
  })
  await expect(connection.current()).rejects.toMatchObject({
    isUnavailable: true,
    message: 'the control database could not be opened: a file could not be read or written (ENOSPC)',
  })
})

const disks = { empty: mountSmallFileSystem(1), full: mountSmallFileSystem(1), readOnly: mountSmallFileSystem(1) }
afterAll(() => Object.values(disks).forEach((disk) => disk?.remove()))

describe.skipIf(!disks.readOnly)(`a file system${disks.readOnly ? '' : ` (${cannotMount})`}`, () => {
  const { full, readOnly, empty } = disks as Record<keyof typeof disks, SmallFileSystem>
  beforeAll(() => {
    full.fill()
    readOnly.makeReadOnly()
  })

  test.each([
    ['that is full', full, 'ENOSPC, no space left on the device'],
    ['that is read-only', readOnly, 'EROFS, the file system is read-only'],
  ])('%s is named, for an existing folder and a new one', (_what, disk, reason) => {
    for (const folder of [disk.folder, path.join(disk.folder, 'new/database')])
      expect(() => lockFolder(folder)).toThrow(`the data folder ${folder} cannot be used: ${reason}`)
  })

  test('with room is used', () => {
    lockFolder(path.join(empty.folder, 'new/database'))()
  })
})
