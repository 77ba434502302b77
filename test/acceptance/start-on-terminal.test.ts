import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { databaseVariables, freshDatabasePlace } from '../harness/database.ts'
import { removeFolder } from '../harness/portico.ts'

/** The real `npm start` on a pseudo-terminal (`script` of util-linux), as a newcomer sees it. */

const repository = path.resolve(import.meta.dirname, '../..')

it.runIf(spawnSync('script', ['--version']).status === 0)(
  'npm start on a terminal prints a start-up and a log for people, and stops when the terminal closes',
  async () => {
    const place = await freshDatabasePlace()
    const folder = mkdtempSync(path.join(tmpdir(), 'portico-terminal-'))
    onTestFinished(async () => {
      await place.remove()
      await removeFolder(folder)
    })
    const typescript = path.join(folder, 'typescript')
    const terminal = spawn(
      'script',
      ['--quiet', '--flush', '--command', 'echo "group $$"; exec npm start', typescript],
      {
        cwd: repository,
        env: {
          PATH: process.env.PATH,
          // Without npm settings of the user.
          HOME: folder,
          npm_config_cache: folder,
          npm_config_update_notifier: 'false',
          SHELL: '/bin/sh',
          TERM: 'xterm',
          PORT: '0',
          PORTICO_METRICS_PORT: '0',
          PORTICO_DATA_DIR: place.dataFolder,
          ...databaseVariables(place),
        },
        stdio: 'ignore',
      },
    )
    onTestFinished(() => void terminal.kill('SIGKILL'))
    const output = () => (existsSync(typescript) ? readFileSync(typescript, 'utf8') : '')
    await expect.poll(output, { timeout: 100_000 }).toContain('export PORTICO_ENDPOINT_ID=')

    const lines = output().split(/\r?\n/)
    expect(lines.filter((line) => /npm warn|^\{|ExperimentalWarning/i.test(line))).toEqual([])
    expect(output()).toMatch(/Portico \S+ listening on http:/)
    expect(output()).toMatch(/pto_[0-9A-Za-z]{40}/)
    const beforeListening = lines.slice(
      0,
      lines.findIndex((line) => line.startsWith('Portico ')),
    )
    expect(beforeListening.length).toBeLessThan(14)
    expect(output()).toContain('\u001b[32mINFO \u001b[0m document processed\u001b[2m documentId=')

    const [, url] = /listening on (http:\S+)/.exec(output())!
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    const [, group] = /^group (\d+)/m.exec(output())!
    terminal.kill('SIGKILL')
    await expect.poll(() => isAlive(-Number(group)), { timeout: 60_000 }).toBe(false)
  },
  180_000,
)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
