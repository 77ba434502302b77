import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

const program = '/usr/bin/systemd-analyze'
const root = path.join(import.meta.dirname, '../..')

/** systemd's own measure of what the service could do, from 0 (nothing) to 100; below 40 is "OK", a unit without any setting has 96. */
const mostExposure = 29

test.skipIf(!existsSync(program))('systemd accepts every line of the example unit, and finds its program', () => {
  expect(analyze('verify', '--man=no')).toEqual({ status: 0, output: '' })
})

test.skipIf(!existsSync(program))('systemd rates the example unit as little exposed', () => {
  const { status, output } = analyze('security', '--offline=true', `--threshold=${mostExposure}`)
  expect(status, output).toBe(0)
})

function analyze(...given: string[]) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-unit-'))
  try {
    const file = path.join(folder, 'portico.service')
    writeFileSync(
      file,
      readFileSync(path.join(root, 'deploy/portico.service'), 'utf8').replaceAll('/opt/portico', root),
    )
    const { status, stdout, stderr } = spawnSync(program, [...given, file], { encoding: 'utf8' })
    return { status, output: stdout + stderr }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
