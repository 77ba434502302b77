import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from './free-port.ts'

const program = '/usr/sbin/pgbouncer'

export const hasPgBouncer = existsSync(program)

export interface Pooler {
  /** `url` with the address of the pooler. */
  through(url: string): string
  /** Ends all connections through it and refuses new ones, until `start`. */
  kill(): Promise<void>
  /** On the same port. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts PgBouncer on a free port in front of the server that `url` names, for all of its databases. In session mode each connection of a client
 * needs one of the server; in transaction mode there are few, so that clients share them.
 */
export async function startPgBouncer(url: string, mode: 'session' | 'transaction' | 'statement'): Promise<Pooler> {
  const server = new URL(url)
  const port = await freePort()
  const folder = mkdtempSync(path.join(os.tmpdir(), 'portico-pgbouncer-'))
  chmodSync(folder, 0o755)
  const file = path.join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
     * = host=${server.hostname} port=${server.port} user=${server.username}
     [pgbouncer]
     listen_addr = 127.0.0.1
     listen_port = ${port}
     unix_socket_dir =
     auth_type = any
     pool_mode = ${mode}
     max_client_conn = 1000
     default_pool_size = ${mode === 'session' ? 30 : 8}`.replaceAll(/^ +/gm, ''),
  )
  // PgBouncer does not run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  let child: ChildProcess
  const start = async () => {
    child = spawn(program, [...asUser, file], { stdio: ['ignore', 'ignore', 'pipe'] })
    await untilUp(child)
    child.once('exit', startAgain)
  }
  // As its unit does: 1.18 ends with a fatal error where clients that cancel a statement disconnect (pgbouncer issues 801 and 822).
  const startAgain = () => void start().catch(() => {})
  const kill = async () => {
    child.off('exit', startAgain)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    through(address) {
      const changed = new URL(address)
      changed.hostname = '127.0.0.1'
      changed.port = String(port)
      return changed.href
    },
    kill,
    start,
    async stop() {
      await kill()
      rmSync(folder, { recursive: true })
    },
  }
}

function untilUp(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr!.on('data', (bytes) => {
      output += String(bytes)
      if (output.includes('process up')) resolve()
    })
    child.once('exit', () => reject(new Error(output)))
  })
}
