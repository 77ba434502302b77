import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/** The version that the figures of the docs are of. */
const packageName = '@portkey-ai/gateway@1.15.2'
const installMs = 90_000
const startMs = 20_000

export interface Portkey {
  url: string
  pid: number
  headers: Record<string, string>
  stop(): void
}

/** Installs Portkey's gateway into a temporary folder and starts it. Undefined, with a message, where that is not possible. */
export async function startPortkey(upstreamUrl: string): Promise<Portkey | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'portico-bench-portkey-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await promisify(execFile)('npm', ['install', '--prefix', folder, ...flags, packageName], { timeout: installMs })
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
    if (!(await answers(url))) {
      stop()
      throw new Error('it did not start')
    }
    // It calls OpenAI's format at the custom host.
    const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` }
    return { url, pid: child.pid!, headers, stop }
  } catch (error) {
    remove()
    console.log(`Portkey's gateway is skipped: ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
}

async function answers(url: string): Promise<boolean> {
  const endMs = performance.now() + startMs
  while (performance.now() < endMs) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0))
    })
  })
}
