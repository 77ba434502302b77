import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { ServiceReport } from './service-process/report.ts'

/** The service as an operator starts it, in a separate process that reports about itself. */
export interface ServiceProcess {
  pid: number
  /** Its address, such as `http://127.0.0.1:41277`. */
  url: string
  operatorToken: string
  /** Milliseconds from the start of the process until it reports that it listens, as a client sees it. */
  startMs: number
  report(): Promise<ServiceReport>
  /** Waits for the end. */
  stop(): Promise<void>
}

export interface ServiceProcessOptions {
  dataFolder: string
  /** For Node.js, such as `--max-semi-space-size=1`. */
  flags?: string[]
  environment?: Record<string, string>
}

const root = path.join(import.meta.dirname, '..')
const operatorToken = 'operator-token-of-a-bench-0123456789'

export async function startServiceProcess(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { dataFolder, flags = [], environment = {} } = options
  const startedAtMs = performance.now()
  const preload = path.join(import.meta.dirname, 'service-process/report.ts')
  const child = spawn(path.join(root, 'bin/run'), [...flags, '--import', preload, 'src/main.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      PORTICO_METRICS_PORT: '0',
      PORTICO_DATA_DIR: dataFolder,
      PORTICO_DEMO: 'false',
      PORTICO_OPERATOR_TOKEN: operatorToken,
      PORTICO_LOG_LEVEL: 'warn',
      ...environment,
    },
  })
  const exited = once(child, 'exit')
  const failed = exited.then(() => Promise.reject(new Error('the measured service ended; see its output')))
  failed.catch(() => {})
  const listening = new Promise<string>((resolve) => {
    let output = ''
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const url = / listening on (\S+)/.exec(output)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([listening, failed])
  const startMs = performance.now() - startedAtMs
  return {
    pid: child.pid!,
    url,
    operatorToken,
    startMs,
    async report() {
      const answer = once(child, 'message')
      child.send('report')
      const [report] = (await Promise.race([answer, failed])) as [ServiceReport]
      return report
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
