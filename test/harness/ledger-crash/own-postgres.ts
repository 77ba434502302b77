import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = path.resolve(import.meta.dirname, '../../../scripts/postgres-for-tests.sh')
const folder = path.join(os.tmpdir(), 'portico-postgres')
const installed = path.join(folder, '.complete')

/** A PostgreSQL server for one test, which may restart it; with fsync on, unlike the shared one. */
export interface OwnPostgres {
  url: string
  /** Like a crash of the server: no shutdown, and the log is replayed. */
  crash(): Promise<void>
  /** Of the main process of the server, as long as it is not crashed. */
  pid(): number
  remove(): Promise<void>
}

/** True where scripts/postgres-for-tests.sh has installed a server, as it does in CI. */
export const hasOwnPostgres = () => existsSync(installed)

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const name = `own-${randomBytes(4).toString('hex')}`
  const call = async (command: string) => (await run('bash', [script, command, name])).stdout.trim()
  return {
    url: await call('own-start'),
    async crash() {
      await call('own-crash')
    },
    pid: () =>
      Number(readFileSync(path.join(folder, 'var/lib/portico', name, 'postmaster.pid'), 'utf8').split('\n')[0]),
    async remove() {
      await call('own-remove')
    },
  }
}
