import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DatabasePlace, freshDatabasePlace, testServerUrl } from '../../../test/harness/database.ts'
import { freePort } from '../../../test/harness/portico.ts'
import { silentLog, systemClock } from '../../kernel/index.ts'
import { openDatabases } from '../index.ts'

const program = '/usr/sbin/pgbouncer'
const isPossible = testServerUrl() !== undefined && existsSync(program)

describe.skipIf(!isPossible)(
  isPossible ? 'behind PgBouncer' : 'behind PgBouncer (skipped: needs PORTICO_TEST_DATABASE_URL and pgbouncer)',
  () => {
    let place: DatabasePlace
    let folder: string
    let pooler: ChildProcess | undefined

    beforeEach(async () => {
      place = await freshDatabasePlace()
      folder = mkdtempSync(path.join(os.tmpdir(), 'portico-pgbouncer-'))
      chmodSync(folder, 0o755)
    })
    afterEach(async () => {
      if (pooler) {
        const ended = once(pooler, 'exit')
        pooler.kill('SIGKILL')
        await ended
      }
      rmSync(folder, { recursive: true })
      await place.remove()
    })

    async function startPooler(mode: 'session' | 'transaction' | 'statement'): Promise<string> {
      const server = new URL(place.databaseUrl!)
      const port = await freePort()
      const file = path.join(folder, 'pgbouncer.ini')
      writeFileSync(
        file,
        `[databases]
         * = host=${server.hostname} port=${server.port} user=postgres
         [pgbouncer]
         listen_addr = 127.0.0.1
         listen_port = ${port}
         unix_socket_dir =
         auth_type = any
         pool_mode = ${mode}
         default_pool_size = 30`.replaceAll(/^ +/gm, ''),
      )
      // PgBouncer does not run as root.
      pooler = spawn(program, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await new Promise<void>((resolve, reject) => {
        let output = ''
        pooler!.stderr!.on('data', (bytes) => {
          output += String(bytes)
          if (output.includes('process up')) resolve()
        })
        pooler!.once('exit', () => reject(new Error(output)))
      })
      server.port = String(port)
      return server.href
    }

    const open = (databaseUrl: string) =>
      openDatabases({ dataFolder: place.dataFolder, databaseUrl, clock: systemClock, log: silentLog })

    for (const mode of ['transaction', 'statement'] as const) {
      test(`in ${mode} mode the start fails with the reason and the remedy`, async () => {
        const refusal = await open(await startPooler(mode)).catch((error: unknown) => String(error))
        expect(refusal).toMatch(/^DatabaseStartError: .*connection pooler in transaction mode.*pool_mode = session/)
      })
    }

    test('in session mode everything works: search paths, notifications, transactions and cancelled statements', async () => {
      const databases = await open(await startPooler('session'))
      const heard = Promise.withResolvers<string>()
      await databases.control.listen('here', heard.resolve)
      await databases.control.transaction((transaction) => transaction.query(`select pg_notify('here', 'heard')`))
      expect(await heard.promise).toBe('heard')
      const paths = await Promise.all(
        Array.from({ length: 20 }, () => databases.corpus.query('select current_schema()::text as name')),
      )
      expect(paths.flat()).toEqual(paths.map(() => ({ name: 'portico_corpus' })))
      const startedMs = performance.now()
      const signal = AbortSignal.timeout(200)
      await expect(databases.control.query('select pg_sleep(20)', [], { signal })).rejects.toThrow()
      await databases.close()
      // close() waits for running statements.
      expect(performance.now() - startedMs).toBeLessThan(10_000)
    })
  },
)
