import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const program = '/usr/bin/systemd-analyze'
const root = path.join(import.meta.dirname, '../..')

test.skipIf(!existsSync(program))('systemd accepts every line of the example unit, and finds its program', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-unit-'))
  try {
    const file = path.join(folder, 'portico.service')
    writeFileSync(
      file,
      readFileSync(path.join(root, 'deploy/portico.service'), 'utf8').replaceAll('/opt/portico', root),
    )
    const { status, stdout, stderr } = spawnSync(program, ['verify', '--man=no', file], { encoding: 'utf8' })
    expect(stdout + stderr).toBe('')
    expect(status).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
