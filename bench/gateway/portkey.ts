import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../test/harness/free-port.ts'
import { answers, type Peer } from './peers.ts'

/** The version that the figures of the docs are of. */
const version = '1.15.2'
const installMs = 90_000
const startMs = 20_000

/** Installs Portkey's gateway into a folder and starts it. Undefined, with a message, where that is not possible. */
export async function startPortkey(folder: string, upstreamUrl: string): Promise<Peer | undefined> {
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    const install = ['install', '--prefix', folder, ...flags, `@portkey-ai/gateway@${version}`]
    await promisify(execFile)('npm', install, { timeout: installMs })
    const port = await freePort()
    const program = path.join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
    const child = spawn(process.execPath, [program, `--port=${port}`, '--headless'], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    })
    const stop = () => {
      child.kill('SIGKILL')
      remove()
    }
    const url = `http://127.0.0.1:${port}`
    if (!(await answers(url, startMs))) {
      stop()
      throw new Error('it did not start')
    }
    // It calls OpenAI's format at the custom host.
    const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` }
    return { name: `Portkey ${version}`, url, pid: child.pid!, headers, stop }
  } catch (error) {
    remove()
    console.log(`Portkey's gateway is skipped: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
}
