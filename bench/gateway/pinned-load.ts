import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../test/harness/free-port.ts'
import { plainAnswer } from './roles.ts'

/** A load of wrk against a measured process that has one core for all its threads; wrk and an nginx upstream share another core. */

const measuredCore = 0
const loadCore = 1
const startMs = 10_000

/** All threads of a process, and those they start later, run on the measured core. */
export function pinToMeasuredCore(pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(measuredCore), String(pid)])
}

/** nginx answers each request at once with the same completion. */
export async function startNginxUpstream(folder: string): Promise<{ url: string; pid: number; stop(): void }> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
    events { worker_connections 8192; }
    http {
      access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
      server {
        listen 127.0.0.1:${port} backlog=4096;
        default_type application/json;
        location / { return 200 '${plainAnswer}'; }
      }
    }`,
  )
  const child = spawn('taskset', ['--cpu-list', String(loadCore), 'nginx', '-c', file], { stdio: 'inherit' })
  process.on('exit', () => child.kill())
  const url = `http://127.0.0.1:${port}`
  for (const end = performance.now() + startMs; performance.now() < end;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    )
    if (ok) return { url, pid: child.pid!, stop: () => child.kill() }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  child.kill()
  throw new Error('nginx did not start')
}

export interface WrkFigures {
  requests: number
  seconds: number
  p50Ms: number
  p99Ms: number
  /** Answers that are not 200, and connections that failed. */
  errors: number
}

/** POSTs `body` over `connections` kept connections for `seconds`. */
export async function runWrk(
  folder: string,
  url: string,
  options: { headers: Record<string, string>; body: string; connections: number; seconds: number },
): Promise<WrkFigures> {
  const quoted = (text: string) => `[==[${text}]==]`
  const headers = Object.entries(options.headers).map(
    ([name, value]) => `wrk.headers[ ${quoted(name)} ] = ${quoted(value)}`,
  )
  const script = path.join(folder, 'load.lua')
  writeFileSync(
    script,
    `wrk.method = 'POST'
wrk.body = ${quoted(options.body)}
${headers.join('\n')}
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\nFIGURES {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"errors":%d}\\n', summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`,
  )
  const command = [
    '--cpu-list',
    String(loadCore),
    'wrk',
    '--threads',
    '1',
    '--connections',
    String(options.connections),
  ]
  const { stdout } = await promisify(execFile)('taskset', [
    ...command,
    '--duration',
    `${options.seconds}s`,
    '--script',
    script,
    url,
  ])
  const figures = /^FIGURES (.*)$/m.exec(stdout)
  if (!figures) throw new Error(`wrk printed no figures: ${stdout}`)
  return JSON.parse(figures[1]!) as WrkFigures
}
